/** The trained word vectors, one row of small integers for each known term, and the embedding of texts with them. */

import type { TermShares } from './term-shares.ts';
import type { Vocabulary } from './terms.ts';

export interface WordVectors {
  readonly dimensions: number;
  readonly rows: ReadonlyMap<string, number>;
  readonly values: Int8Array;
  /** Scale of each row's integers. */
  readonly scales: Float32Array;
}

/** Adds a term's vector times `weight` to `sum`; doubles are twice as fast here. */
function addRow(vectors: WordVectors, row: number, weight: number, sum: Float64Array): void {
  const { dimensions, values, scales } = vectors;
  const factor = weight * (scales[row] as number);
  const at = row * dimensions;
  for (let k = 0; k < dimensions; k++) sum[k] = (sum[k] as number) + factor * (values[at + k] as number);
}

/** Writes `sum` normalized to length 1 to `into`; a zero vector stays zero. */
function writeUnit(sum: Float64Array, into: Float32Array | Float64Array): void {
  let square = 0;
  for (let k = 0; k < sum.length; k++) square += (sum[k] as number) ** 2;
  const factor = square > 0 ? 1 / Math.sqrt(square) : 0;
  for (let k = 0; k < sum.length; k++) into[k] = factor * (sum[k] as number);
}

/** Returns the dot product of two rows (of one row: its squared length). Integers are fast and exact. */
function rowProduct({ dimensions, values }: WordVectors, row: number, other: number): number {
  const a = row * dimensions;
  const b = other * dimensions;
  let sum = 0;
  for (let k = 0; k < dimensions; k++)
    sum = (sum + Math.imul(values[a + k] as number, values[b + k] as number)) | 0;
  return sum;
}

/** Four sums at once, because each addition to a single sum would wait for the previous one. */
export function dot(a: Float64Array, b: Float32Array, at: number): number {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let k = 0;
  for (const whole = a.length - 3; k < whole; k += 4) {
    s0 += (a[k] as number) * (b[at + k] as number);
    s1 += (a[k + 1] as number) * (b[at + k + 1] as number);
    s2 += (a[k + 2] as number) * (b[at + k + 2] as number);
    s3 += (a[k + 3] as number) * (b[at + k + 3] as number);
  }
  for (; k < a.length; k++) s0 += (a[k] as number) * (b[at + k] as number);
  return s0 + s1 + (s2 + s3);
}

// Texts: a weighted mean of word vectors, so that `folder` finds `directory`.

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
