/** Estimates the number of tokens of a text without a tokenizer: fast for results, closer for definitions. */

/**
 * Measured with the o200k and cl100k vocabularies on 1,513 real tool definitions: 4.1 to 4.9 characters per token for
 * definitions, 3.8 to 4.2 for prose and code. Four overestimates slightly.
 */
const ASCII_CHARS_PER_TOKEN = 4;
/** Other scripts take about two thirds of a token per character. */
const OTHER_TOKENS_PER_CHAR = 0.7;

export function estimateTokens(text: string): number {
  const ascii = countAscii(text);
  return Math.ceil(ascii / ASCII_CHARS_PER_TOKEN + (text.length - ascii) * OTHER_TOKENS_PER_CHAR);
}

function countAscii(text: string): number {
  // UTF-8 uses one byte for ASCII and two to four for all others: one native call instead of a loop.
  const extraBytes = Buffer.byteLength(text) - text.length;
  if (extraBytes === 0) return text.length;
  let ascii = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) < 0x80) ascii += 1;
  return ascii;
}

/** The part of a text that a character belongs to. */
const SPACE = 0;
const LETTER = 1;
const DIGIT = 2;
const SIGN = 3;
const NEWLINE = 4;
/** The classes of ASCII characters. */
const CLASSES: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[A-Za-z]/.test(character)) return LETTER;
  if (/[0-9]/.test(character)) return DIGIT;
  if (character === '\n') return NEWLINE;
  return /\s/.test(character) ? SPACE : SIGN;
});
/**
 * Tokens of each kind of run, fitted to o200k on 4,900 definitions of four public catalogs: 0.2 % above the real number
 * over the 1,513 tools of coding agents, and within 3.1 % on each catalog.
 */
const WORD_TOKENS = 0.924;
/** Added for each letter of a word after the first eight. */
const LONG_WORD_TOKENS = 0.213;
const SHORT_WORD_CHARS = 8;
/** For each three digits. */
const DIGITS_TOKENS = 1.334;
const DIGITS_PER_TOKEN = 3;
const SIGNS_TOKENS = 1.121;
const NEWLINES_TOKENS = 0.985;
const OTHER_CHAR_TOKENS = 0.692;

/** Estimates the tokens of the text or the schema of a definition, by its words and signs. */
export function estimateDefinition(text: string): number {
  // Whole numbers: V8 is slower with fractions.
  let [words, longer, numbers, signs, newlines, others] = [0, 0, 0, 0, 0, 0];
  const { length } = text;
  let at = 0;
  while (at < length) {
    const code = text.charCodeAt(at);
    const start = at;
    at += 1;
    if (code >= 0x80) {
      others += 1;
      continue;
    }
    const kind = CLASSES[code];
    if (kind === SPACE) continue;
    while (at < length && CLASSES[text.charCodeAt(at)] === kind) at += 1;
    const chars = at - start;
    if (kind === LETTER) {
      words += 1;
      if (chars > SHORT_WORD_CHARS) longer += chars - SHORT_WORD_CHARS;
    } else if (kind === SIGN) signs += 1;
    else if (kind === DIGIT) numbers += Math.ceil(chars / DIGITS_PER_TOKEN);
    else newlines += 1;
  }
  return Math.ceil(
    words * WORD_TOKENS +
      longer * LONG_WORD_TOKENS +
      numbers * DIGITS_TOKENS +
      signs * SIGNS_TOKENS +
      newlines * NEWLINES_TOKENS +
      others * OTHER_CHAR_TOKENS,
  );
}
