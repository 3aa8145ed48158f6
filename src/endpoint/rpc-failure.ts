/** JSON-RPC errors for clients, with the codes of their era. */

import type { Era } from '../connection/eras.ts';
import { RPC_INVALID_PARAMS, RPC_METHOD_NOT_FOUND, RPC_MISSING_CAPABILITY } from '../lib/json-rpc.ts';
import { sentences } from '../lib/sentences.ts';

const RPC_RESOURCE_NOT_FOUND = -32002;

/** Thrown by a handler to answer with this JSON-RPC error. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }

  /** Returns the `error` member of the JSON-RPC response. */
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

/** Returns the code for a missing resource: the legacy era has its own. */
export function notFoundCode(era: Era): number {
  return era === 'modern' ? RPC_INVALID_PARAMS : RPC_RESOURCE_NOT_FOUND;
}

export function resourceNotFound(
  uri: string,
  era: Era,
  { hint, ...more }: { readonly hint?: string; readonly addresses?: readonly string[] } = {},
): RpcFailure {
  return new RpcFailure(notFoundCode(era), sentences(`There is no resource ${JSON.stringify(uri)}`, hint), {
    uri,
    ...more,
  });
}

/** Modern: the request needs an extension that its client did not declare. */
export function missingExtension(extension: string): RpcFailure {
  const message = `The client did not declare the extension ${extension}, which this request needs.`;
  const data = { requiredCapabilities: { extensions: { [extension]: {} } } };
  return new RpcFailure(RPC_MISSING_CAPABILITY, message, data);
}

/**
 * Builds the error for a capability that the client did not declare.
 *
 * @param parts the needed parts of the capability.
 */
export function missingCapability(capability: string, parts: object = {}): RpcFailure {
  const name = [capability, ...Object.keys(parts).slice(0, 1)].join('.');
  return new RpcFailure(
    RPC_MISSING_CAPABILITY,
    `The client did not declare ${name}, which this request needs`,
    {
      requiredCapabilities: { [capability]: parts },
    },
  );
}
