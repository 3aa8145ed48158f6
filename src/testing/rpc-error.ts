/** An error answer, as something a script can throw. */

/**
 * @example
 * const server = scriptedServer();
 * server.on('tools/list', () => {
 *   throw new RpcError(-32603, 'The database is away.');
 * });
 */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
