/** Reads responses of servers: errors, progress, and result types; cleans server text that people, logs and models read. */

import { PlugboardError, type SurfaceText } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_MISSING_CAPABILITY } from '../lib/json-rpc.ts';
import { clean } from '../policy/clean.ts';
import type { Params, Progress } from './peer.ts';

/** For the message of an error or a progress notification. */
const MAX_TEXT_CHARS = 8_192;

/** Cleans and truncates server text outside of results, which people, logs and models read. */
export function serverMessage(text: string): string {
  return clean(text, { max: MAX_TEXT_CHARS });
}

/**
 * Appends the cause to an error message: many servers send one generic message and put the reason into `data.error`.
 */
export function withCause(message: string, data: unknown): string {
  const error = isRecord(data) ? data['error'] : undefined;
  const cause = isRecord(error) ? error['message'] : error;
  if (typeof cause !== 'string' || cause.trim() === '' || message.includes(cause)) return message;
  return `${message}: ${serverMessage(cause)}`;
}

/** The host option that declares each capability. */
const OPTION_OF: ReadonlyMap<string, string> = new Map([
  ['elicitation', 'elicit'],
  ['sampling', 'sample'],
  ['roots', 'roots'],
]);

function hintOn(code: number | undefined, data: unknown): SurfaceText | undefined {
  const required =
    code === RPC_MISSING_CAPABILITY && isRecord(data) ? data['requiredCapabilities'] : undefined;
  const options = Object.keys(isRecord(required) ? required : {}).flatMap(
    (name) => OPTION_OF.get(name) ?? [],
  );
  if (options.length === 0) return undefined;
  return {
    commands:
      'The server has a question that cannot be answered here. Make the call from an agent that can be asked.',
    library: `Give createHost or host.session() the option ${options.map((option) => `"${option}"`).join(' and ')}.`,
  };
}

/** Converts the error response of a server. */
export function rpcError(method: string, error: unknown): PlugboardError {
  const record = isRecord(error) ? error : {};
  const code = typeof record['code'] === 'number' ? record['code'] : undefined;
  const message = typeof record['message'] === 'string' ? serverMessage(record['message']) : 'no message';
  const text = withCause(message, record['data']);
  return new PlugboardError('PROTOCOL_ERROR', `${method} returned an error: ${text}`, {
    hint: hintOn(code, record['data']),
    detail: {
      ...(code === undefined ? {} : { rpcCode: code, rpcMessage: message }),
      rpcData: record['data'],
    },
  });
}

/** Parses a progress notification; skips invalid members. */
export function readProgress(progress: number, { total, message, _meta }: Params): Progress {
  return {
    progress,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string' ? { message: serverMessage(message) } : {}),
    ...(isRecord(_meta) ? { _meta } : {}),
  };
}

/** Those of the protocol, and of the tasks extension, which we declare. */
const KNOWN: ReadonlySet<unknown> = new Set(['complete', 'input_required', 'task']);
/** Methods whose results we parse. An extension may define other result types for its own methods. */
const READ: ReadonlySet<string> = new Set([
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
]);

/** Returns the error for a result of an unknown type; a missing type means `complete`. */
export function unknownResultType(
  method: string,
  { resultType = 'complete' }: Readonly<Record<string, unknown>>,
): PlugboardError | undefined {
  if (KNOWN.has(resultType) || !READ.has(method)) return undefined;
  const type = JSON.stringify(resultType).slice(0, 80);
  return new PlugboardError('PROTOCOL_ERROR', `The answer to ${method} has an unknown resultType: ${type}`, {
    hint: 'Update plugboard, or use an older version of this server.',
  });
}
