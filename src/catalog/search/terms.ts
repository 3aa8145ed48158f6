/** Converts words to terms: removes stop words, stems the rest, and assigns term ids per index. */

import { isParticle, joinedVerb } from './phrasal-verbs.ts';
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
/** The id of stop words; particles have the ids below it. */
const STOP_WORD = -1;
const PARTICLE_SLOTS = 16;

/** Assigns term ids, per index: ids of two indexes are not comparable. */
export class Vocabulary {
  /** Terms of each run, cached: an index reads a megabyte of text with only a few thousand different runs. */
  readonly #byRun = new Map<string, readonly number[]>();
  /** Term of each word: `List` and `list` are two runs, but one word. */
  readonly #byWord = new Map<string, number>();
  /** Each verb with a particle, as `verb * PARTICLE_SLOTS + particle`, with its joined term; STOP_WORD if they do not join. */
  readonly #joined = new Map<number, number>();
  readonly #byTerm = new Map<string, number>();
  readonly #terms: string[] = [];
  readonly #particles: string[] = [];

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
    let last = STOP_WORD;
    for (let r = 0; r < runs.length; r++) {
      const run = runs[r] as string;
      let known = this.#byRun.get(run);
      if (known === undefined) {
        known = this.#idsOf(run);
        this.#byRun.set(run, known);
      }
      for (let i = 0; i < known.length; i++) {
        const id = known[i] as number;
        if (id >= 0) ids.push(id);
        else if (id < STOP_WORD && last >= 0) {
          const joined = this.#joinedTerm(last, id);
          if (joined >= 0) ids.push(joined);
        }
        last = id;
      }
    }
    return ids;
  }

  #idsOf(run: string): number[] {
    return wordsOf(run).map((word) => {
      let id = this.#byWord.get(word);
      if (id === undefined) {
        if (!isStopWord(word)) id = this.addTerm(stem(word));
        else id = isParticle(word) ? STOP_WORD - 1 - this.#particle(word) : STOP_WORD;
        this.#byWord.set(word, id);
      }
      return id;
    });
  }

  #particle(word: string): number {
    const at = this.#particles.indexOf(word);
    return at >= 0 ? at : this.#particles.push(word) - 1;
  }

  /** Returns the term of a verb and the particle after it; STOP_WORD if they do not join. */
  #joinedTerm(verb: number, particle: number): number {
    const slot = STOP_WORD - 1 - particle;
    const key = verb * PARTICLE_SLOTS + slot;
    let id = this.#joined.get(key);
    if (id === undefined) {
      const term = joinedVerb(this.term(verb), this.#particles[slot] as string);
      id = term === undefined ? STOP_WORD : this.addTerm(term);
      this.#joined.set(key, id);
    }
    return id;
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
  let last: string | undefined;
  for (const word of wordsOf(text)) {
    if (!isStopWord(word)) {
      last = stem(word);
      terms.push(last);
      continue;
    }
    const joined = last !== undefined && isParticle(word) ? joinedVerb(last, word) : undefined;
    if (joined !== undefined) terms.push(joined);
    last = undefined;
  }
  return terms;
}
