/** Interleaved rounds, medians, spread and ratios: what all benches here have in common. */

import { spawn } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { record } from './records.mjs';

const QUICK_ROUNDS = 2;

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
}

/** Runs every contender once per round, in an order that turns, and collects one number each. */
export async function interleave(contenders, rounds, measure) {
  const results = new Map(contenders.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (let at = 0; at < contenders.length; at += 1) {
      const contender = contenders[(at + Math.max(round, 0)) % contenders.length];
      const value = await measure(contender);
      // The first round warms up what is compiled and cached.
      if (round >= 0) results.get(contender.name).push(value);
    }
  }
  return results;
}

/** p50 in µs of one call after another. */
export async function sequential(call, count) {
  const times = [];
  for (let n = 0; n < count; n += 1) {
    const from = performance.now();
    await call(n);
    times.push((performance.now() - from) * 1000);
  }
  return median(times);
}

/** Calls per second with so many under way at once. */
export async function concurrent(call, count, inFlight) {
  let next = 0;
  const worker = async () => {
    while (next < count) await call(next++);
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: inFlight }, worker));
  return count / ((performance.now() - from) / 1000);
}

/** The same for a while instead of for a number, where one contender may be ten times as slow as another. */
export async function concurrentFor(call, ms, inFlight) {
  const from = performance.now();
  let calls = 0;
  const worker = async () => {
    while (performance.now() - from < ms) await call(calls++);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return { calls, rate: calls / ((performance.now() - from) / 1000) };
}

/**
 * One row a contender: median, spread, and the ratio to the base taken round by round. `goals` are bounds of that ratio
 * (`{ name: ['most', 1.4] }`); a `headline` puts the measure into the chart.
 */
export function table(title, results, { base, unit, digits = 0, goals = {}, headline }) {
  const against = results.get(base);
  // How it was measured is for whoever looks on; the measure is what is compared.
  const measure = title.replace(/ \([^()]*\)$/, '');
  console.log(`\n${title}`);
  for (const [name, values] of results) {
    const ratios = values.map((value, at) => value / against[at]);
    const spread = `${quantile(values, 0.1).toFixed(digits)}–${quantile(values, 0.9).toFixed(digits)}`;
    const ratio = `${median(ratios).toFixed(2)} × (${quantile(ratios, 0.1).toFixed(2)}–${quantile(ratios, 0.9).toFixed(2)})`;
    console.log(
      `  ${name.padEnd(34)} ${median(values).toFixed(digits).padStart(8)} ${unit}  [${spread}]  ${ratio}`,
    );
    const figure = { measure, name, value: median(values), unit, spread, ratio: median(ratios), base };
    record({ ...figure, goal: goals[name], headline });
  }
}

/** Runs a program in a process of its own, and returns the number that it prints. */
export async function numberPrintedBy(file, env) {
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
  return Number(text);
}

/** `--quick` is for whether a bench works, not for what things cost. */
export function roundsOf(given, usual) {
  if (process.env.BENCH_QUICK === '1') return QUICK_ROUNDS;
  return Number(given) || usual;
}

/** What it was taken on, without a name of the machine. */
export function machine() {
  const [cpu] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    cores: cpus().length,
    cpu: cpu?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
  };
}

export function describeMachine() {
  const { date, node, cores, cpu, memoryGb } = machine();
  return `Node ${node}, ${cores} × ${cpu}, ${memoryGb} GB, ${date}`;
}
