/** Waiting that can be given up: for a moment to come, or for somebody else's work. */

import { asPlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { holdProcess } from '../lib/hold-process.ts';

export interface Alarm {
  /** Resolves when the time has come or the alarm is cancelled; never rejects. */
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

/** Waits for work that goes on without us; keeps the process alive meanwhile, unless the caller gives up before. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const release = holdProcess();
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(asPlugboardError(signal?.reason, 'CANCELLED'));
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', onAbort));
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
  }).finally(release);
}
