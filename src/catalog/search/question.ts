/** A query prepared for ranking: weighted terms, a vector, an action and its object. */

import type { Bm25f } from './bm25f.ts';
import { oppositesOf } from './opposites.ts';
import { separatedVerbs } from './phrasal-verbs.ts';
import { PAIR } from './search-profile.ts';
import { wordsOf } from './split-words.ts';
import { stem } from './stem.ts';
import { isStopWord, termsOf, type Vocabulary } from './terms.ts';
import { type Action, actionOf, firstAction } from './verbs.ts';
import type { Embedding } from './word-vectors.ts';

/** A query with more different terms is a whole task, and more terms only add noise. */
const MAX_TERMS = 64;
/** Weight of a word that occurs only in a quoted name, placeholder, path or URL: it names an object, not a tool. */
const QUOTED_SHARE = 0.4;

export interface Question {
  /** The ids of its different terms; terms that no tool has get ids past the vocabulary. */
  readonly terms: readonly number[];
  /** The same terms as words. */
  readonly words: readonly string[];
  /** Each term's row in the word vectors, -1 for none. */
  readonly rows: readonly number[];
  /** Weight of each term before its rarity: 1, or less inside quotes. */
  readonly shares: readonly number[];
  /** Rarity of each term among the tools times its share, summing to 1. */
  readonly weights: readonly number[];
  readonly vector: Float64Array;
  /** Neighbouring terms, as `first * PAIR + second`. */
  readonly pairs: readonly number[];
  readonly action: Action | undefined;
  /** Positions in `terms` of the object of the action. */
  readonly head: readonly number[];
  /** True if it asks for several things (`list my caches`). */
  readonly plural: boolean;
  /** Terms that have opposites among the tools' terms. */
  readonly opposites: readonly { readonly term: number; readonly others: readonly number[] }[];
}

const QUOTED =
  /<[^<>]{1,80}>|"[^"]{1,200}"|“[^”]{1,200}”|`[^`]{1,200}`|(?<=^|[\s(,:])'[^'\n]{1,80}'(?=$|[\s).,:;?!])|\bhttps?:\/\/\S+|(?<=^|\s)[~.]?\/[\w./-]+/giu;
const WHOLE: ReadonlySet<string> = new Set(['all', 'every', 'each', 'everything']);

export function questionOf(
  text: string,
  vocabulary: Vocabulary,
  bm25f: Bm25f,
  embedding: Embedding,
): Question {
  const plain = wordsOf(text.replaceAll(QUOTED, ' , '));
  const plainStems = new Set([...plain.map((word) => stem(word)), ...termsOf(plain.join(' '))]);
  const sequence = termsOf(text);
  const words = [...new Set([...sequence, ...separatedVerbs(plain)])].slice(0, MAX_TERMS);
  const ids = new Map(words.map((word, i) => [word, vocabulary.idOf(word) ?? vocabulary.size + i]));
  const idOf = (word: string): number => ids.get(word) ?? -1;
  const terms = words.map(idOf);
  const shares = words.map((word) => (plainStems.has(word) ? 1 : QUOTED_SHARE));
  const rarities = terms.map((term, i) => bm25f.idf(term) * (shares[i] as number));
  const total = rarities.reduce((sum, x) => sum + x, 0);
  const rows = words.map((word) => embedding.rowOf(word));
  const head = headOf(plain);
  return {
    terms,
    words,
    rows,
    shares,
    weights: rarities.map((x) => x / total),
    vector: embedding.embedQuery(rows, shares),
    pairs: sequence.slice(1).map((word, i) => idOf(sequence[i] as string) * PAIR + idOf(word)),
    action: firstAction(plainStems),
    head: head.words.map((word) => terms.indexOf(idOf(stem(word)))).filter((i) => i >= 0),
    plural: head.plural || plain.some((word) => WHOLE.has(word)),
    opposites: words.flatMap((word) => {
      const others = oppositesOf(word).flatMap((other) => vocabulary.idOf(other) ?? []);
      return others.length === 0 ? [] : [{ term: idOf(word), others }];
    }),
  };
}

// Finds the object of a query (`redis caches` in `show me the redis caches of my account`).

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

function headOf(words: readonly string[]): Head {
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
