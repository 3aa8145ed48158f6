/** Loads the trained search model (`tools/search/train.mjs`) from its asset file: word vectors and ranker weights. */

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PlugboardError } from '../../errors.ts';
import { attempt } from '../../lib/attempt.ts';
import { CONFIDENCE_INPUTS } from './confidence.ts';
import { FEATURES } from './features.ts';
import { Glossary } from './glossary.ts';
import type { WordVectors } from './word-vectors.ts';

export interface SearchModel {
  readonly vectors: WordVectors;
  /** The ranker's weight of each of FEATURES, for catalogs of usual size. */
  readonly weights: Float32Array;
  /** The weights for tens of thousands of tools, where similar words occur everywhere. */
  readonly crowdedWeights: Float32Array;
  /** The weight of each of CONFIDENCE_INPUTS. */
  readonly confidence: Float32Array;
  /** Translates queries in other languages. */
  readonly glossary: Glossary;
}

interface Header {
  readonly dimensions: number;
  readonly terms: number;
  readonly termBytes: number;
  readonly features: readonly string[];
  readonly weights: readonly number[];
  readonly crowdedWeights: readonly number[];
  readonly confidence: readonly number[];
  readonly glossaryBytes: number;
}

const ASSET = 'assets/tool-search.bin';
/** Size of the header length at the start of the file. */
const LENGTH_BYTES = 4;

/**
 * Reads the package's asset. It takes about 3 MB and 10 ms, so only a search loads it. Undefined if the file is
 * missing, as in a bundle whose author did not copy it. The first address is a literal for tools that trace a package's
 * files.
 */
export function loadModel(): SearchModel | undefined {
  const bytes =
    readIfThere(() => new URL('../../../assets/tool-search.bin', import.meta.url)) ??
    readIfThere(() => join(bundleFolder(), 'tool-search.bin'));
  return bytes && decodeModel(bytes);
}

/** `place` throws for a module without an address, as in a CommonJS bundle. */
function readIfThere(place: () => URL | string): Uint8Array | undefined {
  return attempt(() => readFileSync(place()), undefined);
}

function bundleFolder(): string {
  return typeof __dirname === 'string' ? __dirname : dirname(fileURLToPath(import.meta.url));
}

/** Chosen by hand on the guard set (test/catalog/search): ranks 64 % of its tools first, 82 % with the asset. */
const LEXICAL_WEIGHTS: Partial<Record<(typeof FEATURES)[number], number>> = {
  lexical: 2,
  lexicalAbsolute: 3,
  coveredAnywhere: 2,
  nameCoveredSoftly: 2,
  leadCoveredSoftly: 1,
  softlyCoveredByName: 1,
  softlyCoveredByLead: 2,
  pairs: 1.5,
  otherAction: -0.6,
  changesUnasked: -0.5,
  listForPlural: 1.1,
  listForSingular: -1.2,
  headInName: 1,
  headInLead: 0.5,
  serverNamed: 1.2,
  nameLength: -2,
};

/** The same for the estimate of certainty. */
const LEXICAL_CONFIDENCE: Readonly<Record<string, number>> = {
  leadOverSecond: 2,
  unknown: -3,
  softlyCoveredByLead: 1,
  headInName: 1,
  constant: 0.5,
};

/** A model that ranks only by the words of the query and the tools. */
export function lexicalModel(): SearchModel {
  const weights = Float32Array.from(FEATURES, (feature) => LEXICAL_WEIGHTS[feature] ?? 0);
  const vectors = {
    dimensions: 0,
    rows: new Map<string, number>(),
    values: new Int8Array(),
    scales: new Float32Array(),
  };
  const confidence = Float32Array.from(CONFIDENCE_INPUTS, (input) => LEXICAL_CONFIDENCE[input] ?? 0);
  return { vectors, weights, crowdedWeights: weights, confidence, glossary: new Glossary(new Uint8Array()) };
}

/**
 * Decodes the asset: four bytes of header length, the header as JSON, one term per line, padding to four bytes, a float
 * scale for each term, the integer vectors, and the lines of the glossary.
 */
export function decodeModel(bytes: Uint8Array): SearchModel {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerBytes = view.getUint32(0, true);
  const text = new TextDecoder();
  const header = JSON.parse(text.decode(bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + headerBytes))) as Header;
  if (header.features.join() !== FEATURES.join()) {
    throw new PlugboardError('INTERNAL', `${ASSET} was made for another version of tool search`, {
      hint: 'Install plugboard again, or run tools/search/train.mjs in a checkout.',
    });
  }
  const termsAt = LENGTH_BYTES + headerBytes;
  const terms = text.decode(bytes.subarray(termsAt, termsAt + header.termBytes)).split('\n');
  const scalesAt = termsAt + header.termBytes + ((4 - ((termsAt + header.termBytes) % 4)) % 4);
  const valuesAt = scalesAt + 4 * header.terms;
  const glossaryAt = valuesAt + header.terms * header.dimensions;
  return {
    vectors: {
      dimensions: header.dimensions,
      rows: new Map(terms.map((term, row) => [term, row])),
      // A copy, because a Float32Array must start at a multiple of four in its buffer.
      scales: new Float32Array(bytes.buffer.slice(bytes.byteOffset + scalesAt, bytes.byteOffset + valuesAt)),
      values: new Int8Array(bytes.buffer, bytes.byteOffset + valuesAt, header.terms * header.dimensions),
    },
    weights: Float32Array.from(header.weights),
    crowdedWeights: Float32Array.from(header.crowdedWeights),
    confidence: Float32Array.from(header.confidence),
    glossary: new Glossary(bytes.subarray(glossaryAt, glossaryAt + header.glossaryBytes)),
  };
}

/** Up to ROOMY_TOOLS the first weights apply, from CROWDED_TOOLS the second; between them they are interpolated. */
const ROOMY_TOOLS = 1500;
const CROWDED_TOOLS = 15_000;

/** Returns the weights for an index of this many tools. */
export function weightsFor({ weights, crowdedWeights }: SearchModel, tools: number): Float32Array {
  const crowding = Math.log(tools / ROOMY_TOOLS) / Math.log(CROWDED_TOOLS / ROOMY_TOOLS);
  const share = Math.min(1, Math.max(0, crowding));
  return weights.map((weight, k) => (1 - share) * weight + share * (crowdedWeights[k] as number));
}
