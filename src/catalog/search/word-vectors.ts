/** The learnt word vectors: one row of small integers for each known term. */

export interface WordVectors {
  readonly dimensions: number;
  readonly rows: ReadonlyMap<string, number>;
  readonly values: Int8Array;
  /** What one step of a row's integers is worth. */
  readonly scales: Float32Array;
}

/** Adds a term's vector, times `weight`, to `sum`. */
export function addRow(vectors: WordVectors, row: number, weight: number, sum: Float32Array): void {
  const { dimensions, values, scales } = vectors;
  const factor = weight * (scales[row] as number);
  const at = row * dimensions;
  for (let k = 0; k < dimensions; k++) sum[k] = (sum[k] as number) + factor * (values[at + k] as number);
}

/** Makes a vector one long; a vector of nothing stays nothing. */
export function normalise(vector: Float32Array): Float32Array {
  let square = 0;
  for (const x of vector) square += x * x;
  if (square > 0) {
    const factor = 1 / Math.sqrt(square);
    for (let k = 0; k < vector.length; k++) vector[k] = (vector[k] as number) * factor;
  }
  return vector;
}

export function dot(a: Float32Array, b: Float32Array, at = 0): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += (a[k] as number) * (b[at + k] as number);
  return sum;
}
