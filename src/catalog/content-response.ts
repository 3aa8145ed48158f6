/** Responses for resources, prompts and completions: classified errors, and `_meta` of results. */

import { cleanMeta, passedMeta } from '../connection/handed-on.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_INVALID_PARAMS, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import { clean } from '../policy/clean.ts';

const RPC_RESOURCE_NOT_FOUND = -32002;
const MAX_TEXT_CHARS = 500;

/** Legacy servers have a separate code; modern ones, and the SDK, use "invalid params". */
const NOT_FOUND: ReadonlySet<number> = new Set([RPC_RESOURCE_NOT_FOUND, RPC_INVALID_PARAMS]);

/** A classified error response of a server. */
export interface Refusal {
  /** The server does not support the method. */
  readonly unknownMethod: boolean;
  /** The item does not exist, or the request was invalid. */
  readonly notFound: boolean;
  /** The server's message, in one line. */
  readonly text: string;
}

/** Classifies an error; undefined unless the server sent it (not a lost connection or a refused server request). */
export function refusalOf(error: PlugboardError, method: string): Refusal | undefined {
  const { rpcCode } = error.detail;
  // Our own refusals have an rpcCode too; only a server's answer has `rpcData`, possibly undefined.
  if (error.code !== 'PROTOCOL_ERROR' || rpcCode === undefined || !Object.hasOwn(error.detail, 'rpcData')) {
    return undefined;
  }
  const text = error.message
    .replace(`${method} returned an error: `, '')
    // Servers on the legacy SDK repeat the code before the message.
    .replace(/^MCP error -?\d+: /, '');
  return {
    unknownMethod: rpcCode === RPC_METHOD_NOT_FOUND,
    notFound: NOT_FOUND.has(rpcCode),
    text: clean(text, { multiline: false, max: MAX_TEXT_CHARS }),
  };
}

export function offersNone(
  server: string,
  what: 'resources' | 'prompts',
  error: PlugboardError,
): PlugboardError {
  return new PlugboardError('INVALID_ARGUMENTS', `${server} offers no ${what}`, {
    server,
    hint: {
      commands: `Run plugboard ${what} to see which servers do.`,
      library: `host.${what}() lists those of all servers.`,
    },
    cause: error,
    detail: error.detail,
  });
}

/** Returns the `_meta` of a result without keys about the connection; `forModel`: without hidden text. */
export function metaOf(
  result: unknown,
  forModel: boolean,
): { readonly _meta?: Readonly<Record<string, unknown>> } {
  const given = isRecord(result) ? result['_meta'] : undefined;
  if (forModel) return cleanMeta(given);
  const meta = passedMeta(given);
  return meta === undefined ? {} : { _meta: meta };
}
