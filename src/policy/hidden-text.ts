/**
 * The one definition of hidden text: which characters are removed from the strings of servers, and which stay.
 *
 * Removed are only carriers of text that a person does not see and a model reads: escape sequences and controls, tag
 * characters, variation selectors where no character takes them, bidi controls without a partner, zero-width spaces that
 * split words, and long runs of other invisible characters. Languages, emoji, joiners, line ends and byte order marks stay as they are.
 *
 * No imports: `assets/page/hidden-text.js` is this file without its types, so that the page uses the same definition.
 */

/** An expression that is made when it is first needed: those with classes of Unicode cost milliseconds to read. */
function whenUsed(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(source, flags);
    return made;
  };
}

/** Anything below this length in a row is needed by some language; nothing that people write needs more. */
const MIN_CARRIER_RUN = 4;

/** Nothing of this in a text: it is clean, whatever language it is in. Code units, so that long texts cost little. */
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

/** Tag characters and unassigned ones next to them; flags of England, Scotland, Wales and of US states are emoji. */
const TAGS = whenUsed(
  String.raw`(\u{1f3f4}(?:\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})|\u{e0075}\u{e0073}[\u{e0061}-\u{e007a}]{2})\u{e007f})|[\u{e0000}-\u{e00ff}\u{e01f0}-\u{e0fff}]+`,
  'gu',
);

/** Code units: the ones of plane 14 are written as pairs. */
const SELECTORS = /(?:[\ufe00-\ufe0f\u180b-\u180f]|\udb40[\udd00-\uddef])+/g;
/** Which characters take a selector: emoji and text style; glyph variants of some scripts; of ideographs; Mongolian. */
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
/** Embeddings and overrides from LRE to RLO with their end PDF among them; isolates from LRI to their end PDI. */
const [LRE, PDF, RLO, LRI, PDI] = [0x202a, 0x202c, 0x202e, 0x2066, 0x2069];

/** Shows nothing by itself: an isolate or embedding around nothing else has nothing to turn around. */
const INVISIBLE =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points are listed on purpose
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b-\u200f\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]/;
const RUNS: RegExp = new RegExp(`${INVISIBLE.source}{${MIN_CARRIER_RUN},}`, 'g');

/** Shows where a line may break in scripts that are written without spaces; in others it only splits a word. */
const ZERO_WIDTH_SPACE = whenUsed(
  String.raw`(?<![\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])\u200b(?![\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])`,
  'gu',
);

/** The text without anything that hides in it; the same string where nothing does. */
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

/** One selector stays after a character that takes it. Two in a row carry data: no sequence of Unicode has them. */
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

/** One paragraph, in which each bidi control that stays has its partner, and something to see between the two. */
function balanced(line: string): string {
  const stays = new Set<number>();
  const open: Opened[] = [];
  let isolates = 0;
  let at = 0;
  const close = (isolate: boolean): void => {
    // An isolate is a border: a pop inside it reaches nothing outside.
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
 * Everything that shows nothing or changes how its neighbours are shown, also where a language needs it: what a person
 * decides on has all of this written out. Joiners between pictographs and in Arabic and Indic words are shown.
 */
const UNSEEN = whenUsed(
  String.raw`[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|\u034f|[\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}]|(?<![\p{Script=Arabic}\p{M}])\u200c|(?<![\p{Script=Arabic}\p{M}]|\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d|(?<!\p{Emoji})[\ufe0e\ufe0f]|(?<!\p{Ideographic}|\p{Sm})[\ufe00-\ufe0d]`,
  'gu',
);

const SEEN = /^[\x20-\x7e\n\t]*$/;

/** Whether something in the text cannot be seen; also where that is how its language is written. */
export function hasUnseen(text: string): boolean {
  return !SEEN.test(text) && text.search(UNSEEN()) !== -1;
}

/** The text with every unseen character in another form. */
export function replaceUnseen(text: string, replace: (char: string) => string): string {
  return SEEN.test(text) ? text : text.replace(UNSEEN(), replace);
}
