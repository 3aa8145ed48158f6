/** The trained word vectors: one row of small integers for each known term. */

export interface WordVectors {
  readonly dimensions: number;
  readonly rows: ReadonlyMap<string, number>;
  readonly values: Int8Array;
  /** Scale of each row's integers. */
  readonly scales: Float32Array;
}

/** Adds a term's vector times `weight` to `sum`; doubles are twice as fast here. */
export function addRow(vectors: WordVectors, row: number, weight: number, sum: Float64Array): void {
  const { dimensions, values, scales } = vectors;
  const factor = weight * (scales[row] as number);
  const at = row * dimensions;
  for (let k = 0; k < dimensions; k++) sum[k] = (sum[k] as number) + factor * (values[at + k] as number);
}

/** Writes `sum` normalized to length 1 to `into`; a zero vector stays zero. */
export function writeUnit(sum: Float64Array, into: Float32Array | Float64Array): void {
  let square = 0;
  for (let k = 0; k < sum.length; k++) square += (sum[k] as number) ** 2;
  const factor = square > 0 ? 1 / Math.sqrt(square) : 0;
  for (let k = 0; k < sum.length; k++) into[k] = factor * (sum[k] as number);
}

/** Returns the dot product of two rows (of one row: its squared length). Integers are fast and exact. */
export function rowProduct({ dimensions, values }: WordVectors, row: number, other: number): number {
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
