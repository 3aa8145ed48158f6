/** What SIGINT, SIGTERM and SIGHUP do: the first cancels and lets the command clean up, the second ends at once. */

import { EXIT_STATUS, PlugboardError } from '../errors.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupts {
  readonly signal: AbortSignal;
  /** The same cancelling for a reason other than a signal. */
  cancel(reason: PlugboardError): void;
}

/** `exit` ends the process; what its children are then left with is the reaper's business. */
export function listenForInterrupts(exit: (status: number) => void): Interrupts {
  const controller = new AbortController();
  for (const name of SIGNALS) {
    process.on(name, () => {
      if (controller.signal.aborted) exit(EXIT_STATUS.CANCELLED);
      else controller.abort(new PlugboardError('CANCELLED', `Interrupted by ${name}.`));
    });
  }
  return { signal: controller.signal, cancel: (reason) => controller.abort(reason) };
}

/** Rejects when the command is interrupted, for races with work that does not listen; never resolves. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
