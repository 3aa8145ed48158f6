/**
 * `npm run bench:guard -- <commit or checkout>`: CPU of calls, the gateway and commands, of this build against another,
 * interleaved. Prints the ratio of every row, and marks those that moved by more than 5 %.
 *
 *   node bench/guard.mjs <commit or checkout> [--rounds 60] [--only part-of-a-name]
 *
 * This checkout must be built. A commit is built in a temporary folder; a checkout must be built.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ROWS } from './guard/rows.mjs';
import { describeMachine, median, quantile } from './rounds.mjs';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const WARM_UP_ROUNDS = 8;
const MOVED = 0.05;
/** With fewer pairs, chance alone can agree. */
const MIN_PAIRS = 8;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '60' }, only: { type: 'string', default: '' } },
});
const [other] = positionals;
const rounds = Number(values.rounds);
const rows = ROWS.filter(([name]) => name.includes(values.only));
if (other === undefined || !(rounds > 0) || rows.length === 0) {
  console.error('Usage: node bench/guard.mjs <commit or checkout> [--rounds 60] [--only part-of-a-name]');
  process.exit(2);
}

const dir = mkdtempSync(join(tmpdir(), 'plugboard-guard-'));

/** Returns the folder of the other build. */
function otherCheckout() {
  if (existsSync(join(other, 'dist', 'index.js'))) return resolve(other);
  const folder = join(dir, 'other');
  execFileSync('git', ['worktree', 'add', '--detach', folder, other], { cwd: HERE, stdio: 'ignore' });
  symlinkSync(join(HERE, 'node_modules'), join(folder, 'node_modules'));
  console.error(`Builds ${other}`);
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, stdio: 'ignore' });
  return folder;
}

/** Between which two values the median lies, of 95 in 100 such measurements: the ranks of the binomial distribution. */
function likely(ratios) {
  const sorted = ratios.toSorted((a, b) => a - b);
  const reach = 0.98 * Math.sqrt(sorted.length);
  const middle = (sorted.length - 1) / 2;
  return [Math.floor(middle - reach), Math.ceil(middle + reach)].map(
    (at) => sorted[Math.min(Math.max(at, 0), sorted.length - 1)],
  );
}

/** A row has moved if its median differs by more than the limit, and 95 of 100 measurements would agree on where to. */
function verdict(ratio, [low, high]) {
  if (rounds < MIN_PAIRS) return '';
  if (ratio > 1 + MOVED && low > 1) return 'SLOWER';
  if (ratio < 1 - MOVED && high < 1) return 'faster';
  return '';
}

try {
  const builds = [
    { name: 'this', checkout: HERE },
    { name: 'other', checkout: otherCheckout() },
  ].map((build) => ({ ...build, dir, command: join(build.checkout, 'dist/bin/plugboard.cjs') }));
  console.log(`${describeMachine()}; this build ÷ ${other}, ${rounds} pairs`);
  for (const [name, open, options] of rows) {
    const opened = await Promise.all(builds.map((build) => open(build, name, options)));
    const measured = [[], []];
    for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
      for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const value = await opened[at].round();
        if (round >= 0) measured[at].push(value);
      }
    }
    await Promise.all(opened.map(({ close }) => close()));
    const ratios = measured[0].map((value, at) => value / measured[1][at]);
    const [ratio, range] = [median(ratios), likely(ratios)];
    // Other work on the machine only ever adds: the lower quarter is what the build itself needs.
    const [now, before] = measured.map((all) => quantile(all, 0.25).toFixed(0));
    const between = range.map((each) => each.toFixed(2)).join(' to ');
    console.log(
      `${name.padEnd(46)} ${ratio.toFixed(2)} × (95 %: ${between})  ${now} ÷ ${before} µs  ${verdict(ratio, range)}`,
    );
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
  execFileSync('git', ['worktree', 'prune'], { cwd: HERE });
}
