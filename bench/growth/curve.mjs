/** One curve: what something costs at each size, how that grows (the slope in log-log), and the same for what stands beside it. */

import { readdirSync, readFileSync } from 'node:fs';
import { record } from '../records.mjs';
import { median, quantile, roundsOf } from '../rounds.mjs';

/** Beyond this, and beyond the noise of the run, growth counts as worse than linear. */
const MAX_EXPONENT = 1.1;
const MIN_ROUNDS = roundsOf(undefined, 3);
const MAX_ROUNDS = roundsOf(undefined, 15);
const DRAWS = 105;
const NANO = 1e6;

/**
 * Measures `contenders` at each of `sizes`, taking turns. A contender's `open(size)` gives `{ run, close }`; `run` gives
 * a cost. One that is not asked for sizes above `most` ends there. At each size there are rounds until `budgetMs` are over, never fewer than three after one that warms up.
 */
export async function curve({ axis, measure, unit, sizes, budgetMs, contenders }) {
  console.error(`  ${axis}: ${measure}`);
  const costs = new Map(contenders.map(({ name }) => [name, []]));
  for (const size of sizes) {
    const opened = [];
    for (const { name, open, most = size } of contenders) {
      if (size <= most) opened.push({ name, ...(await open(size)) });
    }
    const values = new Map(contenders.map(({ name }) => [name, []]));
    let from = performance.now();
    for (let round = -1; round < MAX_ROUNDS; round += 1) {
      for (const { name, run } of opened) {
        const cost = await run();
        if (round >= 0) values.get(name).push(cost);
      }
      if (round === -1) from = performance.now();
      if (round >= MIN_ROUNDS - 1 && performance.now() - from > budgetMs / sizes.length) break;
    }
    for (const { name, close } of opened) {
      await close?.();
      costs.get(name).push(values.get(name));
    }
  }
  report({ axis, measure, unit, sizes, costs });
}

/** The slope over the upper half of the sizes: of the medians, and of draws of one round for each size. */
export function growth(sizes, costs) {
  const from = sizes.length >> 1;
  const xs = sizes.slice(from).map(Math.log);
  const upper = costs.slice(from);
  const draws = Array.from({ length: DRAWS }, (_, draw) =>
    slope(
      xs,
      // Steps without a common factor, so that the draws of two sizes do not go hand in hand.
      upper.map((values, at) => values[(draw * (2 * at + 1) + at) % values.length]),
    ),
  );
  return {
    exponent: slope(xs, upper.map(median)),
    low: quantile(draws, 0.1),
    high: quantile(draws, 0.9),
  };
}

/** Least squares through the logarithms. */
function slope(xs, values) {
  const ys = values.map((value) => Math.log(Math.max(value, Number.EPSILON)));
  const mean = (list) => list.reduce((sum, each) => sum + each, 0) / list.length;
  const x = mean(xs);
  const y = mean(ys);
  const over = xs.reduce((sum, each, at) => sum + (each - x) * (ys[at] - y), 0);
  return over / xs.reduce((sum, each) => sum + (each - x) ** 2, 0);
}

function report({ axis, measure, unit, sizes, costs }) {
  console.log(`\n${measure} (${unit}), by ${axis}`);
  console.log(`  ${''.padEnd(34)}${sizes.map((size) => short(size).padStart(9)).join('')}   exponent`);
  for (const [name, values] of costs) {
    const measured = sizes.slice(0, values.length);
    const { exponent, low, high } = growth(measured, values);
    const medians = values.map(median);
    const worse = low > MAX_EXPONENT ? '  worse than linear' : '';
    console.log(
      `  ${name.padEnd(34)}${medians
        .map((value) => short(value).padStart(9))
        .join('')
        .padEnd(9 * sizes.length)}   ${exponent.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})${worse}`,
    );
    const points = measured.map((size, at) => ({
      size,
      value: medians[at],
      low: quantile(values[at], 0.1),
      high: quantile(values[at], 0.9),
    }));
    record({
      kind: 'curve',
      axis,
      measure,
      name,
      unit,
      points,
      exponent,
      exponentLow: low,
      exponentHigh: high,
    });
  }
}

function short(value) {
  if (value >= 1e6) return `${(value / 1e6).toFixed(value % 1e6 === 0 ? 0 : 1)}M`;
  if (value >= 10_000) return `${(value / 1e3).toFixed(0)}k`;
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
}

/** What this process spent on `work`, in ms of CPU: others on the machine do not count. */
export async function ownCpuMs(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** What other processes spent meanwhile, all their threads, in ms of CPU. */
export async function cpuMsOf(pids, work) {
  const before = spentMs(pids);
  await work();
  return spentMs(pids) - before;
}

function spentMs(pids) {
  const nanoseconds = pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((task) => {
      try {
        return Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
      } catch {
        return 0; // A thread that has just ended.
      }
    }),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / NANO;
}
