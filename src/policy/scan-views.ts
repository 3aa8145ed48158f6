/** Returns the possible readings of a text: unchanged, with look-alike letters replaced, or decoded. */

/** Letters of other alphabets that look like Latin letters. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  а: 'a',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  һ: 'h',
  і: 'i',
  ј: 'j',
  ӏ: 'l',
  ո: 'n',
  о: 'o',
  р: 'p',
  ԛ: 'q',
  ѕ: 's',
  ԝ: 'w',
  х: 'x',
  у: 'y',
  α: 'a',
  ε: 'e',
  ι: 'i',
  ο: 'o',
  ρ: 'p',
  υ: 'u',
  ν: 'v',
  τ: 't',
  κ: 'k',
  η: 'n',
  ω: 'w',
  А: 'A',
  В: 'B',
  С: 'C',
  Е: 'E',
  Н: 'H',
  І: 'I',
  К: 'K',
  М: 'M',
  О: 'O',
  Р: 'P',
  Ѕ: 'S',
  Т: 'T',
  Х: 'X',
};
/** A word that mixes Latin letters with Cyrillic or Greek ones, which no language does. */
const MIXED = /(?=[\p{L}]{0,40}[A-Za-z])(?=[\p{L}]{0,40}[\p{Script=Cyrillic}\p{Script=Greek}])[\p{L}]{2,40}/u;
const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}/g;
const HEX = /(?:0x)?(?:[0-9a-f]{2}){12,}/gi;
const MAX_DECODED = 20;
/** Minimum share of letters and spaces for decoded data to be treated as text. */
const MIN_WORDY = 0.85;

export interface View {
  readonly text: string;
  /** True if users do not see this reading: a finding in it is hidden text. */
  readonly hidden: boolean;
}

/** Returns every reading of a text; the first is the text itself. */
export function viewsOf(text: string): View[] {
  const views: View[] = [{ text, hidden: false }];
  if (MIXED.test(text)) {
    views.push({ text: text.replace(/\P{ASCII}/gu, (char) => LOOK_ALIKES[char] ?? char), hidden: true });
  }
  for (const decoded of decodings(text)) views.push({ text: decoded, hidden: true });
  if (/\brot-?13\b|\bcaesar\b/i.test(text)) views.push({ text: rot13(text), hidden: true });
  return views;
}

/** Decodes base64 and hexadecimal parts of the text that contain readable text. */
function decodings(text: string): string[] {
  const found = [
    ...Array.from(text.matchAll(BASE64), ([match]) => Buffer.from(match, 'base64')),
    ...Array.from(text.matchAll(HEX), ([match]) => Buffer.from(match.replace(/^0x/i, ''), 'hex')),
  ];
  return found
    .slice(0, MAX_DECODED)
    .map((bytes) => bytes.toString('utf8'))
    .filter(readsLikeWords);
}

function readsLikeWords(text: string): boolean {
  if (!/[a-z]{2,} [a-z]{2,}/i.test(text)) return false;
  const wordy = text.replace(/[^\p{L}\p{N} .,/~_:'"-]/gu, '').length;
  return wordy / text.length >= MIN_WORDY;
}

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (char) => {
    const base = char <= 'Z' ? 65 : 97;
    return String.fromCharCode(((char.charCodeAt(0) - base + 13) % 26) + base);
  });
}
