/** Validates the headers of Streamable HTTP 2026-07-28, and maps responses to statuses. */

import type { IncomingHttpHeaders } from 'node:http';
import { META } from '../connection/eras.ts';
import { isRecord } from '../lib/json.ts';
import {
  type JsonRpcMessage,
  RPC_HEADER_MISMATCH,
  RPC_METHOD_NOT_FOUND,
  RPC_MISSING_CAPABILITY,
  RPC_UNSUPPORTED_VERSION,
} from '../lib/json-rpc.ts';
import { decodeHeaderValue, NAME_FIELDS } from '../transport/http-headers.ts';
import { modernClientInfo, type Params } from './client-era.ts';
import { invalidParams, RpcFailure } from './rpc-failure.ts';

/** Throws if the headers contradict the body, because proxies route by these headers. */
export function checkHeaders(headers: IncomingHttpHeaders, method: string, params: Params): void {
  const meta = isRecord(params['_meta']) ? params['_meta'] : {};
  const version = meta[META.protocolVersion];
  if (version === undefined) throw invalidParams(`${method} came without ${META.protocolVersion} in _meta`);
  expect(headers, 'mcp-protocol-version', version);
  expect(headers, 'mcp-method', method);
  const key = NAME_FIELDS.get(method);
  if (key !== undefined) expect(headers, 'mcp-name', params[key]);
  // A missing envelope field is an HTTP error here; over stdio it is an ordinary error response.
  modernClientInfo(method, params);
}

function expect(headers: IncomingHttpHeaders, name: string, value: unknown): void {
  const given = headers[name];
  if (typeof value !== 'string' || given === value) return;
  // A sender may encode any value, whether or not it needs it.
  if (typeof given === 'string' && decodeHeaderValue(given) === value) return;
  const what = given === undefined ? 'is missing' : 'does not match the body';
  throw new RpcFailure(RPC_HEADER_MISMATCH, `The header ${name} ${what}`);
}

/** An unknown method is 404, an envelope error is 400; errors of the work itself are 200. */
export function statusOf(answer: JsonRpcMessage | undefined, method: string): number {
  if (answer === undefined || !('error' in answer)) return 200;
  switch (answer.error.code) {
    case RPC_METHOD_NOT_FOUND:
      // Named methods exist here: the error comes from a server.
      return NAME_FIELDS.has(method) ? 200 : 404;
    case RPC_HEADER_MISMATCH:
    case RPC_MISSING_CAPABILITY:
    case RPC_UNSUPPORTED_VERSION:
      return 400;
    default:
      return 200;
  }
}
