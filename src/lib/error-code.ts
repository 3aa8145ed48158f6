/** The code of a system error: what our own code decides on instead of message text. */

/** Not by `instanceof`: under Jest, errors of Node's own modules are of another realm. */
export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
