/** Finds the object of a query (`redis caches` in `show me the redis caches of my account`). */

import { stem } from './stem.ts';
import { isStopWord } from './terms.ts';
import { actionOf } from './verbs.ts';

export interface Head {
  /** The object's words, without stop words. */
  readonly words: readonly string[];
  /** True if the object is plural. */
  readonly plural: boolean;
}

/** Words that end a noun phrase. */
const BREAKERS: ReadonlySet<string> = new Set(
  (
    'in of from for with on at to by within under into onto that which where who whose when if using named called about ' +
    'via as and or then so because without inside between across through during after before per'
  ).split(' '),
);
/** Nouns that only refer to the real object: `the details of …`. */
const POINTERS: ReadonlySet<string> = new Set(
  'detail details information info list status number name names content contents overview properties metadata set type types'.split(
    ' ',
  ),
);
const MAX_HEAD_WORDS = 5;

export function headOf(words: readonly string[]): Head {
  const verb = words.findIndex((word) => actionOf(stem(word)) !== undefined);
  let phrase: string[] = [];
  for (const word of words.slice(verb + 1)) {
    const ends = BREAKERS.has(word) || phrase.length >= MAX_HEAD_WORDS;
    if (ends && phrase.some((w) => !POINTERS.has(w))) break;
    if (ends) phrase = [];
    else if (!isStopWord(word)) phrase.push(word);
  }
  return { words: phrase, plural: isPlural(phrase.at(-1) ?? '') };
}

function isPlural(word: string): boolean {
  return (
    word.length > 3 &&
    word.endsWith('s') &&
    !word.endsWith('ss') &&
    !word.endsWith('us') &&
    !word.endsWith('is')
  );
}
