/** Converts errors for clients: errors of servers unchanged, ours with our own text. */

import { withCause } from '../connection/rpc-error.ts';
import { RpcFailure } from '../endpoint/rpc-failure.ts';
import { hintForModel, type PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import {
  RPC_HEADER_MISMATCH,
  RPC_INTERNAL_ERROR,
  RPC_INVALID_PARAMS,
  RPC_RATE_LIMITED,
  RPC_UNSUPPORTED_VERSION,
  RPC_URL_ELICITATION_REQUIRED,
} from '../lib/json-rpc.ts';
import { sentences } from '../lib/sentences.ts';
import { cleanValue } from '../policy/clean-value.ts';
import { elicitMessage } from './attribution.ts';

/** Errors of our connection to the server: clients cannot act on them. */
const OF_THE_CONNECTION: ReadonlySet<number> = new Set([RPC_HEADER_MISMATCH, RPC_UNSUPPORTED_VERSION]);

/** Returns an error as one text. */
export function errorText(error: PlugboardError): string {
  return sentences(error.message, hintForModel(error));
}

/** Converts an error; internal errors disclose no details, all others have their message, hint and our code. */
export function failureOf(error: PlugboardError): RpcFailure {
  const passed = passedFailure(error);
  if (passed !== undefined) return passed;
  const text = errorText(error);
  const data = { code: error.code, ...(error.server === undefined ? {} : { server: error.server }) };
  switch (error.code) {
    case 'INVALID_ARGUMENTS':
    case 'UNKNOWN_TOOL':
    case 'UNKNOWN_SERVER':
    case 'USAGE':
      return new RpcFailure(RPC_INVALID_PARAMS, text, data);
    case 'RATE_LIMITED':
      return new RpcFailure(RPC_RATE_LIMITED, text, {
        ...data,
        retryAfterSeconds: error.detail.retryAfterSeconds,
      });
    case 'INTERNAL':
      return new RpcFailure(RPC_INTERNAL_ERROR, 'The gateway failed; its log says why', data);
    default:
      return new RpcFailure(RPC_INTERNAL_ERROR, text, data);
  }
}

/**
 * Returns the error that a server itself responded with, with its code and data; undefined for every other error.
 * Agents show only the message, so a cause in `data.error` is appended to it.
 */
export function passedFailure(error: PlugboardError): RpcFailure | undefined {
  return error.code === 'PROTOCOL_ERROR' || error.code === 'INVALID_ARGUMENTS' ? answered(error) : undefined;
}

/**
 * Returns the error by which a server requires URLs to be visited first, for a client that cannot be asked about
 * them.
 */
export function urlsFailure(error: PlugboardError): RpcFailure | undefined {
  return error.detail.rpcCode === RPC_URL_ELICITATION_REQUIRED ? answered(error) : undefined;
}

function answered({
  server,
  detail: { rpcCode, rpcMessage, rpcData },
}: PlugboardError): RpcFailure | undefined {
  if (rpcCode === undefined || rpcMessage === undefined || OF_THE_CONNECTION.has(rpcCode)) return undefined;
  const data = cleanValue(rpcData);
  return new RpcFailure(rpcCode, withCause(rpcMessage, data), attributed(server, data));
}

/** Adds the server's name to questions in the data of an error, like in every other question (A39). */
function attributed(server: string | undefined, data: unknown): unknown {
  if (!isRecord(data) || !Array.isArray(data['elicitations'])) return data;
  const elicitations = data['elicitations'].map((each: unknown) => {
    if (!isRecord(each) || typeof each['message'] !== 'string') return each;
    const { message, url } = each;
    const host = typeof url === 'string' && URL.canParse(url) ? { host: new URL(url).host } : {};
    const asked = { server: server ?? 'a server', mode: 'url', message, session: '', ...host } as const;
    return { ...each, message: elicitMessage(asked) };
  });
  return { ...data, elicitations };
}
