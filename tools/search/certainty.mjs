/**
 * Learns the probability that the first result is right: a logistic model over the inputs of
 * `src/catalog/search/confidence.ts`, from queries of servers left out, with and without an answer.
 */

import { areaUnderCurve } from './metrics.mjs';

const STEPS = 12;
const DECAY = 1e-3;
/** The part of all queries that is assumed to have no answer. */
const UNANSWERABLE_SHARE = 0.25;

/** One row for each list: its inputs, and whether the first result is right. */
export function certaintyRows(lists, weights, confidenceInputs) {
  return lists
    .filter(({ features }) => features.length > 0)
    .map(({ query, asked, features, ids, weight }) => {
      const scores = features.map((f) => weights.reduce((sum, w, k) => sum + w * f[k], 0));
      const order = [...scores.keys()].sort((a, b) => scores[b] - scores[a]);
      const inputs = confidenceInputs(asked, {
        scores: order.map((i) => scores[i]),
        first: features[order[0]],
      });
      const positive = query.relevant.length > 0;
      return { inputs, positive, right: query.relevant.includes(ids[order[0]]), weight, fold: query.fold };
    });
}

export function trainCertainty(rows) {
  const size = rows[0].inputs.length;
  const shareOf = (positive) =>
    rows.reduce((sum, row) => sum + (row.positive === positive ? row.weight : 0), 0);
  const scale = {
    true: (1 - UNANSWERABLE_SHARE) / shareOf(true),
    false: UNANSWERABLE_SHARE / shareOf(false),
  };
  let weights = new Float64Array(size);
  // Newton's method: few inputs, so each step solves a small system exactly.
  for (let step = 0; step < STEPS; step++) {
    const gradient = Float64Array.from(weights, (w) => DECAY * w);
    const curvature = Array.from({ length: size }, (_x, k) =>
      Float64Array.from({ length: size }, (_y, j) => (j === k ? DECAY : 0)),
    );
    for (const { inputs, right, positive, weight } of rows) {
      const share = weight * scale[positive];
      const p = 1 / (1 + Math.exp(-inputs.reduce((sum, x, k) => sum + x * weights[k], 0)));
      for (let k = 0; k < size; k++) {
        gradient[k] += share * (p - (right ? 1 : 0)) * inputs[k];
        for (let j = 0; j < size; j++) curvature[k][j] += share * p * (1 - p) * inputs[k] * inputs[j];
      }
    }
    const change = solved(curvature, gradient);
    weights = weights.map((w, k) => w - change[k]);
  }
  return Array.from(weights);
}

/** Solves a system of linear equations by elimination; the matrix is positive definite. */
function solved(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  for (let i = 0; i < rows.length; i++) {
    for (let r = i + 1; r < rows.length; r++) {
      const factor = rows[r][i] / rows[i][i];
      for (let k = i; k <= rows.length; k++) rows[r][k] -= factor * rows[i][k];
    }
  }
  const out = new Float64Array(rows.length);
  for (let i = rows.length - 1; i >= 0; i--) {
    let sum = rows[i][rows.length];
    for (let k = i + 1; k < rows.length; k++) sum -= rows[i][k] * out[k];
    out[i] = sum / rows[i][i];
  }
  return out;
}

/** Prints how honest the probability is on folds that the model did not see. */
export function reportCertainty(rows, { log, probability }) {
  const judged = [];
  for (const fold of new Set(rows.map((row) => row.fold))) {
    const weights = trainCertainty(rows.filter((row) => row.fold !== fold));
    for (const row of rows.filter((each) => each.fold === fold))
      judged.push({ ...row, score: probability(row.inputs, weights) });
  }
  log(`answerable or not: area under the curve ${(100 * areaUnderCurve(judged)).toFixed(1)} %`);
  for (let from = 0; from < 1; from += 0.1) {
    const bin = judged.filter(({ score }) => score >= from && score < from + 0.1);
    const share = (test) => `${((100 * bin.filter(test).length) / Math.max(1, bin.length)).toFixed(0)} %`;
    log(
      `  score ${from.toFixed(1)} to ${(from + 0.1).toFixed(1)}: ${bin.length} queries, first right ${share((r) => r.right)}, unanswerable ${share((r) => !r.positive)}`,
    );
  }
}
