/**
 * `npm run bench`: every bench, one after the other on an otherwise idle machine, and one table of what they found.
 * Within each, the contenders take turns. Also written: bench/results.json, and a chart for the README.
 *
 *   npm run bench [-- group…]      (groups: calls, start, commands, gateway, daemon, kit, memory, search, auth, growth)
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { drawChart } from './chart.mjs';
import { describeMachine } from './rounds.mjs';

const GROUPS = {
  calls: ['calls.mjs', 'http-transport.mjs'],
  start: ['start.mjs', 'cached-start.mjs'],
  commands: ['startup.mjs'],
  gateway: ['gateway.mjs', 'gateway-start.mjs', 'gateway-clients.mjs'],
  daemon: ['daemon.mjs'],
  kit: ['kit.mjs'],
  memory: ['memory.mjs'],
  search: ['search.mjs', 'tokens.mjs'],
  auth: ['auth-call.mjs'],
  growth: ['growth.mjs'],
};
/** Their data is not in the repository. */
const NEEDS_DATA = new Set(['search.mjs', 'tokens.mjs']);

const here = fileURLToPath(new URL('.', import.meta.url));
const data = join(here, '..', '..', 'shared', 'toolsearch');
const asked = process.argv.slice(2);
const unknown = asked.find((name) => !Object.hasOwn(GROUPS, name));
if (unknown !== undefined) throw new Error(`No group ${unknown}: ${Object.keys(GROUPS).join(', ')}`);

const temp = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
const machine = describeMachine();
const figures = [];
const failed = [];
try {
  for (const group of asked.length > 0 ? asked : Object.keys(GROUPS)) {
    for (const file of GROUPS[group]) {
      if (NEEDS_DATA.has(file) && !existsSync(data)) continue;
      console.error(`\n== ${group}: ${file}`);
      const records = join(temp, `${file}.jsonl`);
      if ((await run(file, records)) !== 0) failed.push(file);
      if (existsSync(records)) figures.push(...read(records).map((figure) => ({ group, ...figure })));
    }
  }
} finally {
  rmSync(temp, { recursive: true, force: true });
}

print();
writeFileSync(join(here, 'results.json'), `${JSON.stringify({ machine, figures, failed }, null, 2)}\n`);
writeFileSync(join(here, '..', 'docs', 'images', 'bench.svg'), drawChart(figures, machine));
if (failed.length > 0) console.error(`\nEnded with an error or beyond a bound: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;

/** What it prints by itself goes to stderr: stdout is for the table. */
function run(file, records) {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const child = spawn(process.execPath, [join(here, file)], {
    cwd: join(here, '..'),
    env: { ...env, BENCH_RECORDS: records },
    stdio: ['ignore', 2, 2],
  });
  return new Promise((resolve) => child.once('close', resolve));
}

function read(file) {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function print() {
  console.log(`${machine}\n`);
  console.log('| group | measure | contender | median | spread | ratio |\n|---|---|---|--:|---|---|');
  for (const { group, measure, name, value, unit, spread = '', ratio, base } of figures) {
    const against = ratio === undefined ? '' : `${ratio.toFixed(2)} × ${base}`;
    console.log(`| ${group} | ${measure} | ${name} | ${short(value)} ${unit} | ${spread} | ${against} |`);
  }
}

function short(value) {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
