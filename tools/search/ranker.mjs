/**
 * Learns how the ranker weighs its features: a linear model under a listwise loss (the share of a softmax over a
 * query's candidates that goes to the right tools), with weight decay. A small network beside it gained nothing on
 * held-out targets.
 */

import { random } from './data.mjs';

const PASSES = 20;
const BATCH = 16;
const RATE = 0.02;
const DECAY = 1e-3;

/**
 * @param lists  { features: Float32Array[], relevant: boolean[], weight, every }: `every` label is needed, or one of them
 * @param limits the largest weight of each feature, for those that too few queries teach
 * @returns      one weight a feature
 */
export function trainRanker({ lists, seed, limits }) {
  const next = random(seed);
  const size = lists[0].features[0].length;
  const { mean, deviation } = moments(lists, size);
  const useful = lists
    .filter((list) => list.relevant.includes(true))
    .map((list) => ({
      ...list,
      features: list.features.map((f) => Float64Array.from(f, (x, k) => (x - mean[k]) / deviation[k])),
    }));
  const weights = new Float64Array(size);
  const first = new Float64Array(size);
  const second = new Float64Array(size);
  let step = 0;
  for (let pass = 0; pass < PASSES; pass++) {
    for (let i = useful.length - 1; i > 0; i--) {
      const j = Math.floor(next() * (i + 1));
      [useful[i], useful[j]] = [useful[j], useful[i]];
    }
    const rate = RATE * (1 - pass / PASSES) + 0.02 * RATE;
    for (let b = 0; b < useful.length; b += BATCH) {
      const gradient = new Float64Array(size);
      for (const list of useful.slice(b, b + BATCH)) addGradient(gradient, weights, list);
      step++;
      for (let k = 0; k < size; k++) {
        const g = gradient[k] / BATCH + DECAY * weights[k];
        first[k] = 0.9 * first[k] + 0.1 * g;
        second[k] = 0.999 * second[k] + 0.001 * g * g;
        weights[k] -=
          (rate * (first[k] / (1 - 0.9 ** step))) / (Math.sqrt(second[k] / (1 - 0.999 ** step)) + 1e-8);
      }
    }
  }
  // The mean shifts every candidate alike, so only the deviation has to be put back.
  return Array.from(weights, (w, k) => Math.min(limits?.[k] ?? Infinity, w / deviation[k]));
}

function moments(lists, size) {
  const mean = new Float64Array(size);
  const deviation = new Float64Array(size);
  const rows = lists.flatMap((list) => list.features);
  for (const f of rows) for (let k = 0; k < size; k++) mean[k] += f[k] / rows.length;
  for (const f of rows) for (let k = 0; k < size; k++) deviation[k] += (f[k] - mean[k]) ** 2 / rows.length;
  return { mean, deviation: deviation.map((variance) => Math.sqrt(variance) || 1) };
}

function addGradient(gradient, weights, { features, relevant, weight, every }) {
  const scores = features.map((f) => weights.reduce((sum, w, k) => sum + w * f[k], 0));
  const max = Math.max(...scores);
  const shares = scores.map((s) => Math.exp(s - max));
  const all = shares.reduce((sum, e) => sum + e, 0);
  const right = shares.reduce((sum, e, c) => sum + (relevant[c] ? e : 0), 0);
  const count = relevant.filter(Boolean).length;
  features.forEach((f, c) => {
    const wanted = relevant[c] ? (every ? 1 / count : shares[c] / right) : 0;
    const g = weight * (shares[c] / all - wanted);
    for (let k = 0; k < f.length; k++) gradient[k] += g * f[k];
  });
}
