/** The English stemmer (Porter's algorithm): `creating`, `created` and `creates` become one term. */

/** Shorter words have no suffix to remove. */
const MIN_STEM_LENGTH = 3;

// Patterns instead of loops over characters: an index stems thousands of words before the JIT has warmed up.
// A stem is measured in vowel-consonant pairs; y is a vowel after a consonant.
const ONE_PAIR = /^(?:[^aeiou][^aeiouy]*)?[aeiouy][aeiou]*[^aeiou][^aeiouy]*/;
const JUST_ONE_PAIR = /^(?:[^aeiou][^aeiouy]*)?[aeiouy][aeiou]*[^aeiou][^aeiouy]*(?:[aeiouy][aeiou]*)?$/;
const TWO_PAIRS = /^(?:[^aeiou][^aeiouy]*)?(?:[aeiouy][aeiou]*[^aeiou][^aeiouy]*){2}/;
const HAS_VOWEL = /^(?:[^aeiou][^aeiouy]*)?[aeiouy]/;
/** Consonant, vowel, consonant other than w, x, y: `hop`, `fil`. */
const ENDS_SHORT = /^[^aeiou][^aeiouy]*[aeiouy][^aeiouwxy]$/;
const ENDS_DOUBLE = /([^aeioulsz])\1$/;

/** Endings and their replacements, by last letter, longest first. */
type Endings = Readonly<Record<string, readonly (readonly [ending: string, to: string])[]>>;

const STEP_2: Endings = {
  l: [
    ['ational', 'ate'],
    ['tional', 'tion'],
  ],
  i: [
    ['biliti', 'ble'],
    ['entli', 'ent'],
    ['ousli', 'ous'],
    ['aliti', 'al'],
    ['iviti', 'ive'],
    ['enci', 'ence'],
    ['anci', 'ance'],
    ['alli', 'al'],
    ['bli', 'ble'],
    ['eli', 'e'],
  ],
  r: [
    ['izer', 'ize'],
    ['ator', 'ate'],
  ],
  n: [
    ['ization', 'ize'],
    ['ation', 'ate'],
  ],
  m: [['alism', 'al']],
  s: [
    ['iveness', 'ive'],
    ['fulness', 'ful'],
    ['ousness', 'ous'],
  ],
};
const STEP_3: Endings = {
  e: [
    ['icate', 'ic'],
    ['ative', ''],
    ['alize', 'al'],
  ],
  i: [['iciti', 'ic']],
  l: [
    ['ical', 'ic'],
    ['ful', ''],
  ],
  s: [['ness', '']],
};
const STEP_4: Endings = {
  l: [['al', '']],
  e: [
    ['ance', ''],
    ['ence', ''],
    ['able', ''],
    ['ible', ''],
    ['ate', ''],
    ['ive', ''],
    ['ize', ''],
  ],
  r: [['er', '']],
  c: [['ic', '']],
  t: [
    ['ement', ''],
    ['ment', ''],
    ['ant', ''],
    ['ent', ''],
  ],
  u: [['ou', '']],
  m: [['ism', '']],
  i: [['iti', '']],
  s: [['ous', '']],
  n: [['ion', '']],
};
/** `ion` is removed only after these letters. */
const BEFORE_ION = /[st]$/;

const ASCII_WORD = /^[a-z]+$/;

/** Returns the stem of a lower-case word; words of other alphabets or with digits are unchanged. */
export function stem(word: string): string {
  if (word.length < MIN_STEM_LENGTH || !ASCII_WORD.test(word)) return word;
  let w = dropPastAndGerund(dropPlural(word));
  if (w.endsWith('y') && HAS_VOWEL.test(w.slice(0, -1))) w = `${w.slice(0, -1)}i`;
  w = replaceEnding(w, STEP_2, ONE_PAIR);
  w = replaceEnding(w, STEP_3, ONE_PAIR);
  w = replaceEnding(w, STEP_4, TWO_PAIRS);
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

/** Replaces the longest matching ending if the remaining stem is long enough. */
function replaceEnding(w: string, endings: Endings, longEnough: RegExp): string {
  const candidates = endings[w.charAt(w.length - 1)];
  if (candidates === undefined) return w;
  for (let i = 0; i < candidates.length; i++) {
    const [ending, to] = candidates[i] as (typeof candidates)[number];
    if (w.length <= ending.length || !w.endsWith(ending)) continue;
    const base = w.slice(0, -ending.length);
    if (ending === 'ion' && !BEFORE_ION.test(base)) return w;
    return longEnough.test(base) ? base + to : w;
  }
  return w;
}

/** Removes a final e, then one of two final l. */
function dropFinal(word: string): string {
  const base = word.slice(0, -1);
  const silent =
    word.endsWith('e') && (TWO_PAIRS.test(base) || (JUST_ONE_PAIR.test(base) && !ENDS_SHORT.test(base)));
  const w = silent ? base : word;
  return w.endsWith('ll') && TWO_PAIRS.test(w) ? w.slice(0, -1) : w;
}
