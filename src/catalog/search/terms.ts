/** Converts words to terms: removes stop words, stems the rest, and assigns term ids per index. */

import { wordsOf } from './split-words.ts';
import { stem } from './stem.ts';

/** Words that do not distinguish tools, including phrases of asking: `show me`, `can you`. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the this that these those it its itself i me my mine myself we us our ours you your yours he she his her they them their ' +
    'is are was were be been being am do does did doing done have has had having will would shall should can could may might must ' +
    'to of in on at by for from with without within into onto over under between through during as than then so such if else ' +
    'and or but nor not no yes too very just also only both either neither each every any some all more most other another same own ' +
    'there here where when while which who whom whose what why how ' +
    'please want wants wanted need needs needed like let lets help tell give gives given ' +
    'e g i.e eg ie etc vs via per about out up down off again once ' +
    's t d ll m re ve don doesn isn aren wasn won cannot im id'
  ).split(' '),
);

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** A run of letters and digits; non-ASCII characters are handled when the run is split into words. */
const RUN = /[A-Za-z0-9\u0080-\uffff]+/g;
const NO_RUNS: readonly string[] = [];

/** Assigns term ids, per index: ids of two indexes are not comparable. */
export class Vocabulary {
  /** Terms of each run, cached: an index reads a megabyte of text with only a few thousand different runs. */
  readonly #byRun = new Map<string, readonly number[]>();
  /** Term of each word, -1 for stop words: `List` and `list` are two runs, but one word. */
  readonly #byWord = new Map<string, number>();
  readonly #byTerm = new Map<string, number>();
  readonly #terms: string[] = [];

  get size(): number {
    return this.#terms.length;
  }

  /** Returns the term of an id. */
  term(id: number): string {
    return this.#terms[id] ?? '';
  }

  /** Returns the ids of a text's terms in order; adds new terms. */
  add(text: string): number[] {
    const ids: number[] = [];
    const runs = text.match(RUN) ?? NO_RUNS;
    for (let r = 0; r < runs.length; r++) {
      const run = runs[r] as string;
      let known = this.#byRun.get(run);
      if (known === undefined) {
        known = this.#idsOf(run);
        this.#byRun.set(run, known);
      }
      for (let i = 0; i < known.length; i++) ids.push(known[i] as number);
    }
    return ids;
  }

  #idsOf(run: string): number[] {
    const ids: number[] = [];
    for (const word of wordsOf(run)) {
      let id = this.#byWord.get(word);
      if (id === undefined) {
        id = isStopWord(word) ? -1 : this.addTerm(stem(word));
        this.#byWord.set(word, id);
      }
      if (id >= 0) ids.push(id);
    }
    return ids;
  }

  addTerm(term: string): number {
    const known = this.#byTerm.get(term);
    if (known !== undefined) return known;
    this.#byTerm.set(term, this.#terms.length);
    return this.#terms.push(term) - 1;
  }

  idOf(term: string): number | undefined {
    return this.#byTerm.get(term);
  }
}

/** Returns the terms of a text in order, without an index. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const word of wordsOf(text)) if (!isStopWord(word)) terms.push(stem(word));
  return terms;
}
