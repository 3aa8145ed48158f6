/** Computes the similarity of a query's terms and tools' terms, each pair once. */

import type { Embedding } from './word-vectors.ts';

/** Initial capacity in rows; a query meets some hundred different terms of tools. */
const FIRST_ROWS = 256;

export class Similarity {
  readonly #embedding: Embedding;
  readonly #terms: readonly number[];
  readonly #asked: readonly number[];
  /** Offset of the row of a tool's term. */
  readonly #rows = new Map<number, number>();
  #values: Float32Array;

  /** Takes a query's terms and their rows in the word vectors. */
  constructor(terms: readonly number[], rows: readonly number[], embedding: Embedding) {
    this.#terms = terms;
    this.#asked = rows;
    this.#embedding = embedding;
    this.#values = new Float32Array(FIRST_ROWS * terms.length);
  }

  /** One row per tool term: its similarity to each of the query's terms; 1 for the same term, 0 for unknown ones. */
  get values(): Float32Array {
    return this.#values;
  }

  /** Returns the offset in `values` of a tool's term. Read `values` after this call, since it may be reallocated. */
  row(term: number): number {
    const known = this.#rows.get(term);
    if (known !== undefined) return known;
    const at = this.#rows.size * this.#terms.length;
    this.#rows.set(term, at);
    if (at + this.#terms.length > this.#values.length) this.#grow();
    this.#compute(term, at);
    return at;
  }

  #grow(): void {
    const larger = new Float32Array(2 * this.#values.length);
    larger.set(this.#values);
    this.#values = larger;
  }

  #compute(term: number, at: number): void {
    const row = this.#embedding.row(term);
    for (let i = 0; i < this.#terms.length; i++) {
      const asked = this.#asked[i] as number;
      if (this.#terms[i] === term) this.#values[at + i] = 1;
      else if (row >= 0 && asked >= 0) this.#values[at + i] = Math.max(0, this.#embedding.cosine(row, asked));
    }
  }
}
