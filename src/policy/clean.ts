/** The functions through which every string of a server passes before a person or a model sees it (POL-4). */

import { hasUnseen, replaceUnseen, withoutHidden } from './hidden-text.ts';

/** Text that needs no look at its characters. */
const PLAIN = /^[\x20-\x7e\n\t]*$/;

export interface CleanOptions {
  /** Keep line ends and tabs (default), or fold them into spaces for one line of a table. */
  readonly multiline?: boolean;
  /** Longest result in characters; the number of those left out is appended. */
  readonly max?: number;
}

/** Text without hidden text (`hidden-text.ts`), and no longer than it may be. */
export function clean(text: string, options: CleanOptions = {}): string {
  let out = withoutHidden(text);
  if (options.multiline === false) out = out.replace(/[\n\r\t\u2028\u2029 ]+/g, ' ').trim();
  if (options.max !== undefined && out.length > options.max) {
    const cut = out.length - options.max;
    // Cleaned again: the cut may have taken the end of a bidi isolate.
    out = `${withoutHidden(out.slice(0, options.max))}… (${cut} more characters)`;
  }
  return out;
}

/** An address with what would be invisible percent-encoded, as it should have been: it still leads where it led. */
export function visibleUri(uri: string): string {
  if (PLAIN.test(uri) && !/[\n\t]/.test(uri)) return uri;
  return replaceUnseen(uri.toWellFormed(), encodeURIComponent).replace(/[\n\t]/g, encodeURIComponent);
}

/** No name needs bidi controls, balanced or not. */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/;

/** Whether a name hides something from its reader. Names are not cleaned: a server would no longer know them. */
export function hidesText(name: string): boolean {
  if (PLAIN.test(name)) return false;
  // A zero-width space alone carries no text, and the server goes by it.
  const carried = name.replaceAll('\u200b', '');
  return BIDI.test(name) || withoutHidden(carried) !== carried;
}

/** JSON whose invisible characters are written as escapes: the same value, and safe on a terminal. */
export function visibleJson(json: string): string {
  const escaped = (char: string): string =>
    Array.from(char.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  return PLAIN.test(json) ? json : replaceUnseen(json, escaped);
}

/** The same text with what would be invisible written out, for questions where nothing may be hidden (A13). */
export function reveal(text: string): string {
  const shown = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
  return replaceUnseen(text, shown).replace(/\n/g, '\\n').replace(/\t/g, '\\t');
}

/** As `reveal`, for text of several lines: each is a line of its own. */
export function revealLines(text: string): string {
  return text.split('\n').map(reveal).join('\n');
}

/** Whether `reveal` writes anything out but line ends and tabs. */
export function hidesAnything(text: string): boolean {
  return !PLAIN.test(text) && hasUnseen(text.replace(/\r\n?/g, '\n'));
}
