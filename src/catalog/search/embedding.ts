/** Texts as vectors: a weighted mean of word vectors, so that `folder` finds `directory`. */

import { FIELDS, type Field } from './fields.ts';
import type { Vocabulary } from './terms.ts';
import { addRow, type WordVectors, writeUnit } from './word-vectors.ts';

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
  /** Row of each term of the vocabulary, -1 for none. */
  readonly #rows: Int32Array;
  /** Where a vector is added up. */
  readonly #sum: Float64Array;
  readonly #units = new Map<number, Float32Array | undefined>();

  constructor(vectors: WordVectors, vocabulary: Vocabulary) {
    this.#vectors = vectors;
    this.#vocabulary = vocabulary;
    this.#sum = new Float64Array(vectors.dimensions);
    this.#rows = Int32Array.from({ length: vocabulary.size }, (_x, id) => this.#rowOf(vocabulary.term(id)));
  }

  get dimensions(): number {
    return this.#vectors.dimensions;
  }

  /** Writes the unit vector of a tool's terms, by their shares, to `into`. */
  embed(shares: ReadonlyMap<number, number>, into: Float32Array): void {
    const sum = this.#sum.fill(0);
    for (const [id, share] of shares) {
      const row = this.#rows[id] as number;
      if (row >= 0) addRow(this.#vectors, row, share, sum);
    }
    writeUnit(sum, into);
  }

  /** The unit vector of a query's terms, which no tool need have. */
  embedQuery(terms: readonly string[], shares: readonly number[]): Float32Array {
    const vector = new Float32Array(this.dimensions);
    const sum = this.#sum.fill(0);
    terms.forEach((term, i) => {
      const row = this.#rowOf(term);
      if (row >= 0) addRow(this.#vectors, row, shares[i] as number, sum);
    });
    writeUnit(sum, vector);
    return vector;
  }

  /** One term's unit vector, if the term is known. */
  unitOf(term: string): Float32Array | undefined {
    return this.#rowOf(term) < 0 ? undefined : this.embedQuery([term], [1]);
  }

  /** The same for a term of the vocabulary, remembered. */
  unit(id: number): Float32Array | undefined {
    if (!this.#units.has(id)) this.#units.set(id, this.unitOf(this.#vocabulary.term(id)));
    return this.#units.get(id);
  }

  #rowOf(term: string): number {
    return this.#vectors.rows.get(term) ?? -1;
  }
}
