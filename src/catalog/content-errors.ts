/** What servers answer when there is no such resource or prompt, and their own words about it. */

import { PlugboardError } from '../errors.ts';
import { RPC_INVALID_PARAMS, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import { clean } from '../policy/clean.ts';

const RPC_RESOURCE_NOT_FOUND = -32002;
const MAX_WORDS_CHARS = 500;

/** Legacy servers have a code of their own; modern ones, and the SDK, say "invalid params". */
const NOT_FOUND: ReadonlySet<number> = new Set([RPC_RESOURCE_NOT_FOUND, RPC_INVALID_PARAMS]);

/** An error that a server answered a request with, as far as anything can be concluded from it. */
export interface Refusal {
  /** The server does not know the method at all. */
  readonly unknownMethod: boolean;
  /** There is no such thing, or it was asked for in a way that the server does not like. */
  readonly notFound: boolean;
  /** The server's own words, in one line. */
  readonly words: string;
}

/** Undefined when the error is not the server's answer: a lost connection, or a question of its own that was refused. */
export function refusalOf(error: PlugboardError, method: string): Refusal | undefined {
  const { rpcCode } = error.detail;
  // Refusals of ours have a code for the server too; what only an answer has is data, if only undefined.
  if (error.code !== 'PROTOCOL_ERROR' || rpcCode === undefined || !Object.hasOwn(error.detail, 'rpcData')) {
    return undefined;
  }
  const words = error.message
    .replace(`${method} returned an error: `, '')
    // Servers on the legacy SDK repeat the code in front of their words.
    .replace(/^MCP error -?\d+: /, '');
  return {
    unknownMethod: rpcCode === RPC_METHOD_NOT_FOUND,
    notFound: NOT_FOUND.has(rpcCode),
    words: clean(words, { multiline: false, max: MAX_WORDS_CHARS }),
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
