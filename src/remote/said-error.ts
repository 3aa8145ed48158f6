/** Our errors on their way between the daemon and a host of ours: what crosses is the same error on the other side. */

import { type ErrorCode, type ErrorDetail, EXIT_STATUS, PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';

/** Where it stands in the data of a JSON-RPC error; what a server puts there itself is not handed on. */
export const SAID_ERROR = 'plugboard/error';

export interface SaidError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly server?: string | undefined;
  readonly hint?: string | undefined;
  readonly detail: ErrorDetail;
}

export function sayError({ code, message, server, hint, detail }: PlugboardError): SaidError {
  return { code, message, server, hint, detail };
}

/** Undefined for what nobody of ours has said. */
export function hearError(value: unknown): PlugboardError | undefined {
  if (!isRecord(value) || typeof value['message'] !== 'string') return undefined;
  if (!Object.hasOwn(EXIT_STATUS, String(value['code']))) return undefined;
  // Written by `sayError` of the same build.
  const { code, message, server, hint, detail } = value as unknown as SaidError;
  return new PlugboardError(code, message, { server, hint, detail });
}
