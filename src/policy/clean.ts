/** The one function through which every string of a server passes before a person or a model sees it (POL-4). */

/** Clean text has only these: the test is the fast path and leaves the bytes as they are. */
const PLAIN = /^[\x20-\x7e\n\t]*$/;

/** Escape sequences go as a whole, so that their parameters do not stay behind as text. */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /\x1b\][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?|\x1b[PX^_][^\x1b\x9c]{0,4096}(?:\x1b\\|\x9c)?|[\x1b\x9b]\[?[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b/g;

/**
 * What shows nothing or changes how its neighbours are shown: C0 and C1 controls but newline and tab, soft
 * hyphen, bidi controls, zero-width characters (a joiner between pictographs stays), tag characters and
 * variation selectors that can smuggle text.
 */
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points are listed on purpose
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|\u034f|[\u{e0000}-\u{e0fff}]|(?<!\p{Extended_Pictographic}\ufe0f?)\u200d/gu;

export interface CleanOptions {
  /** Keep newlines and tabs (default), or fold them into spaces for one line of a table. */
  readonly multiline?: boolean;
  /** Longest result in characters; what is cut is said. */
  readonly max?: number;
}

/** Text that is safe to show: no control, bidi, zero-width or tag characters, and no longer than it may be. */
export function clean(text: string, options: CleanOptions = {}): string {
  let out = text;
  if (!PLAIN.test(out)) {
    out = out.replace(/\r\n?/g, '\n').replace(ESCAPES, '').replace(INVISIBLE, '').toWellFormed();
  }
  if (options.multiline === false) out = out.replace(/[\n\t ]+/g, ' ').trim();
  if (options.max !== undefined && out.length > options.max) {
    const cut = out.length - options.max;
    out = `${out.slice(0, options.max).toWellFormed()}… (${cut} more characters)`;
  }
  return out;
}

/** An address with what would be invisible percent-encoded, as it should have been: it still leads where it led. */
export function visibleUri(uri: string): string {
  if (PLAIN.test(uri) && !/[\n\t]/.test(uri)) return uri;
  return uri
    .toWellFormed()
    .replace(INVISIBLE, encodeURIComponent)
    .replace(/[\n\t]/g, encodeURIComponent);
}

/** Escape, bidi and tag characters: no language needs them in a name, and a name cannot be cleaned without breaking it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const SMUGGLED = /[\x1b\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

/** Whether a name hides something from whoever reads it. */
export function hidesText(name: string): boolean {
  return SMUGGLED.test(name);
}

/** JSON whose invisible characters are written as escapes: the same value, and safe on a terminal. */
export function visibleJson(json: string): string {
  const escaped = (char: string): string =>
    Array.from(char.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  return PLAIN.test(json) ? json : json.replace(INVISIBLE, escaped);
}

/** The same text with what would be invisible written out, for questions where nothing may be hidden (A13). */
export function reveal(text: string): string {
  const shown = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
  return text.replace(INVISIBLE, shown).replace(/[\n\t]/g, shown);
}
