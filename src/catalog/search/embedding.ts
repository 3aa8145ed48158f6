/** Texts as vectors: a weighted mean of word vectors, so that `folder` finds `directory`. */

import type { TermShares } from './term-shares.ts';
import type { Vocabulary } from './terms.ts';
import { addRow, rowProduct, type WordVectors, writeUnit } from './word-vectors.ts';

/** The word vectors as one index sees them: by the numbers that its vocabulary gave to terms. */
export class Embedding {
  readonly #vectors: WordVectors;
  /** Row of each term of the vocabulary, -1 for none. */
  readonly #rows: Int32Array;
  /** Where a vector is added up. */
  readonly #sum: Float64Array;
  /** How long each row is; 0 while nobody asked. */
  readonly #lengths: Float64Array;

  constructor(vectors: WordVectors, vocabulary: Vocabulary) {
    this.#vectors = vectors;
    this.#sum = new Float64Array(vectors.dimensions);
    this.#lengths = new Float64Array(vectors.scales.length);
    this.#rows = new Int32Array(vocabulary.size);
    for (let id = 0; id < vocabulary.size; id++) this.#rows[id] = this.rowOf(vocabulary.term(id));
  }

  get dimensions(): number {
    return this.#vectors.dimensions;
  }

  /** Writes the unit vector of a tool's terms, by their shares, to `into`. */
  embed({ terms, shares, size }: TermShares, into: Float32Array): void {
    const sum = this.#sum.fill(0);
    for (let i = 0; i < size; i++) {
      const row = this.#rows[terms[i] as number] as number;
      if (row >= 0) addRow(this.#vectors, row, shares[i] as number, sum);
    }
    writeUnit(sum, into);
  }

  /** The unit vector of a query's terms, given by their rows. */
  embedQuery(rows: readonly number[], shares: readonly number[]): Float64Array {
    const vector = new Float64Array(this.dimensions);
    const sum = this.#sum.fill(0);
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      if (row >= 0) addRow(this.#vectors, row, shares[i] as number, sum);
    }
    writeUnit(sum, vector);
    return vector;
  }

  /** The row of any term, which no tool need have; -1 for none. */
  rowOf(term: string): number {
    return this.#vectors.rows.get(term) ?? -1;
  }

  /** The row of a term of the vocabulary; -1 for none. */
  row(id: number): number {
    return this.#rows[id] as number;
  }

  /** The cosine between two rows. */
  cosine(row: number, other: number): number {
    const lengths = this.#length(row) * this.#length(other);
    return lengths > 0 ? rowProduct(this.#vectors, row, other) / lengths : 0;
  }

  #length(row: number): number {
    let length = this.#lengths[row] as number;
    if (length === 0) {
      length = Math.sqrt(rowProduct(this.#vectors, row, row));
      this.#lengths[row] = length;
    }
    return length;
  }
}
