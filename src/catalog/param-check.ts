/** Checks that `Mcp-Param-*` headers of a modern client match its arguments, since proxies act on the headers. */

import type { IncomingHttpHeaders } from 'node:http';
import { RpcFailure } from '../endpoint/rpc-failure.ts';
import { RPC_HEADER_MISMATCH } from '../lib/json-rpc.ts';
import { decodeHeaderValue } from '../transport/http-headers.ts';
import { argumentAt, type ParamHeader, textOf } from './param-headers.ts';

const DECIMAL = /^-?\d{1,20}(\.\d{1,20})?$/;

/** Throws if an argument and its header differ. A missing argument needs no header, and its header is ignored. */
export function checkParams(
  headers: IncomingHttpHeaders,
  declared: readonly ParamHeader[],
  args: unknown,
): void {
  for (const { path, header } of declared) {
    const value = argumentAt(args, path);
    const expected = textOf(value);
    if (expected === undefined) continue;
    const given = headers[header.toLowerCase()];
    if (typeof given !== 'string') throw mismatch(header, 'is missing');
    const said = decodeHeaderValue(given);
    if (said === undefined) throw mismatch(header, 'is not well encoded');
    const isSame =
      typeof value === 'number' ? DECIMAL.test(said) && Number(said) === value : said === expected;
    if (!isSame) throw mismatch(header, 'does not say what the body says');
  }
}

function mismatch(header: string, what: string): RpcFailure {
  return new RpcFailure(RPC_HEADER_MISMATCH, `The header ${header} ${what}.`, { header });
}
