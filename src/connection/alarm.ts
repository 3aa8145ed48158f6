/** Cancellable waits: for a time, or for a promise. */

import { asPlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { holdProcess } from '../lib/hold-process.ts';
import { unlessAborted } from '../lib/waits.ts';

export interface Alarm {
  /** Resolves when the time is reached or the alarm is cancelled; never rejects. */
  readonly due: Promise<void>;
  cancel(): void;
}

export function setAlarm(clock: Clock, ms: number, ring: () => void = () => {}): Alarm {
  let cancel = (): void => {};
  const due = new Promise<void>((resolve) => {
    const cancelTimer = clock.after(ms, () => {
      resolve();
      ring();
    });
    cancel = () => {
      cancelTimer();
      resolve();
    };
  });
  return { due, cancel: () => cancel() };
}

/** Waits for work that continues if the caller aborts; keeps the process alive until then. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const release = holdProcess();
  const error = (reason: unknown): Error => asPlugboardError(reason, 'CANCELLED');
  return unlessAborted(work, signal, error).finally(release);
}
