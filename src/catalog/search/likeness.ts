/** How alike the words of one query and the words of tools are, each pair computed once. */

import type { Embedding } from './embedding.ts';
import { dot } from './word-vectors.ts';

export class Likeness {
  readonly #embedding: Embedding;
  readonly #terms: readonly number[];
  readonly #units: readonly (Float32Array | undefined)[];
  readonly #rows = new Map<number, Float32Array>();

  /** Of a query's terms and their unit vectors. */
  constructor(terms: readonly number[], units: readonly (Float32Array | undefined)[], embedding: Embedding) {
    this.#terms = terms;
    this.#units = units;
    this.#embedding = embedding;
  }

  /** The likeness of a tool's term to each of the query's, from 0 to 1; 1 for the same word, 0 for unknown ones. */
  row(term: number): Float32Array {
    let row = this.#rows.get(term);
    if (!row) {
      row = this.#compute(term);
      this.#rows.set(term, row);
    }
    return row;
  }

  #compute(term: number): Float32Array {
    const row = new Float32Array(this.#terms.length);
    const unit = this.#embedding.unit(term);
    for (let i = 0; i < row.length; i++) {
      const asked = this.#units[i];
      if (this.#terms[i] === term) row[i] = 1;
      else if (asked && unit) row[i] = Math.max(0, dot(asked, unit));
    }
    return row;
  }
}
