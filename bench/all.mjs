/**
 * `npm run bench`: every bench, one after the other on an otherwise idle machine, and one table of what they found.
 * Within each, the contenders take turns. Also written: bench/results.json, the charts in docs/images, and what
 * stands between the marks in the README and in docs/numbers.md, so that it is the output of a run.
 *
 *   npm run bench                                everything: about twenty minutes
 *   npm run bench -- --only calls,gateway        some groups; nothing is written
 *   npm run bench -- --quick                     few rounds: whether it works, not what it costs; nothing is written
 *   npm run bench -- --readme [--check]          no run: charts and tables from bench/results.json; or whether they are
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawBars } from './chart.mjs';
import { drawCurves } from './chart-curves.mjs';
import { machine } from './rounds.mjs';
import { tables, withChart, withTables } from './tables.mjs';

const GROUPS = {
  calls: ['calls.mjs', 'http-transport.mjs'],
  start: ['start.mjs', 'cached-start.mjs', 'npx-start.mjs'],
  commands: ['startup.mjs', 'one-shot.mjs'],
  gateway: ['gateway.mjs', 'gateway-start.mjs', 'first-list.mjs', 'gateway-clients.mjs'],
  daemon: ['daemon.mjs'],
  kit: ['kit.mjs'],
  memory: ['memory.mjs'],
  search: ['search.mjs', 'tokens.mjs', 'diet.mjs'],
  auth: ['auth-call.mjs'],
  clients: ['principals.mjs'],
  growth: ['growth.mjs'],
};
/** Their data is not in the repository. */
const NEEDS_DATA = new Set(['search.mjs', 'tokens.mjs', 'diet.mjs']);
/** A bench that hangs must not take the others with it. */
const MAX_BENCH_MS = 600_000;

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '..');
const data = join(root, '..', 'shared', 'toolsearch');
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    quick: { type: 'boolean' },
    readme: { type: 'boolean' },
    check: { type: 'boolean' },
  },
});

if (values.readme) publish(JSON.parse(readFileSync(join(here, 'results.json'), 'utf8')));
else await main(values.only?.split(',') ?? Object.keys(GROUPS));

async function main(groups) {
  const unknown = groups.find((name) => !Object.hasOwn(GROUPS, name));
  if (unknown !== undefined) throw new Error(`No group ${unknown}: ${Object.keys(GROUPS).join(', ')}`);
  const began = performance.now();
  const results = { ...machine(), figures: [], curves: [], failed: [] };
  for (const group of groups) {
    for (const file of GROUPS[group]) {
      if (NEEDS_DATA.has(file) && !existsSync(data)) continue;
      console.error(`\n== ${group}: ${file}, after ${((performance.now() - began) / 1000).toFixed(0)} s`);
      const { code, records } = await run(file);
      if (code !== 0) results.failed.push(file);
      for (const { kind, ...found } of records) {
        if (kind === 'curve') results.curves.push(found);
        else results.figures.push({ group, ...found });
      }
    }
  }
  console.log(tables(results));
  if (results.failed.length > 0)
    console.error(`Ended with an error or beyond a bound: ${results.failed.join(', ')}`);
  process.exitCode = results.failed.length > 0 ? 1 : 0;
  // What the README shows comes from one whole run.
  if (values.only !== undefined || values.quick) return;
  writeFileSync(join(here, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
  publish(results);
}

/** The files of the repository that show a run; with --check they are compared instead of written. */
function publish(results) {
  const page = (file) => readFileSync(join(root, file), 'utf8');
  const files = {
    'README.md': withChart(page('README.md'), results),
    'docs/numbers.md': withTables(page('docs/numbers.md'), results),
    'docs/images/bench.svg': drawBars(results),
    'docs/images/growth.svg': drawCurves(results),
  };
  for (const [file, text] of Object.entries(files)) {
    const path = join(root, file);
    if (!values.check) writeFileSync(path, text);
    else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
      console.error(`${file} does not show bench/results.json: npm run bench -- --readme`);
      process.exitCode = 1;
    }
  }
}

/** What it prints by itself goes to stderr: stdout is for the tables. */
async function run(file) {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const temp = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
  const place = join(temp, 'records.jsonl');
  const child = spawn(process.execPath, [join(here, file)], {
    cwd: root,
    env: { ...env, BENCH_RECORDS: place, ...(values.quick ? { BENCH_QUICK: '1' } : {}) },
    stdio: ['ignore', 2, 2],
  });
  const timer = setTimeout(() => child.kill(), MAX_BENCH_MS);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  const lines = existsSync(place) ? readFileSync(place, 'utf8').trim().split('\n') : [];
  rmSync(temp, { recursive: true, force: true });
  return { code, records: lines.map((line) => JSON.parse(line)) };
}
