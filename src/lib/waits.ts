/** Waits for a promise: until a signal is aborted, or for a limited time. The work itself continues. */

import type { Clock } from './clock.ts';

/** Waits for the work until the signal is aborted; then rejects with the error for the signal's reason. */
export function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  error: (reason: unknown) => Error,
): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(error(signal.reason));
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Rejects with the signal's reason when it is aborted, to race with work that ignores the signal; never resolves. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Waits until a service has closed or the signal is aborted, then closes it. */
export async function closeAfter(
  served: { readonly closed: Promise<unknown>; close(): Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  await Promise.race([served.closed, aborted(signal).catch(() => {})]);
  await served.close();
}

/** Returns the result of the work, or `late` if it takes longer than `ms`. */
export async function inTime<T, const Late>(
  work: Promise<T>,
  ms: number,
  clock: Clock,
  late: Late,
): Promise<T | Late> {
  let stopTimer = (): void => {};
  const over = new Promise<Late>((resolve) => {
    stopTimer = clock.after(ms, () => resolve(late));
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    stopTimer();
  }
}
