/**
 * The rows of the guard. Each opens what it measures for one build, and returns `{ round(), close() }`: a round does a
 * little work and returns the µs of CPU that one unit of it took in the processes of the build.
 */

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, IN_FLIGHT } from '../gateway-client.mjs';
import { concurrent, sequential } from '../rounds.mjs';
import { stdioClient } from '../stdio-client.mjs';

// Short rounds: what other programs take from the machine then falls on both builds alike.
const ONE_BY_ONE = 100;
const AT_ONCE = 800;
const LARGE = 5;
const LARGE_BYTES = 1_048_576;
const SERVERS = 20;
const bench = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const ECHO = { command: process.execPath, args: [bench('echo-server.mjs')] };
const SIZED = { command: process.execPath, args: [bench('growth/large-server.mjs')] };
const { NODE_EXTRA_CA_CERTS: _certificates, ...environment } = process.env;

/** Nanoseconds on a processor of all threads of a process. */
function cpuNs(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]))
    .reduce((sum, each) => sum + each, 0);
}

function measured(pid, call, { count, atOnce = false }, close) {
  return {
    async round() {
      const before = cpuNs(pid);
      await (atOnce ? concurrent(call, count, IN_FLIGHT) : sequential(call, count));
      return (cpuNs(pid) - before) / 1_000 / count;
    },
    close,
  };
}

const inARow = { count: ONE_BY_ONE };
const many = { count: AT_ONCE, atOnce: true };

/** A folder, with a home that has these servers, for one row of one build. */
function place({ dir, name }, row, mcpServers) {
  const folder = join(dir, `${name}-${row.replace(/\W+/g, '-')}`);
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers }));
  const env = { ...environment, PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file', PLUGBOARD_DAEMON: '0' };
  return { home, options: { env, cwd: folder } };
}

function ended(child) {
  const over = new Promise((resolve) => child.once('exit', resolve));
  child.kill();
  return over;
}

/** A host in a process of its own, which calls a tool so often as it is asked to, and answers when it is done. */
async function library(build, row, { entry, tool, args, load }) {
  const { home, options } = place(build, row, {});
  const program = [bench('guard/calling.mjs'), build.checkout, home, JSON.stringify({ entry, tool, args })];
  const child = spawn(process.execPath, program, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  const answered = () => new Promise((resolve) => child.stdout.once('data', resolve));
  await answered();
  return {
    async round() {
      const before = cpuNs(child.pid);
      const done = answered();
      child.stdin.write(`${JSON.stringify({ count: load.count, inFlight: load.atOnce ? IN_FLIGHT : 1 })}\n`);
      await done;
      return (cpuNs(child.pid) - before) / 1_000 / load.count;
    },
    close: () => ended(child),
  };
}

const TOOL = 'echo__echo';

async function overHttp(build, row, { modern, load }) {
  const { options } = place(build, row, { echo: ECHO });
  const args = [build.command, 'serve', '--http', '0', '--no-auth', '--own', '--json'];
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
  const printed = await new Promise((done) => child.stdout.once('data', done));
  const [url] = /http:[^"\s]+/.exec(String(printed));
  const client = await connect({ name: build.name, url, headers: {}, tool: TOOL }, { modern });
  return measured(child.pid, client.call, load, () => ended(child));
}

async function overStdio(build, row, { load }) {
  const { options } = place(build, row, { echo: ECHO });
  const client = stdioClient(process.execPath, [build.command, 'serve', '--own'], options);
  await client.initialize();
  await client.request('tools/list', {});
  const call = async (n) => {
    const { result } = await client.request('tools/call', { name: TOOL, arguments: { message: `m${n}` } });
    if (result?.content[0].text !== `m${n}`) throw new Error(`${build.name}: ${JSON.stringify(result)}`);
  };
  return measured(client.child.pid, call, load, () => ended(client.child));
}

/** One command from start to end: its own CPU, without its servers. */
async function command(build, row, { args, servers = {}, first }) {
  const { options, home } = place(build, row, servers);
  const file = join(home, 'cpu');
  const hook = join(home, 'hook.cjs');
  const onExit = `const { user, system } = process.cpuUsage(); require('node:fs').writeFileSync(${JSON.stringify(file)}, String(user + system));`;
  writeFileSync(hook, `process.on('exit', () => { ${onExit} });`);
  const run = (given) => {
    const { status, stderr } = spawnSync(process.execPath, ['-r', hook, build.command, ...given], options);
    if (status !== 0) throw new Error(`${given.join(' ')} of ${build.name}: ${stderr}`);
    return Number(readFileSync(file, 'utf8'));
  };
  if (first !== undefined) run(first);
  return { round: async () => run(args), close: async () => {} };
}

const twenty = Object.fromEntries(Array.from({ length: SERVERS }, (_, at) => [`s${at}`, ECHO]));
const echo = { entry: ECHO, tool: 'echo', args: { message: 'm' } };
const large = { entry: SIZED, tool: 'sized', args: { bytes: LARGE_BYTES } };

/** `[name, opens it for a build]`. */
export const ROWS = [
  ['host.call, one after another', library, { ...echo, load: inARow }],
  [`host.call, ${IN_FLIGHT} at once`, library, { ...echo, load: many }],
  ['host.call, a result of 1 MB', library, { ...large, load: { count: LARGE } }],
  ['gateway over HTTP, legacy, one after another', overHttp, { modern: false, load: inARow }],
  [`gateway over HTTP, legacy, ${IN_FLIGHT} at once`, overHttp, { modern: false, load: many }],
  ['gateway over HTTP, modern, one after another', overHttp, { modern: true, load: inARow }],
  [`gateway over HTTP, modern, ${IN_FLIGHT} at once`, overHttp, { modern: true, load: many }],
  ['gateway over stdio, one after another', overStdio, { load: inARow }],
  [`gateway over stdio, ${IN_FLIGHT} at once`, overStdio, { load: many }],
  ['plugboard --version', command, { args: ['--version'] }],
  ['plugboard list --no-connect, 20 servers', command, { args: ['list', '--no-connect'], servers: twenty }],
  [
    'plugboard tools from the cache, 20 servers',
    command,
    { args: ['tools'], servers: twenty, first: ['list'] },
  ],
  ['plugboard call', command, { args: ['call', 'echo', 'echo', 'message=m'], servers: { echo: ECHO } }],
];
