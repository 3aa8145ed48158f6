import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONFIDENCE_INPUTS } from '../../../src/catalog/search/confidence.ts';
import { FEATURES } from '../../../src/catalog/search/features.ts';
import { decodeModel, weightsFor } from '../../../src/catalog/search/search-model.ts';

const ASSET = new URL('../../../assets/tool-search.bin', import.meta.url);
/** The limit on the ranker's assets in the package. */
const MAX_ASSET_BYTES = 6_000_000;

describe('CAT-8: the model of tool search', () => {
  it('fits into the package', () => {
    expect(readFileSync(ASSET).length).toBeLessThanOrEqual(MAX_ASSET_BYTES);
  });

  it('is whole: a sane vector for every term, a finite weight for every feature', () => {
    const { vectors, weights, crowdedWeights, confidence } = decodeModel(readFileSync(ASSET));
    expect(vectors.values).toHaveLength(vectors.rows.size * vectors.dimensions);
    expect(vectors.scales).toHaveLength(vectors.rows.size);
    expect(vectors.scales.every((scale) => scale > 0 && scale < 1)).toBe(true);
    expect([weights.length, crowdedWeights.length]).toEqual([FEATURES.length, FEATURES.length]);
    expect(confidence).toHaveLength(CONFIDENCE_INPUTS.length);
    expect([...weights, ...crowdedWeights, ...confidence].every(Number.isFinite)).toBe(true);
  });

  it('reads the same from any offset of any buffer', () => {
    const bytes = readFileSync(ASSET);
    const shifted = new Uint8Array(bytes.length + 3);
    shifted.set(bytes, 3);
    expect(decodeModel(shifted.subarray(3)).vectors.scales).toEqual(
      decodeModel(readFileSync(ASSET)).vectors.scales,
    );
  });

  it('a file made for other features is refused', () => {
    const text = JSON.stringify({ features: ['other'] });
    const bytes = new Uint8Array(4 + text.length);
    new DataView(bytes.buffer).setUint32(0, text.length, true);
    bytes.set(new TextEncoder().encode(text), 4);
    expect(() => decodeModel(bytes)).toThrow('another version of tool search');
  });

  it('few tools have the one weights, very many the other, and between them there is no step', () => {
    const model = decodeModel(readFileSync(ASSET));
    expect(weightsFor(model, 0)).toEqual(model.weights);
    expect(weightsFor(model, 1500)).toEqual(model.weights);
    expect(weightsFor(model, 50_000)).toEqual(model.crowdedWeights);
    const [below, above] = [weightsFor(model, 5000), weightsFor(model, 5001)];
    expect(below.every((weight, k) => Math.abs(weight - (above[k] ?? 0)) < 0.01)).toBe(true);
  });
});
