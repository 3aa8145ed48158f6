/** Text that comes in pieces, made safe to show: an escape sequence may be cut anywhere by whoever sends it. */

import { clean } from '../../policy/clean.ts';
import { forTerminal } from '../output.ts';

/** An escape sequence that is not complete by then is none. */
const MAX_HELD_CHARS = 64;
/** The beginning of an escape sequence, half of a character, or half of a line end, at the very end. */
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
