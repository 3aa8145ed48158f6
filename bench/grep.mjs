/**
 * The workspace server's grep over 50,000 files, beside ripgrep itself on the same files, as ratios of one run.
 * A call goes through everything that a call goes through: host, stdio, server. Goal: at most 1.5 × ripgrep.
 *
 *   node bench/grep.mjs [rounds] [files]
 */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHost } from '../dist/index.js';
import { describeMachine, interleave, table } from './rounds.mjs';

const rounds = Number(process.argv[2]) || 10;
const count = Number(process.argv[3]) || 50_000;
const FILES_PER_FOLDER = 100;
const LINES = 60;
const RARE_EVERY = 1_000;

const command = fileURLToPath(new URL('../dist/bin/plugboard.cjs', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'plugboard-grep-'));
const project = join(work, 'project');
const bin = join(work, 'bin');

/** Lines like those of a program: the same in every run. */
function source(at) {
  const line = (n) => `  const value${(at * 7 + n) % 997} = compute(${at}, ${n}); // step ${n} of ${at}\n`;
  const rare = at % RARE_EVERY === 0 ? '  // the needle in the haystack\n' : '';
  return `export function work${at}() {\n${Array.from({ length: LINES }, (_, n) => line(n)).join('')}${rare}}\n`;
}

mkdirSync(bin);
for (let at = 0; at < count; at += 1) {
  const folder = join(
    project,
    `part${Math.floor(at / FILES_PER_FOLDER / 10)}`,
    `folder${Math.floor(at / FILES_PER_FOLDER)}`,
  );
  if (at % FILES_PER_FOLDER === 0) mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `file${at}.ts`), source(at));
}
execFileSync('git', ['init', '-q'], { cwd: project });
const rg = execFileSync('which', ['rg'], { encoding: 'utf8' }).trim();
symlinkSync(execFileSync('which', ['git'], { encoding: 'utf8' }).trim(), join(bin, 'git'));

const entry = (path) => ({
  command: process.execPath,
  args: [command, 'workspace', project],
  env: { PATH: path },
  approval: 'approve',
});
const host = await createHost({
  cwd: work,
  home: join(work, 'home'),
  watch: false,
  servers: { fast: entry(process.env.PATH), own: entry(bin) },
});
await host.ready();

const queries = [
  { name: `one line in ${RARE_EVERY} files`, pattern: 'needle in the h[a-z]+stack' },
  { name: 'nothing', pattern: 'no such line [0-9]+' },
];

async function ripgrep(pattern) {
  const child = spawn(rg, ['--line-number', '--no-heading', pattern, '.'], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.stdout.resume();
  await once(child, 'close');
}

const contenders = [
  { name: 'ripgrep', run: ripgrep },
  { name: 'grep, with ripgrep', run: (pattern) => host.call('mcp__fast__grep', { pattern }) },
  { name: 'grep, without ripgrep', run: (pattern) => host.call('mcp__own__grep', { pattern }) },
];

console.log(`${count} files, ${rounds} rounds; ${describeMachine()}`);
for (const { name, pattern } of queries) {
  const times = await interleave(contenders, rounds, async ({ run }) => {
    const from = performance.now();
    await run(pattern);
    return performance.now() - from;
  });
  table(name, times, { base: 'ripgrep', unit: 'ms' });
}
await host.close();
rmSync(work, { recursive: true, force: true });
