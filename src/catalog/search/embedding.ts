/** Embeds texts as a weighted mean of word vectors, so that `folder` finds `directory`. */

import type { TermShares } from './term-shares.ts';
import type { Vocabulary } from './terms.ts';
import { addRow, rowProduct, type WordVectors, writeUnit } from './word-vectors.ts';

/** The word vectors of one index, addressed by term ids of its vocabulary. */
export class Embedding {
  readonly #vectors: WordVectors;
  /** Row of each term of the vocabulary, -1 for none. */
  readonly #rows: Int32Array;
  /** Reusable buffer for sums. */
  readonly #sum: Float64Array;
  /** Length of each row, cached; 0 if not computed yet. */
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

  /** Writes the unit vector of a tool's terms, weighted by their shares, to `into`. */
  embed({ terms, shares, size }: TermShares, into: Float32Array): void {
    const sum = this.#sum.fill(0);
    for (let i = 0; i < size; i++) {
      const row = this.#rows[terms[i] as number] as number;
      if (row >= 0) addRow(this.#vectors, row, shares[i] as number, sum);
    }
    writeUnit(sum, into);
  }

  /** Returns the unit vector of a query's terms, given by their rows. */
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

  /** Returns the row of any term, even if no tool has it; -1 for none. */
  rowOf(term: string): number {
    return this.#vectors.rows.get(term) ?? -1;
  }

  /** Returns the row of a term of the vocabulary; -1 for none. */
  row(id: number): number {
    return this.#rows[id] as number;
  }

  /** Returns the cosine similarity of two rows. */
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
