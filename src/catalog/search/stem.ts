/** The English stemmer (Porter's algorithm): `creating`, `created` and `creates` become one term. */

/** Words shorter than this carry no suffix worth taking off. */
const MIN_STEM_LENGTH = 3;

// Patterns, not loops over characters: an index stems thousands of words before the engine has warmed up.
// A stem is measured in pairs of vowels and consonants; y is a vowel after a consonant.
const ONE_PAIR = /^(?:[^aeiou][^aeiouy]*)?[aeiouy][aeiou]*[^aeiou][^aeiouy]*/;
const JUST_ONE_PAIR = /^(?:[^aeiou][^aeiouy]*)?[aeiouy][aeiou]*[^aeiou][^aeiouy]*(?:[aeiouy][aeiou]*)?$/;
const TWO_PAIRS = /^(?:[^aeiou][^aeiouy]*)?(?:[aeiouy][aeiou]*[^aeiou][^aeiouy]*){2}/;
const HAS_VOWEL = /^(?:[^aeiou][^aeiouy]*)?[aeiouy]/;
/** Consonant, vowel, consonant other than w, x, y: `hop`, `fil`. */
const ENDS_SHORT = /^[^aeiou][^aeiouy]*[aeiouy][^aeiouwxy]$/;
const ENDS_DOUBLE = /([^aeioulsz])\1$/;

const STEP_2 =
  /^(.+?)(ational|tional|enci|anci|izer|bli|alli|entli|eli|ousli|ization|ation|ator|alism|iveness|fulness|ousness|aliti|iviti|biliti)$/;
const STEP_2_TO: Readonly<Record<string, string>> = {
  ational: 'ate',
  tional: 'tion',
  enci: 'ence',
  anci: 'ance',
  izer: 'ize',
  bli: 'ble',
  alli: 'al',
  entli: 'ent',
  eli: 'e',
  ousli: 'ous',
  ization: 'ize',
  ation: 'ate',
  ator: 'ate',
  alism: 'al',
  iveness: 'ive',
  fulness: 'ful',
  ousness: 'ous',
  aliti: 'al',
  iviti: 'ive',
  biliti: 'ble',
};
const STEP_3 = /^(.+?)(icate|ative|alize|iciti|ical|ful|ness)$/;
const STEP_3_TO: Readonly<Record<string, string>> = {
  icate: 'ic',
  ative: '',
  alize: 'al',
  iciti: 'ic',
  ical: 'ic',
  ful: '',
  ness: '',
};
const STEP_4 =
  /^(.+?)(?:al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ou|ism|ate|iti|ous|ive|ize|(?<=[st])ion)$/;

const ASCII_WORD = /^[a-z]+$/;

/** The stem of a lower-case word; words of other alphabets and words with digits stay as they are. */
export function stem(word: string): string {
  if (word.length < MIN_STEM_LENGTH || !ASCII_WORD.test(word)) return word;
  let w = dropPastAndGerund(dropPlural(word));
  if (w.endsWith('y') && HAS_VOWEL.test(w.slice(0, -1))) w = `${w.slice(0, -1)}i`;
  w = replaceSuffix(w, STEP_2, STEP_2_TO);
  w = replaceSuffix(w, STEP_3, STEP_3_TO);
  const base = STEP_4.exec(w)?.[1];
  if (base !== undefined && TWO_PAIRS.test(base)) w = base;
  return dropFinal(w);
}

function dropPlural(w: string): string {
  if (!w.endsWith('s') || w.endsWith('ss')) return w;
  return w.endsWith('sses') || w.endsWith('ies') ? w.slice(0, -2) : w.slice(0, -1);
}

function dropPastAndGerund(w: string): string {
  if (w.endsWith('eed')) return ONE_PAIR.test(w.slice(0, -3)) ? w.slice(0, -1) : w;
  const cut = w.endsWith('ed') ? 2 : w.endsWith('ing') ? 3 : 0;
  if (cut === 0) return w;
  const base = w.slice(0, -cut);
  if (!HAS_VOWEL.test(base)) return w;
  if (base.endsWith('at') || base.endsWith('bl') || base.endsWith('iz')) return `${base}e`;
  if (ENDS_DOUBLE.test(base)) return base.slice(0, -1);
  return ENDS_SHORT.test(base) ? `${base}e` : base;
}

function replaceSuffix(w: string, suffixes: RegExp, to: Readonly<Record<string, string>>): string {
  const found = suffixes.exec(w);
  if (!found) return w;
  const [, base = '', suffix = ''] = found;
  return ONE_PAIR.test(base) ? base + (to[suffix] ?? '') : w;
}

/** A final e, and then one of two final l. */
function dropFinal(word: string): string {
  const base = word.slice(0, -1);
  const silent =
    word.endsWith('e') && (TWO_PAIRS.test(base) || (JUST_ONE_PAIR.test(base) && !ENDS_SHORT.test(base)));
  const w = silent ? base : word;
  return w.endsWith('ll') && TWO_PAIRS.test(w) ? w.slice(0, -1) : w;
}
