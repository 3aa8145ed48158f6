/** What was learnt (`tools/search/train.mjs`), read from the one asset file: word vectors and the ranker's weights. */

import { existsSync, readFileSync } from 'node:fs';
import { PlugboardError } from '../../errors.ts';
import { FEATURES } from './features.ts';
import type { WordVectors } from './word-vectors.ts';

export interface SearchModel {
  readonly vectors: WordVectors;
  /** The ranker's weight of each of FEATURES, among as many tools as a host usually has. */
  readonly weights: Float32Array;
  /** The same among tens of thousands, where words that look alike are found everywhere. */
  readonly crowdedWeights: Float32Array;
}

interface Header {
  readonly dimensions: number;
  readonly terms: number;
  readonly termBytes: number;
  readonly features: readonly string[];
  readonly weights: readonly number[];
  readonly crowdedWeights: readonly number[];
}

const ASSET = 'assets/tool-search.bin';
/** From a module of ours up to the package's folder: sources, build and bundle lie at different depths. */
const MAX_LEVELS_UP = 5;
/** The header's length stands first. */
const LENGTH_BYTES = 4;

/** Reads the asset that comes with the package: about 3 MB and 10 ms, so only a search asks for it. */
export function loadModel(): SearchModel {
  for (let level = 0, up = './'; level <= MAX_LEVELS_UP; level++, up += '../') {
    const file = new URL(up + ASSET, import.meta.url);
    if (existsSync(file)) return decodeModel(readFileSync(file));
  }
  throw new PlugboardError('INTERNAL', `The package lacks ${ASSET}, which tool search needs.`, {
    hint: 'Install plugboard again.',
  });
}

/**
 * The file: four bytes of header length, the header as JSON, the terms one a line, padding to four bytes, a float for
 * each term (what one step of its integers is worth), and the integers.
 */
export function decodeModel(bytes: Uint8Array): SearchModel {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerBytes = view.getUint32(0, true);
  const text = new TextDecoder();
  const header = JSON.parse(text.decode(bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + headerBytes))) as Header;
  if (header.features.join() !== FEATURES.join()) {
    throw new PlugboardError('INTERNAL', `${ASSET} was made for another version of tool search.`, {
      hint: 'Install plugboard again, or run tools/search/train.mjs in a checkout.',
    });
  }
  const termsAt = LENGTH_BYTES + headerBytes;
  const terms = text.decode(bytes.subarray(termsAt, termsAt + header.termBytes)).split('\n');
  const scalesAt = termsAt + header.termBytes + ((4 - ((termsAt + header.termBytes) % 4)) % 4);
  const valuesAt = scalesAt + 4 * header.terms;
  return {
    vectors: {
      dimensions: header.dimensions,
      rows: new Map(terms.map((term, row) => [term, row])),
      // A copy, because a view of floats must start at a multiple of four in its buffer.
      scales: new Float32Array(bytes.buffer.slice(bytes.byteOffset + scalesAt, bytes.byteOffset + valuesAt)),
      values: new Int8Array(bytes.buffer, bytes.byteOffset + valuesAt, header.terms * header.dimensions),
    },
    weights: Float32Array.from(header.weights),
    crowdedWeights: Float32Array.from(header.crowdedWeights),
  };
}

/** Up to so many tools the first weights hold, from so many on the second; between, something between. */
const ROOMY_TOOLS = 1500;
const CROWDED_TOOLS = 15_000;

/** The weights for an index of this many tools. */
export function weightsFor({ weights, crowdedWeights }: SearchModel, tools: number): Float32Array {
  const crowding = Math.log(tools / ROOMY_TOOLS) / Math.log(CROWDED_TOOLS / ROOMY_TOOLS);
  const share = Math.min(1, Math.max(0, crowding));
  return weights.map((weight, k) => (1 - share) * weight + share * (crowdedWeights[k] as number));
}
