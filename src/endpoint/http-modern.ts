/** What Streamable HTTP of 2026-07-28 asks of a request's headers, and which status an answer has. */

import type { IncomingHttpHeaders } from 'node:http';
import { META, RPC_HEADER_MISMATCH, RPC_UNSUPPORTED_VERSION } from '../connection/eras.ts';
import { isRecord, type JsonRpcMessage, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import { decodeHeaderValue } from '../transport/http-headers.ts';
import { modernAsker, type Params } from './eras.ts';
import { invalidParams, RPC_MISSING_CAPABILITY, RpcFailure } from './rpc-failure.ts';

/** Where a method has its name, for `Mcp-Name`. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Throws what is wrong: proxies route by these headers, so they may not say anything else than the body. */
export function checkHeaders(headers: IncomingHttpHeaders, method: string, params: Params): void {
  const meta = isRecord(params['_meta']) ? params['_meta'] : {};
  const version = meta[META.protocolVersion];
  if (version === undefined) throw invalidParams(`${method} came without ${META.protocolVersion} in _meta.`);
  expect(headers, 'mcp-protocol-version', version);
  expect(headers, 'mcp-method', method);
  const key = NAMED[method];
  if (key !== undefined) expect(headers, 'mcp-name', params[key]);
  // What the envelope lacks is an HTTP error here; over stdio it is an answer like any other.
  modernAsker(method, params);
}

function expect(headers: IncomingHttpHeaders, name: string, value: unknown): void {
  const given = headers[name];
  if (typeof value !== 'string' || given === value) return;
  // A sender may encode any value, one that needs it or not.
  if (typeof given === 'string' && decodeHeaderValue(given) === value) return;
  const what = given === undefined ? 'is missing' : 'does not say what the body says';
  throw new RpcFailure(RPC_HEADER_MISMATCH, `The header ${name} ${what}.`);
}

/** An unknown method is 404, what the envelope got wrong is 400; errors of the work itself are answers. */
export function statusOf(answer: JsonRpcMessage | undefined, method: string): number {
  if (answer === undefined || !('error' in answer)) return 200;
  switch (answer.error.code) {
    case RPC_METHOD_NOT_FOUND:
      // Those that have a name exist here: the error is a server's own.
      return method in NAMED ? 200 : 404;
    case RPC_HEADER_MISMATCH:
    case RPC_MISSING_CAPABILITY:
    case RPC_UNSUPPORTED_VERSION:
      return 400;
    default:
      return 200;
  }
}
