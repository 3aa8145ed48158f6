/** JSON that a client sent, as far as it can be worked with. */

import { nestsDeeperThan } from '../transport/framing-rescue.ts';

/** What is deeper ends the stack of whoever checks it or writes it down: JSON.stringify gives up at some 2,000 levels. */
const MAX_JSON_DEPTH = 1_000;

/** Undefined for what is no JSON, or nested deeper than anybody means. */
export function readJson(text: string): { readonly value: unknown } | undefined {
  // So deep a text has at least so many brackets: short ones, which is nearly all, need no look.
  if (text.length > 2 * MAX_JSON_DEPTH && nestsDeeperThan(text, MAX_JSON_DEPTH)) return undefined;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
