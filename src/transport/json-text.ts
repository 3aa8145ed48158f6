/** Parses JSON from a remote peer, with a limit on its depth. */

import { nestsDeeperThan } from './framing-rescue.ts';

/** Deeper JSON overflows the stack of validators and serializers: JSON.stringify fails at about 2,000 levels. */
export const MAX_JSON_DEPTH = 1_000;

/** Such a depth needs at least that many brackets, so short texts, nearly all, need no scan. */
export function nestsTooDeep(text: string): boolean {
  return text.length > 2 * MAX_JSON_DEPTH && nestsDeeperThan(text, MAX_JSON_DEPTH);
}

/** Returns undefined for invalid or too deeply nested JSON. */
export function readJson(text: string): { readonly value: unknown } | undefined {
  if (nestsTooDeep(text)) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
