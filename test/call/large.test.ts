import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { scratch } from '../world/scripted-host.ts';

const program = fileURLToPath(new URL('../fixtures/call-large.mjs', import.meta.url));

interface Cost {
  readonly extraMb: number;
  readonly keptMb: number;
  readonly files: readonly number[];
  readonly shown: readonly number[];
}

/** Runs in a process of its own: memory is counted for all that a process does. */
async function call(megabytes: number, atOnce: number, kind: 'clean' | 'dirty'): Promise<Cost> {
  const home = join(scratch(), 'home');
  mkdirSync(home);
  const args = ['--expose-gc', program, home, String(megabytes), String(atOnce), kind];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Cost;
}

const SIZE_MB = 50;
/** Read, as text, and parsed it is there three times; what it was read into on the way is the rest. Node 24 lets go of that later. */
const MAX_EXTRA_MB: number = (Number(process.versions.node.split('.')[0]) < 24 ? 4 : 5) * SIZE_MB;
/** Messages of one server come one after the other, so ten cost far less than ten times one. */
const MAX_EXTRA_OF_TEN_MB: number = 12 * SIZE_MB;
const MAX_KEPT_MB: number = 2 * SIZE_MB;

describe('F34: results of 50 MB', () => {
  it.each(['clean', 'dirty'] as const)(
    'one (%s) is cut, whole in a file, and its memory given back',
    async (kind) => {
      const cost = await call(SIZE_MB, 1, kind);
      expect({ files: cost.files, shown: cost.shown }).toEqual({ files: [SIZE_MB], shown: [2] });
      expect(cost.extraMb).toBeLessThan(MAX_EXTRA_MB);
      expect(cost.keptMb).toBeLessThan(MAX_KEPT_MB);
    },
  );

  it('ten at once stay within twelve times one', async () => {
    const cost = await call(SIZE_MB, 10, 'clean');
    expect(cost.files).toEqual(Array.from({ length: 10 }, () => SIZE_MB));
    expect(cost.extraMb).toBeLessThan(MAX_EXTRA_OF_TEN_MB);
    expect(cost.keptMb).toBeLessThan(MAX_KEPT_MB * 2);
  });
});
