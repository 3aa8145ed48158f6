/** An error answer, as something a script can throw. */

import { RpcFailure } from '../endpoint/rpc-failure.ts';

/**
 * @example
 * const server = scriptedServer();
 * server.on('tools/list', () => {
 *   throw new RpcError(-32603, 'The database is away.');
 * });
 */
export class RpcError extends RpcFailure {}
