/** Handles SIGINT, SIGTERM and SIGHUP: the first cancels and lets the command clean up, the second exits at once. */

import { EXIT_STATUS, PlugboardError } from '../errors.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupts {
  readonly signal: AbortSignal;
  /** Cancels for a reason other than a signal. */
  cancel(reason: PlugboardError): void;
}

/** `exit` ends the process; the reaper then ends its children. */
export function listenForInterrupts(exit: (status: number) => void): Interrupts {
  const controller = new AbortController();
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (controller.signal.aborted) exit(EXIT_STATUS.CANCELLED);
      else controller.abort(new PlugboardError('CANCELLED', `Interrupted by ${name}`));
    });
  }
  return { signal: controller.signal, cancel: (reason) => controller.abort(reason) };
}
