/** Waiting for work of others, no longer than a limit and not after the end of those who wait. */

import type { Clock } from './clock.ts';
import { holdProcess } from './hold-process.ts';

export interface Bounds {
  readonly clock: Clock;
  readonly ms: number;
  /** What is rejected with when the time is over. */
  readonly late: () => Error;
  readonly signal?: AbortSignal | undefined;
  /** What is rejected with when the signal is aborted. */
  readonly cancelled: () => Error;
}

/** The work itself goes on; what becomes of it later is not noticed. Keeps the process alive for as long as it waits. */
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
