/** A JSON-RPC error that a script can throw. */

import { RpcFailure } from '../endpoint/rpc-failure.ts';

/**
 * Thrown by a handler to answer its request with a JSON-RPC error.
 *
 * @example
 * const server = scriptedServer();
 * server.on('tools/list', () => {
 *   throw new RpcError(-32603, 'The database is away.');
 * });
 */
export class RpcError extends RpcFailure {}
