/** Finds results that a session has already received, so that a reference is sent in their place. */

import { createHash } from 'node:crypto';
import type { CallResult } from '../catalog/accept-result.ts';

/** Smaller results are repeated: a reference would hardly be shorter. */
const MIN_TOKENS = 400;
/** Results that a session remembers; the oldest are forgotten. */
const MAX_SEEN = 500;

/** Returns true if the session has received the same content before; remembers it otherwise. */
export function isRepeated(seen: Set<string>, result: CallResult, tokens: number): boolean {
  if (tokens < MIN_TOKENS || result.isError) return false;
  const hash = createHash('sha256');
  for (const block of result.content) {
    hash.update(`${block.type}\n`);
    if (block.type === 'text') hash.update(block.text);
    else if (block.type === 'image' || block.type === 'audio') hash.update(block.data);
    else hash.update(JSON.stringify(block));
  }
  if (result.content.length === 0) hash.update(JSON.stringify(result.structuredContent ?? null));
  const key = hash.digest('base64url');
  if (seen.has(key)) return true;
  seen.add(key);
  const [oldest] = seen;
  if (seen.size > MAX_SEEN && oldest !== undefined) seen.delete(oldest);
  return false;
}
