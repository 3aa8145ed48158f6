/**
 * How long until a host has all its tools: ten servers with fifty tools each, from cold and from the cache,
 * each in a fresh process, interleaved; and what five thousand tools of one server cost us.
 * After `npm run build`: node bench/cached-start.mjs [rounds]
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { record } from './records.mjs';
import { describeMachine, interleave, median, roundsOf, table } from './rounds.mjs';

const SERVERS = 10;
const TOOLS = 50;
/** 0.6 × the CPU time of 0.2.0, which was 10.8 × that of an empty program in the same run. */
const GOAL_OVER_NODE = 6.5;
const server = fileURLToPath(new URL('./many-tools-server.mjs', import.meta.url));
const index = new URL('../dist/index.js', import.meta.url).href;

/** In the child: makes a host, waits for its tools, and prints what that took and what it started. */
async function child(home, tools, servers) {
  const from = performance.now();
  const { createHost } = await import(index);
  const entries = Array.from({ length: servers }, (_, at) => [
    `s${at}`,
    { command: process.execPath, args: [server, String(tools)] },
  ]);
  const host = await createHost({
    home,
    cwd: home,
    watch: false,
    toolSearch: false,
    servers: Object.fromEntries(entries),
  });
  const known = host.tools().length;
  if (known < servers * tools) await host.ready();
  const cpu = process.cpuUsage();
  const ms = performance.now() - from;
  const count = host.tools().length;
  const children = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).length;
  await host.close();
  console.log(JSON.stringify({ ms, count, known, children, cpuMs: (cpu.user + cpu.system) / 1000 }));
}

/** CPU time of a program that only measures it, in ms. */
function cpuOfNode() {
  const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;
  const script = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)';
  return Number(spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' }).stdout);
}

function run(home, tools = TOOLS, servers = SERVERS) {
  const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [fileURLToPath(import.meta.url), 'child', home, tools, servers],
    {
      env,
      encoding: 'utf8',
    },
  );
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

if (process.argv[2] === 'child') {
  await child(process.argv[3], Number(process.argv[4]), Number(process.argv[5]));
} else {
  const rounds = roundsOf(process.argv[2], 15);
  console.log(describeMachine());
  const warm = mkdtempSync(join(tmpdir(), 'plugboard-warm-'));
  run(warm);
  const spawned = [];
  const cpus = [];
  const results = await interleave([{ name: 'cold' }, { name: 'from the cache' }], rounds, ({ name }) => {
    const home = name === 'cold' ? mkdtempSync(join(tmpdir(), 'plugboard-cold-')) : warm;
    const { ms, count, known, cpuMs } = run(home);
    if (count !== SERVERS * TOOLS) throw new Error(`${count} tools`);
    if (home === warm) {
      spawned.push(known === count ? 0 : 1);
      cpus.push(cpuMs);
    } else rmSync(home, { recursive: true, force: true });
    return ms;
  });
  table(
    `${SERVERS} servers, ${SERVERS * TOOLS} tools, import to complete tools() (${rounds} rounds)`,
    results,
    {
      base: 'cold',
      unit: 'ms',
      digits: 1,
    },
  );
  console.log(
    `  starts from the cache that needed a process: ${spawned.filter(Boolean).length} of ${spawned.length}`,
  );

  const bare = cpus.map(() => cpuOfNode());
  const ratio = median(cpus.map((cpu, at) => cpu / bare[at]));
  console.log(`  CPU from the cache: ${median(cpus).toFixed(0)} ms, ${ratio.toFixed(2)} × an empty program`);
  record({
    measure: 'a host from the cache, 500 tools, CPU',
    name: 'from the cache',
    value: median(cpus),
    unit: 'ms',
    ratio,
    base: 'an empty program',
    goal: ['most', GOAL_OVER_NODE],
  });

  const one = [];
  for (let round = 0; round < 5; round += 1) {
    const home = mkdtempSync(join(tmpdir(), 'plugboard-large-'));
    one.push(run(home, 5_000, 1).cpuMs);
    rmSync(home, { recursive: true, force: true });
  }
  console.log(
    `\n5,000 tools of one server: ${median(one).toFixed(0)} ms of our own CPU, start-up of Node included`,
  );
  const measure = '5,000 tools of one server, CPU';
  record({ measure, name: 'plugboard', value: median(one), unit: 'ms' });
  rmSync(warm, { recursive: true, force: true });
}
