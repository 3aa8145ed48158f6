/** Encodes our errors for the daemon's socket, so that the client throws the same error. */

import { type ErrorCode, type ErrorDetail, EXIT_STATUS, PlugboardError } from '../../errors.ts';
import { isRecord } from '../../lib/json.ts';

/** Its key in the data of a JSON-RPC error; a server's own value under this key is removed. */
export const ERROR_KEY = 'plugboard/error';

export interface EncodedError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly server?: string | undefined;
  readonly hint?: string | undefined;
  readonly detail: ErrorDetail;
}

export function encodeError({ code, message, server, hint, detail }: PlugboardError): EncodedError {
  return { code, message, server, hint, detail };
}

/** Returns undefined for anything that `encodeError` did not write. */
export function decodeError(value: unknown): PlugboardError | undefined {
  if (!isRecord(value) || typeof value['message'] !== 'string') return undefined;
  if (!Object.hasOwn(EXIT_STATUS, String(value['code']))) return undefined;
  // Written by `encodeError` of the same build.
  const { code, message, server, hint, detail } = value as unknown as EncodedError;
  return new PlugboardError(code, message, { server, hint, detail });
}
