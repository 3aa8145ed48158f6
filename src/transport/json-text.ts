/** JSON from the other side of a wire, as far as it can be worked with. */

import { nestsDeeperThan } from './framing-rescue.ts';

/** What is deeper ends the stack of whoever checks it or writes it down: JSON.stringify gives up at some 2,000 levels. */
export const MAX_JSON_DEPTH = 1_000;

/** So deep a text has at least so many brackets: short ones, which is nearly all, need no look. */
export function nestsTooDeep(text: string): boolean {
  return text.length > 2 * MAX_JSON_DEPTH && nestsDeeperThan(text, MAX_JSON_DEPTH);
}

/** Undefined for what is no JSON, or nested deeper than anybody means. */
export function readJson(text: string): { readonly value: unknown } | undefined {
  if (nestsTooDeep(text)) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
