/** The learnt word vectors: one row of small integers for each known term. */

export interface WordVectors {
  readonly dimensions: number;
  readonly rows: ReadonlyMap<string, number>;
  readonly values: Int8Array;
  /** What one step of a row's integers is worth. */
  readonly scales: Float32Array;
}

/** Adds a term's vector, times `weight`, to `sum`, which is of doubles because that is twice as fast here. */
export function addRow(vectors: WordVectors, row: number, weight: number, sum: Float64Array): void {
  const { dimensions, values, scales } = vectors;
  const factor = weight * (scales[row] as number);
  const at = row * dimensions;
  for (let k = 0; k < dimensions; k++) sum[k] = (sum[k] as number) + factor * (values[at + k] as number);
}

/** Writes `sum` made one long to `into`; a sum of nothing stays nothing. */
export function writeUnit(sum: Float64Array, into: Float32Array): void {
  let square = 0;
  for (let k = 0; k < sum.length; k++) square += (sum[k] as number) ** 2;
  const factor = square > 0 ? 1 / Math.sqrt(square) : 0;
  for (let k = 0; k < sum.length; k++) into[k] = factor * (sum[k] as number);
}

export function dot(a: Float32Array, b: Float32Array, at = 0): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += (a[k] as number) * (b[at + k] as number);
  return sum;
}
