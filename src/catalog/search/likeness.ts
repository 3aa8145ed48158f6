/** How alike the words of one query and the words of tools are, each pair computed once. */

import type { Embedding } from './embedding.ts';

/** Rows that there is room for at first; a query meets some hundred different words of tools. */
const FIRST_ROWS = 256;

export class Likeness {
  readonly #embedding: Embedding;
  readonly #terms: readonly number[];
  readonly #asked: readonly number[];
  /** Where the row of a tool's term begins. */
  readonly #rows = new Map<number, number>();
  #values: Float32Array;

  /** Of a query's terms and their rows among the word vectors. */
  constructor(terms: readonly number[], rows: readonly number[], embedding: Embedding) {
    this.#terms = terms;
    this.#asked = rows;
    this.#embedding = embedding;
    this.#values = new Float32Array(FIRST_ROWS * terms.length);
  }

  /** Row after row; a row has the likeness of a tool's term to each of the query's: 1 for the same word, 0 for unknown ones. */
  get values(): Float32Array {
    return this.#values;
  }

  /** Where in `values` the row of a tool's term begins. Ask for `values` after this: it may have grown. */
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
