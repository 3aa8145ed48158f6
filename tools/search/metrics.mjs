/** What a ranking is worth: recall at 1 and 5 and nDCG at 10, averaged over queries and over sets. */

import { SETS } from './data.mjs';

export const METRICS = ['r1', 'r5', 'ndcg'];

export function scoreRanking(ranked, relevant, labels) {
  const right = new Set(relevant);
  const hits = (k) => ranked.slice(0, k).filter((id) => right.has(id)).length;
  const first = ranked.findIndex((id) => right.has(id));
  if (labels === 'any') {
    return {
      r1: Math.min(1, hits(1)),
      r5: Math.min(1, hits(5)),
      ndcg: first >= 0 && first < 10 ? 1 / Math.log2(first + 2) : 0,
    };
  }
  let gain = 0;
  let ideal = 0;
  for (let i = 0; i < 10; i++) {
    if (right.has(ranked[i])) gain += 1 / Math.log2(i + 2);
    if (i < right.size) ideal += 1 / Math.log2(i + 2);
  }
  return { r1: Math.min(1, hits(1)), r5: hits(5) / right.size, ndcg: gain / ideal };
}

export function mean(scores) {
  return Object.fromEntries(
    METRICS.map((metric) => [
      metric,
      scores.reduce((sum, s) => sum + s[metric], 0) / Math.max(1, scores.length),
    ]),
  );
}

/** The mean over the sets that look like what a host sees, each counting the same. */
export function meanOfCore(rows) {
  return mean(
    Object.entries(rows)
      .filter(([set]) => SETS[set].core)
      .map(([, row]) => row),
  );
}

export function percent(row) {
  return METRICS.map((metric) => (100 * row[metric]).toFixed(1).padStart(5)).join('  ');
}

/** Returns the chance that a positive row scores higher than a negative one; ties count half. */
export function areaUnderCurve(rows) {
  const positives = rows.filter((row) => row.positive);
  const negatives = rows.filter((row) => !row.positive);
  let wins = 0;
  for (const { score } of positives) {
    for (const other of negatives) wins += score > other.score ? 1 : score === other.score ? 0.5 : 0;
  }
  return wins / Math.max(1, positives.length * negatives.length);
}
