/** Reads the code of a system error, so that decisions never depend on message text. */

/** Returns the code. Does not use `instanceof`: under Jest, errors of Node's own modules are from another realm. */
export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
