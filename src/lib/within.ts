/** Waits for a promise with a time limit and a signal. */

import type { Clock } from './clock.ts';
import { holdProcess } from './hold-process.ts';

export interface Bounds {
  readonly clock: Clock;
  readonly ms: number;
  /** Creates the error for a timeout. */
  readonly late: () => Error;
  readonly signal?: AbortSignal | undefined;
  /** Creates the error for an aborted signal. */
  readonly cancelled: () => Error;
}

/** Waits for the work and keeps the process alive; after a timeout the work continues and its result is ignored. */
export async function within<T>(work: PromiseLike<T>, bounds: Bounds): Promise<T> {
  const { clock, ms, late, signal, cancelled } = bounds;
  const release = holdProcess();
  let stop = (): void => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      work.then(resolve, reject);
      const stopTimer = clock.after(ms, () => reject(late()));
      const abort = (): void => reject(cancelled());
      signal?.addEventListener('abort', abort, { once: true });
      stop = () => {
        stopTimer();
        signal?.removeEventListener('abort', abort);
      };
      if (signal?.aborted === true) abort();
    });
  } finally {
    stop();
    release();
  }
}
