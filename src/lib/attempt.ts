/** Runs what may throw, where the reason does not matter. */

/**
 * Returns the result of `work`, or `fallback` if it throws.
 *
 * @example
 * attempt(() => statSync(file).isFile(), false);
 */
export function attempt<Result, Fallback>(work: () => Result, fallback: Fallback): Result | Fallback {
  try {
    return work();
  } catch {
    return fallback;
  }
}
