/** Texts as vectors: a weighted mean of word vectors, so that `folder` finds `directory`. */

import { FIELDS, type Field } from './fields.ts';
import type { Vocabulary } from './terms.ts';
import { addRow, normalise, type WordVectors } from './word-vectors.ts';

/** What a field's words weigh in the vector of a tool. The longer the field, the less each of its words. */
const FIELD_WEIGHT: Readonly<Record<Field, number>> = {
  name: 1,
  server: 0.4,
  description: 1,
  parameters: 0.3,
  parameterTexts: 0.3,
};

/** Each term of a tool with its share in the tool's vector. */
export function termShares<Term>(fields: readonly (readonly Term[])[]): Map<Term, number> {
  const shares = new Map<Term, number>();
  for (let f = 0; f < FIELDS.length; f++) {
    const unique = new Set(fields[f]);
    const share = FIELD_WEIGHT[FIELDS[f] as Field] / Math.sqrt(unique.size);
    for (const term of unique) shares.set(term, (shares.get(term) ?? 0) + share);
  }
  return shares;
}

/** The word vectors as one index sees them: by the numbers that its vocabulary gave to terms. */
export class Embedding {
  readonly #vectors: WordVectors;
  readonly #vocabulary: Vocabulary;
  /** Row of each term: -1 for none, -2 for not looked up yet. */
  #rows: Int32Array;
  readonly #units = new Map<number, Float32Array>();

  constructor(vectors: WordVectors, vocabulary: Vocabulary) {
    this.#vectors = vectors;
    this.#vocabulary = vocabulary;
    this.#rows = new Int32Array(vocabulary.size + 1024).fill(-2);
  }

  get dimensions(): number {
    return this.#vectors.dimensions;
  }

  has(term: number): boolean {
    return this.#row(term) >= 0;
  }

  /** The unit vector of terms with their weights, written to `into`. */
  embed(
    terms: Iterable<readonly [number, number]>,
    into: Float32Array = new Float32Array(this.dimensions),
  ): Float32Array {
    for (const [term, weight] of terms) {
      const row = this.#row(term);
      if (row >= 0) addRow(this.#vectors, row, weight, into);
    }
    return normalise(into);
  }

  /** One term's unit vector. */
  unit(term: number): Float32Array {
    let unit = this.#units.get(term);
    if (!unit) {
      unit = this.embed([[term, 1]]);
      this.#units.set(term, unit);
    }
    return unit;
  }

  #row(term: number): number {
    if (term >= this.#rows.length) {
      const grown = new Int32Array(2 * term).fill(-2);
      grown.set(this.#rows);
      this.#rows = grown;
    }
    let row = this.#rows[term] as number;
    if (row === -2) {
      row = this.#vectors.rows.get(this.#vocabulary.term(term)) ?? -1;
      this.#rows[term] = row;
    }
    return row;
  }
}
