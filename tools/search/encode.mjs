/** Writes what was learnt in the form that `src/catalog/search/search-model.ts` reads. */

/** Rows of floats as rows of small integers, each with what one step is worth. */
export function quantise(terms, floats, dimensions) {
  const values = new Int8Array(terms.length * dimensions);
  const scales = new Float32Array(terms.length);
  for (let row = 0; row < terms.length; row++) {
    let largest = 0;
    for (let k = 0; k < dimensions; k++) largest = Math.max(largest, Math.abs(floats[row * dimensions + k]));
    scales[row] = largest / 127 || 1;
    for (let k = 0; k < dimensions; k++)
      values[row * dimensions + k] = Math.round(floats[row * dimensions + k] / scales[row]);
  }
  return { dimensions, rows: new Map(terms.map((term, row) => [term, row])), values, scales };
}

export function encodeModel({ vectors, terms, features, weights, crowdedWeights, confidence, glossary }) {
  const termBytes = Buffer.from(terms.join('\n'));
  const header = Buffer.from(
    JSON.stringify({
      dimensions: vectors.dimensions,
      terms: terms.length,
      termBytes: termBytes.length,
      features,
      weights: weights.map(short),
      crowdedWeights: crowdedWeights.map(short),
      confidence: confidence.map(short),
      glossaryBytes: glossary.length,
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const before = Buffer.concat([length, header, termBytes]);
  const padding = Buffer.alloc((4 - (before.length % 4)) % 4);
  return Buffer.concat([before, padding, bytesOf(vectors.scales), bytesOf(vectors.values), glossary]);
}

function short(weight) {
  return Number(weight.toPrecision(6));
}

function bytesOf(array) {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}
