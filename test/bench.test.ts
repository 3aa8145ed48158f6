/** What the README shows of the bench is the output of a run, and the exponents of the curves are what they are said to be. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { growth } from '../bench/growth/curve.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const SIZES = [10, 50, 200, 1_000, 5_000, 20_000];

/** Three rounds for each size, a tenth apart. */
function costs(cost: (size: number) => number): number[][] {
  return SIZES.map((size) => [0.95, 1, 1.05].map((noise) => cost(size) * noise));
}

function exponent(cost: (size: number) => number): string {
  return growth(SIZES, costs(cost)).exponent.toFixed(2);
}

describe('the bench', () => {
  it('the tables and charts in the documents are those of bench/results.json', async () => {
    const bench = promisify(execFile)(process.execPath, [
      join(root, 'bench', 'all.mjs'),
      '--readme',
      '--check',
    ]);
    expect(await bench).toEqual({ stdout: '', stderr: '' });
  });

  it('the table of agents in docs/numbers.md is that of bench/agents.json', async () => {
    const args = [join(root, 'bench', 'agents.mjs'), '--readme', '--check'];
    expect(await promisify(execFile)(process.execPath, args)).toEqual({ stdout: '', stderr: '' });
  });

  it('a curve has the exponent of its upper half, whatever it costs to begin with', () => {
    expect({
      constant: exponent(() => 7),
      linear: exponent((size) => 3 * size),
      square: exponent((size) => size * size),
      fixedCostFirst: exponent((size) => 10 + size),
    }).toEqual({ constant: '0.00', linear: '1.00', square: '2.00', fixedCostFirst: '1.00' });
  });

  it('the spread of an exponent covers the values of single rounds', () => {
    const {
      low,
      exponent: middle,
      high,
    } = growth(
      SIZES,
      costs((size) => size),
    );
    expect([low < middle, middle < high, high - low < 0.1]).toEqual([true, true, true]);
  });
});
