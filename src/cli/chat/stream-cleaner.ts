/** Removes escape sequences from streamed text; the sender may split a sequence at any character. */

import { clean } from '../../policy/clean.ts';
import { forTerminal } from '../output.ts';

/** Limit for held text: a longer sequence is not an escape sequence. */
const MAX_HELD_CHARS = 64;
/** Matches an incomplete escape sequence, surrogate pair or line end at the end of the text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const UNFINISHED = /(?:[\x1b\x9b][^@-Z\\^-~]*|\x1b\[[0-?]*[ -/]*|[\ud800-\udbff]|\r)$/;

export class StreamCleaner {
  #held = '';

  push(text: string): string {
    const all = this.#held + text;
    const at = UNFINISHED.exec(all)?.index ?? all.length;
    const isHeld = all.length - at <= MAX_HELD_CHARS;
    this.#held = isHeld ? all.slice(at) : '';
    return forTerminal(clean(isHeld ? all.slice(0, at) : all));
  }
}
