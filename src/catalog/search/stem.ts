/** The English stemmer (Porter's algorithm): `creating`, `created` and `creates` become one term. */

/** Words shorter than this carry no suffix worth taking off. */
const MIN_STEM_LENGTH = 3;

const STEP_2: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['entli', 'ent'],
  ['ousli', 'ous'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['ator', 'ate'],
  ['eli', 'e'],
];

const STEP_3: readonly (readonly [string, string])[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];

const STEP_4: readonly string[] = [
  'ement',
  'ance',
  'ence',
  'able',
  'ible',
  'ment',
  'ant',
  'ent',
  'ism',
  'ate',
  'iti',
  'ous',
  'ive',
  'ize',
  'al',
  'er',
  'ic',
  'ou',
];

const ASCII_WORD = /^[a-z]+$/;

/** The stem of a lower-case word; words of other alphabets and words with digits stay as they are. */
export function stem(word: string): string {
  if (word.length < MIN_STEM_LENGTH || !ASCII_WORD.test(word)) return word;
  let w = dropPlural(word);
  w = dropPastAndGerund(w);
  if (w.endsWith('y') && hasVowel(w.slice(0, -1))) w = `${w.slice(0, -1)}i`;
  w = replaceSuffix(w, STEP_2);
  w = replaceSuffix(w, STEP_3);
  w = dropSuffix(w);
  if (w.endsWith('e')) {
    const base = w.slice(0, -1);
    const m = measure(base);
    if (m > 1 || (m === 1 && !endsShort(base))) w = base;
  }
  if (w.endsWith('ll') && measure(w.slice(0, -1)) > 1) w = w.slice(0, -1);
  return w;
}

function dropPlural(w: string): string {
  if (!w.endsWith('s')) return w;
  if (w.endsWith('sses') || w.endsWith('ies')) return w.slice(0, -2);
  return w.endsWith('ss') ? w : w.slice(0, -1);
}

function dropPastAndGerund(w: string): string {
  if (w.endsWith('eed')) return measure(w.slice(0, -3)) > 0 ? w.slice(0, -1) : w;
  const cut = w.endsWith('ed') ? 2 : w.endsWith('ing') ? 3 : 0;
  if (cut === 0) return w;
  const base = w.slice(0, -cut);
  if (!hasVowel(base)) return w;
  if (base.endsWith('at') || base.endsWith('bl') || base.endsWith('iz')) return `${base}e`;
  if (endsDouble(base) && !/[lsz]$/.test(base)) return base.slice(0, -1);
  return measure(base) === 1 && endsShort(base) ? `${base}e` : base;
}

function replaceSuffix(w: string, table: readonly (readonly [string, string])[]): string {
  for (const [suffix, replacement] of table) {
    if (!w.endsWith(suffix)) continue;
    const base = w.slice(0, -suffix.length);
    return measure(base) > 0 ? base + replacement : w;
  }
  return w;
}

function dropSuffix(w: string): string {
  for (const suffix of STEP_4) {
    if (!w.endsWith(suffix)) continue;
    const base = w.slice(0, -suffix.length);
    return measure(base) > 1 ? base : w;
  }
  if (!w.endsWith('ion')) return w;
  const base = w.slice(0, -3);
  return measure(base) > 1 && /[st]$/.test(base) ? base : w;
}

function isConsonant(w: string, i: number): boolean {
  const c = w.charCodeAt(i);
  // a e i o u
  if (c === 97 || c === 101 || c === 105 || c === 111 || c === 117) return false;
  if (c === 121) return i === 0 || !isConsonant(w, i - 1);
  return true;
}

function hasVowel(w: string): boolean {
  for (let i = 0; i < w.length; i++) if (!isConsonant(w, i)) return true;
  return false;
}

/** How many times a vowel is followed by a consonant: Porter's m. */
function measure(w: string): number {
  let m = 0;
  let inVowel = false;
  for (let i = 0; i < w.length; i++) {
    if (isConsonant(w, i)) {
      if (inVowel) m++;
      inVowel = false;
    } else inVowel = true;
  }
  return m;
}

function endsDouble(w: string): boolean {
  const n = w.length;
  return n > 1 && w[n - 1] === w[n - 2] && isConsonant(w, n - 1);
}

/** Consonant, vowel, consonant other than w, x, y: `hop`, `fil`. */
function endsShort(w: string): boolean {
  const n = w.length;
  return (
    n > 2 && isConsonant(w, n - 1) && !isConsonant(w, n - 2) && isConsonant(w, n - 3) && !/[wxy]$/.test(w)
  );
}
