/** What a client is told of our errors. */

import { RpcFailure } from '../endpoint/rpc-failure.ts';
import type { PlugboardError } from '../errors.ts';
import { RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS } from '../lib/json-rpc.ts';

/** An error as one text: messages may or may not end in a full stop. */
export function errorText({ message, hint }: PlugboardError): string {
  if (hint === undefined) return message;
  return /[.?!]$/.test(message) ? `${message} ${hint}` : `${message}. ${hint}`;
}

/** Faults of ours say nothing about the inside; everything else carries its sentence, its hint and our code. */
export function failureOf(error: PlugboardError): RpcFailure {
  const text = errorText(error);
  const data = { code: error.code, ...(error.server === undefined ? {} : { server: error.server }) };
  switch (error.code) {
    case 'INVALID_ARGUMENTS':
    case 'UNKNOWN_TOOL':
    case 'UNKNOWN_SERVER':
    case 'USAGE':
      return new RpcFailure(RPC_INVALID_PARAMS, text, data);
    case 'INTERNAL':
      return new RpcFailure(RPC_INTERNAL_ERROR, 'The gateway failed; its log says why.', data);
    default:
      return new RpcFailure(RPC_INTERNAL_ERROR, text, data);
  }
}
