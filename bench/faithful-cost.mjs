/**
 * CPU of the gateway for a call: this build against another checkout's, interleaved, as ratios with their spread.
 *
 *   node bench/faithful-cost.mjs <other checkout> [rounds] [part of a way's name]
 */

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, IN_FLIGHT } from './gateway-client.mjs';
import { echoServer } from './gateway-peers.mjs';
import { concurrent, describeMachine, median, quantile, sequential } from './rounds.mjs';
import { stdioClient } from './stdio-client.mjs';

const HERE = fileURLToPath(new URL('..', import.meta.url));
// Short rounds: what other programs take from the machine then falls on both builds alike.
const ONE_BY_ONE = 100;
const AT_ONCE = 800;
const WARM_UP_ROUNDS = 12;
const TOOL = 'echo__echo';
const [other, rounds = '150', only = ''] = process.argv.slice(2);
if (other === undefined) throw new Error('name the other checkout, with its build in dist/');

const dir = mkdtempSync(join(tmpdir(), 'plugboard-cost-'));
const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env;

/** Nanoseconds on a processor of all threads of a process. */
function cpuNs(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((sum, each) => sum + each, 0);
}

/** A gateway of one build in a process of its own, before one echo server. */
function place(build, carrier) {
  const home = join(dir, `${build.name}-${carrier}`);
  mkdirSync(home);
  const mcpServers = { echo: { command: process.execPath, args: [echoServer] } };
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers }));
  const env = { ...environment, PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file', PLUGBOARD_DAEMON: '0' };
  return { command: join(build.checkout, 'dist/bin/plugboard.cjs'), options: { env, cwd: dir } };
}

async function overHttp(build, modern) {
  const { command, options } = place(build, modern ? 'http-modern' : 'http');
  const args = [command, 'serve', '--http', '0', '--no-auth', '--own', '--json'];
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
  const printed = await new Promise((done) => child.stdout.once('data', done));
  const [url] = /http:[^"\s]+/.exec(String(printed));
  const client = await connect({ name: build.name, url, headers: {}, tool: TOOL }, { modern });
  return { pid: child.pid, call: client.call, child };
}

async function overStdio(build) {
  const { command, options } = place(build, 'stdio');
  const client = stdioClient(process.execPath, [command, 'serve', '--own'], options);
  await client.initialize();
  await client.request('tools/list', {});
  const call = async (n) => {
    const { result } = await client.request('tools/call', { name: TOOL, arguments: { message: `m${n}` } });
    if (result?.content[0].text !== `m${n}`) throw new Error(`${build.name}: ${JSON.stringify(result)}`);
  };
  return { pid: client.child.pid, call, child: client.child };
}

const builds = [
  { name: 'this', checkout: HERE },
  { name: 'other', checkout: resolve(other) },
];
const ways = [
  ['HTTP, legacy client', (build) => overHttp(build, false)],
  ['HTTP, modern client', (build) => overHttp(build, true)],
  ['stdio, legacy client', overStdio],
].filter(([way]) => way.includes(only));
const loads = [
  ['one after another', ONE_BY_ONE, (call) => sequential(call, ONE_BY_ONE)],
  [`${IN_FLIGHT} at once`, AT_ONCE, (call) => concurrent(call, AT_ONCE, IN_FLIGHT)],
];

/** Between which two values the median lies, of 95 in 100 such measurements: the ranks of the binomial distribution. */
function likely(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const reach = 0.98 * Math.sqrt(sorted.length);
  const middle = (sorted.length - 1) / 2;
  return [Math.floor(middle - reach), Math.ceil(middle + reach)].map(
    (at) => sorted[Math.min(Math.max(at, 0), sorted.length - 1)],
  );
}

console.log(describeMachine());
for (const [way, open] of ways) {
  const gateways = await Promise.all(builds.map(open));
  for (const [load, calls, run] of loads) {
    const measured = [[], []];
    const ratios = [];
    for (let round = -WARM_UP_ROUNDS; round < Number(rounds); round += 1) {
      const us = [];
      for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const { pid, call } = gateways[at];
        const before = cpuNs(pid);
        await run(call);
        us[at] = (cpuNs(pid) - before) / 1_000 / calls;
      }
      if (round < 0) continue;
      ratios.push(us[0] / us[1]);
      for (const at of [0, 1]) measured[at].push(us[at]);
    }
    // Other work on the machine only ever adds: the lower quarter is what the gateway itself needs.
    const [now, before] = measured.map((values) => quantile(values, 0.25));
    const [low, high] = likely(ratios).map((each) => each.toFixed(3));
    console.log(
      `${way}, ${load}: ${median(ratios).toFixed(3)} × (median of ${ratios.length} pairs, 95 % ${low} to ${high}), ${now.toFixed(0)} against ${before.toFixed(0)} µs of CPU for a call`,
    );
  }
  for (const { child } of gateways) {
    const ended = new Promise((done) => child.once('exit', done));
    child.kill();
    await ended;
  }
}
rmSync(dir, { recursive: true, force: true });
