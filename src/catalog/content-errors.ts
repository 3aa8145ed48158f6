/** What servers answer when there is no such resource or prompt, and their own words about it. */

import type { PlugboardError } from '../errors.ts';
import { RPC_INVALID_PARAMS } from '../lib/json-rpc.ts';
import { clean } from '../policy/clean.ts';

const RPC_RESOURCE_NOT_FOUND = -32002;
const MAX_SENTENCE_CHARS = 500;

/** Legacy servers have a code of their own; modern ones, and the SDK, say "invalid params". */
export const RPC_NOT_FOUND: ReadonlySet<number> = new Set([RPC_RESOURCE_NOT_FOUND, RPC_INVALID_PARAMS]);

/** The server's part of an error that it answered `method` with, in one line. */
export function sentenceOf(error: PlugboardError, method: string): string {
  const said = error.message.replace(`${method} was answered with an error: `, '');
  return clean(said, { multiline: false, max: MAX_SENTENCE_CHARS });
}
