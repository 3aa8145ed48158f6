/** What a client is told when its request fails: an error of the protocol, with the code that its era knows. */

import type { PlugboardError } from '../errors.ts';
import { RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';

/** Modern: the request needs something that its client did not say it can do. */
export const RPC_MISSING_CAPABILITY = -32021;

export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }

  toJSON(): { code: number; message: string; data?: unknown } {
    return {
      code: this.code,
      message: this.message,
      ...(this.data === undefined ? {} : { data: this.data }),
    };
  }
}

export function invalidParams(message: string, data?: unknown): RpcFailure {
  return new RpcFailure(RPC_INVALID_PARAMS, message, data);
}

export function unknownMethod(method: string): RpcFailure {
  return new RpcFailure(RPC_METHOD_NOT_FOUND, `Method not found: ${method}`);
}

/** Faults of ours say nothing about the inside; everything else carries its sentence, its hint and our code. */
export function failureOf(error: PlugboardError): RpcFailure {
  const text = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
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

export function missingCapability(capability: string): RpcFailure {
  return new RpcFailure(
    RPC_MISSING_CAPABILITY,
    `The client did not declare ${capability}, which this request needs.`,
    {
      requiredCapabilities: { [capability]: {} },
    },
  );
}
