/** Cleans every string of a server before a user or a model sees it (POL-4). */

import { hasUnseen, replaceUnseen, withoutHidden } from './hidden-text.ts';

/** ASCII text that needs no further checks. */
const PLAIN = /^[\x20-\x7e\n\t]*$/;

export interface CleanOptions {
  /** Keep line ends and tabs (default), or fold them into spaces for a single line. */
  readonly multiline?: boolean;
  /** Maximum length in characters; the number of omitted ones is appended. */
  readonly max?: number;
}

/** Removes hidden text (`hidden-text.ts`) and truncates to the maximum length. */
export function clean(text: string, options: CleanOptions = {}): string {
  let out = withoutHidden(text);
  if (options.multiline === false) out = out.replace(/[\n\r\t\u2028\u2029 ]+/g, ' ').trim();
  if (options.max !== undefined && out.length > options.max) {
    const cut = out.length - options.max;
    // Cleaned again: truncation may have removed the end of a bidi isolate.
    out = `${withoutHidden(out.slice(0, options.max))}… (${cut} more characters)`;
  }
  return out;
}

/** Cleans a text for one line, such as a name in a table. */
export function oneLine(text: string): string {
  return clean(text, { multiline: false });
}

/** Longest name in a message. */
const MAX_SHOWN_CHARS = 200;

/** Cleans a name for a message. */
export function shownName(name: string): string {
  return clean(name, { multiline: false, max: MAX_SHOWN_CHARS });
}

/** Percent-encodes invisible characters of an address, as it should have been; the target is unchanged. */
export function visibleUri(uri: string): string {
  if (PLAIN.test(uri) && !/[\n\t]/.test(uri)) return uri;
  return replaceUnseen(uri.toWellFormed(), encodeURIComponent).replace(/[\n\t]/g, encodeURIComponent);
}

/** Names never need bidi controls, balanced or not. */
const BIDI = /[\u202a-\u202e\u2066-\u2069]/;

/** True if a name contains hidden text. Names are not cleaned, because the server would no longer recognize them. */
export function hidesText(name: string): boolean {
  if (PLAIN.test(name)) return false;
  // A zero-width space alone carries no text, and the server depends on it.
  const carried = name.replaceAll('\u200b', '');
  return BIDI.test(name) || withoutHidden(carried) !== carried;
}

/** Escapes invisible characters in JSON: the same value, and safe on a terminal. */
export function visibleJson(json: string): string {
  const escaped = (char: string): string =>
    Array.from(char.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  return PLAIN.test(json) ? json : replaceUnseen(json, escaped);
}

/** Makes invisible characters visible, for approval questions in which nothing may be hidden (A13). */
export function reveal(text: string): string {
  const shown = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
  return replaceUnseen(text, shown).replace(/\n/g, '\\n').replace(/\t/g, '\\t');
}

/** Like `reveal`, but keeps line breaks. */
export function revealLines(text: string): string {
  return text.split('\n').map(reveal).join('\n');
}

/** True if `reveal` would change anything other than line ends and tabs. */
export function hidesAnything(text: string): boolean {
  return !PLAIN.test(text) && hasUnseen(text.replace(/\r\n?/g, '\n'));
}
