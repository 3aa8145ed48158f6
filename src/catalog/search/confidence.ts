/** Estimates the probability that the first result of a search is right, so that a search can report that nothing fits. */

import { FEATURES } from './features.ts';
import type { Question } from './question.ts';

/** The features of the first result that the estimate uses besides scores. */
const OF_FIRST = [
  'lexicalAbsolute',
  'semantic',
  'coveredAnywhere',
  'softlyCoveredByName',
  'softlyCoveredByLead',
  'nameCoveredSoftly',
  'leadCoveredSoftly',
  'contrastAnywhere',
  'headInName',
  'headInLead',
  'serverNamed',
  'pairs',
] as const satisfies readonly (typeof FEATURES)[number][];

/** The names of the inputs, in the order of a row; the last one is constant. */
export const CONFIDENCE_INPUTS: readonly string[] = [
  'first',
  'leadOverSecond',
  'leadOverSixth',
  'unknown',
  'terms',
  'coveredByNone',
  ...OF_FIRST,
  'constant',
];

const INDEX_OF_FIRST: readonly number[] = OF_FIRST.map((name) => FEATURES.indexOf(name));

export interface RankedCandidates {
  /** Best first. */
  readonly scores: readonly number[];
  /** The features of the first candidate. */
  readonly first: Float32Array;
}

/** Returns the inputs of the estimate. */
export function confidenceInputs(
  {
    weights,
    terms,
    coverage,
  }: Pick<Question, 'weights' | 'terms'> & { readonly coverage: readonly number[] },
  { scores, first }: RankedCandidates,
): Float64Array {
  const best = scores[0] ?? 0;
  let coveredByNone = 0;
  let unknown = 0;
  for (let i = 0; i < weights.length; i++) {
    const covered = coverage[i] as number;
    if (covered < POOR_MATCH) coveredByNone += weights[i] as number;
    if (covered === 0) unknown += weights[i] as number;
  }
  return Float64Array.from([
    best / 10,
    Math.min(MAX_LEAD, best - (scores[1] ?? best - MAX_LEAD)) / MAX_LEAD,
    Math.min(MAX_LEAD, best - (scores[5] ?? best - MAX_LEAD)) / MAX_LEAD,
    unknown,
    Math.log1p(terms.length) / 4,
    coveredByNone,
    ...INDEX_OF_FIRST.map((k) => first[k] as number),
    1,
  ]);
}

/** A larger lead over the next result does not make the first one more certain. */
const MAX_LEAD = 5;
/** A term that no candidate matches this well names something that the tools do not have. */
const POOR_MATCH = 0.55;

/** Below this probability, a search reports that nothing fits well. */
export const WEAK_SCORE = 0.2;

export function probability(inputs: Float64Array, weights: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < inputs.length; k++) sum += (inputs[k] as number) * (weights[k] ?? 0);
  return 1 / (1 + Math.exp(-sum));
}
