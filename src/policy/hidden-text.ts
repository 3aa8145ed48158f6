/**
 * Defines hidden text: which characters are removed from the strings of servers, and which are kept.
 *
 * Only carriers of text that a user does not see and a model reads are removed: escape sequences and controls, tag
 * characters, variation selectors after characters that do not support them, unpaired bidi controls, zero-width spaces
 * that split words, and long runs of other invisible characters. Languages, emoji, joiners, line ends and byte order
 * marks are kept.
 *
 * No imports: the page bundles this file, so that it uses the same definition.
 */

/** Creates an expression on first use: those with Unicode classes take milliseconds to compile. */
function whenUsed(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(source, flags);
    return made;
  };
}

/** Shorter runs are needed by some languages; no language needs longer ones. */
const MIN_CARRIER_RUN = 4;

/** A text without these is clean in any language. Matches code units, so that long texts are fast. */
const SUSPECT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code units are listed on purpose
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\udb40-\udb43\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]/;
/** The same with fewer ranges, which engines test several times faster: most texts need no other test. */
const MAYBE_SUSPECT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code units are listed on purpose
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\udb40-\udb43\ufe00-\uffff]/;
const PLAIN = /^[\x20-\x7e\n\r\t]*$/;
const PLANE_14 = /[\udb40-\udb43]/;

/** Escape sequences are removed as a whole, so that their parameters do not remain as text; then C0, DEL and C1. */
const ESCAPES_AND_CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /\x1b\][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?|\x1b[PX^_][^\x1b\x9c]{0,4096}(?:\x1b\\|\x9c)?|[\x1b\x9b]\[?[0-?]{0,64}[ -/]{0,8}[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** Tag characters and unassigned ones next to them; flags of England, Scotland, Wales and US states are kept. */
const TAGS = whenUsed(
  String.raw`(\u{1f3f4}(?:\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})|\u{e0075}\u{e0073}[\u{e0061}-\u{e007a}]{2})\u{e007f})|[\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]+`,
  'gu',
);

/** Code units: those of plane 14 are written as pairs. */
const SELECTORS = /(?:[\ufe00-\ufe0f\u180b-\u180f]|\udb40[\udd00-\uddef])+/g;
/** Characters that support selectors: emoji and text style; glyph variants of some scripts; ideographs; Mongolian. */
const TAKES_STYLE = whenUsed(String.raw`^[\p{Emoji}\p{Extended_Pictographic}]$`, 'u');
const TAKES_VARIANT = whenUsed(
  String.raw`^[0\p{Sm}\p{So}\p{Ideographic}\p{Script=Myanmar}\p{Script=Phags_Pa}\p{Script=Manichaean}\p{Script=Egyptian_Hieroglyphs}\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f]$`,
  'u',
);
const IDEOGRAPH = whenUsed(String.raw`^\p{Ideographic}$`, 'u');
const MONGOLIAN = whenUsed(String.raw`^\p{Script=Mongolian}$`, 'u');

const BIDI = /[\u202a-\u202e\u2066-\u2069]/;
const BIDI_ALL = /[\u202a-\u202e\u2066-\u2069]/g;
const PARAGRAPHS = /[^\n\r\u2029]+/g;
/** Embeddings and overrides are LRE to RLO, with their end PDF among them; isolates are LRI to their end PDI. */
const [LRE, PDF, RLO, LRI, PDI] = [0x202a, 0x202c, 0x202e, 0x2066, 0x2069];

/** Invisible by itself: an isolate or embedding around only these has no effect. */
const INVISIBLE =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points are listed on purpose
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b-\u200f\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]/;
const RUNS: RegExp = new RegExp(`${INVISIBLE.source}{${MIN_CARRIER_RUN},}`, 'g');

/** Marks line breaks in scripts without spaces; in other scripts it only splits a word. */
const ZERO_WIDTH_SPACE = whenUsed(
  String.raw`(?<![\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])\u200b(?![\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])`,
  'gu',
);

/** Returns the text without hidden text; the same string if there is none. */
export function withoutHidden(text: string): string {
  if (PLAIN.test(text)) return text;
  if (!MAYBE_SUSPECT.test(text) || !SUSPECT.test(text))
    return text.isWellFormed() ? text : text.toWellFormed();
  let out = text.replace(ESCAPES_AND_CONTROLS, '');
  if (PLANE_14.test(out)) out = out.replace(TAGS(), '$1');
  out = out.replace(SELECTORS, keepSelector);
  if (BIDI.test(out)) out = out.replace(PARAGRAPHS, (line) => (BIDI.test(line) ? balanced(line) : line));
  if (out.includes('\u200b')) out = out.replace(ZERO_WIDTH_SPACE(), '');
  return out.replace(RUNS, '').toWellFormed();
}

/** Keeps one selector after a character that supports it. Two in a row carry data: no Unicode sequence has them. */
function keepSelector(run: string, at: number, text: string): string {
  const selector = run.codePointAt(0) ?? 0;
  if (run.length > (selector > 0xffff ? 2 : 1) || at === 0) return '';
  const low = text.charCodeAt(at - 1);
  const base = low >= 0xdc00 && low <= 0xdfff ? text.slice(at - 2, at) : text.charAt(at - 1);
  return takesSelector(base, selector) ? run : '';
}

function takesSelector(base: string, selector: number): boolean {
  if (selector === 0xfe0e || selector === 0xfe0f) return TAKES_STYLE().test(base);
  if (selector >= 0xe0100) return IDEOGRAPH().test(base);
  return selector < 0xfe00 ? MONGOLIAN().test(base) : TAKES_VARIANT().test(base);
}

interface Opened {
  readonly at: number;
  readonly isolate: boolean;
  hasText: boolean;
}

/** Returns a paragraph in which each remaining bidi control is paired and encloses visible text. */
function balanced(line: string): string {
  const stays = new Set<number>();
  const open: Opened[] = [];
  let isolates = 0;
  let at = 0;
  const close = (isolate: boolean): void => {
    // A pop inside an isolate does not affect anything outside it.
    if (isolate ? isolates === 0 : open.at(-1)?.isolate !== false) return;
    let hasText = false;
    for (let last = open.pop(); last !== undefined; last = open.pop()) {
      hasText ||= last.hasText;
      if (last.isolate) isolates -= 1;
      if (last.isolate !== isolate) continue;
      if (hasText) stays.add(last.at).add(at);
      break;
    }
    const outer = open.at(-1);
    if (hasText && outer !== undefined) outer.hasText = true;
  };
  for (; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    const isolate = code >= LRI && code <= PDI;
    if (code === PDF || code === PDI) close(isolate);
    else if (isolate || (code >= LRE && code <= RLO)) {
      if (isolate) isolates += 1;
      open.push({ at, isolate, hasText: false });
    } else {
      const inner = open.at(-1);
      if (inner !== undefined && !inner.hasText && !INVISIBLE.test(line.charAt(at))) inner.hasText = true;
    }
  }
  return line.replace(BIDI_ALL, (char, index: number) => (stays.has(index) ? char : ''));
}

/**
 * Matches everything that is invisible or changes how its neighbours are displayed, even if a language needs it:
 * approval questions show all of it escaped. Joiners between pictographs and in Arabic and Indic words are excluded.
 */
const UNSEEN = whenUsed(
  String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|\u034f|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}]|(?<![\p{Script=Arabic}\p{M}])\u200c|(?<![\p{Script=Arabic}\p{M}]|\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d|(?<!\p{Emoji})[\ufe0e\ufe0f]|(?<!\p{Ideographic}|\p{Sm})[\ufe00-\ufe0d]`,
  'gu',
);

const SEEN = /^[\x20-\x7e\n\t]*$/;

/** True if the text contains invisible characters, even if its language needs them. */
export function hasUnseen(text: string): boolean {
  return !SEEN.test(text) && text.search(UNSEEN()) !== -1;
}

/** Replaces every invisible character. */
export function replaceUnseen(text: string, replace: (char: string) => string): string {
  return SEEN.test(text) ? text : text.replace(UNSEEN(), replace);
}
