/**
 * What replicas cost: the CPU of all gateway processes for a call of a legacy session, with one, two and three replicas,
 * where nothing, everything and two thirds of it are forwarded, as a share of that of a gateway without a cluster; and
 * the memory of 30,000 idle sessions over three replicas. All gateways run at the same time and take turns. Linux only:
 * reads /proc; needs redis-server. `node bench/cluster.mjs [rounds] [sessions]`
 */

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { Pool } from 'undici';
import { cpuNs } from './cpu-time.mjs';
import { IN_FLIGHT } from './gateway-client.mjs';
import { record } from './records.mjs';
import { concurrent, describeMachine, interleave, median, roundsOf, table } from './rounds.mjs';

const CALLS_A_ROUND = 1_000;
/** For each process that receives calls: V8 compiles their path until about here. */
const WARM_UP_CALLS = 12_000;
const SESSIONS = 30_000;
const REPLICAS = 3;
/** Most shares of the gateway without a cluster. */
const MOST = { kept: 1.1, forwarded: 1.6 };

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const COMMAND = file('../dist/bin/plugboard.cjs');
const ECHO = { command: process.execPath, args: [file('echo-server.mjs')] };
const TOKEN = 'token-of-the-only-client-of-the-bench';
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  authorization: `Bearer ${TOKEN}`,
};
const HELLO = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
};

function residentKb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const children = [];

async function startRedis(dir) {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', dir];
  const child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.includes('Ready to accept connections')) break;
  }
  return `redis://127.0.0.1:${port}`;
}

/** Starts a gateway; with `redisUrl`, a replica. */
async function startGateway(dir, redisUrl) {
  const home = mkdtempSync(join(dir, 'home-'));
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers: { echo: ECHO } }));
  const { NODE_EXTRA_CA_CERTS: _certificates, ...environment } = process.env;
  const env = {
    ...environment,
    PLUGBOARD_HOME: home,
    PLUGBOARD_CREDENTIALS: 'file',
    PLUGBOARD_TOKEN: TOKEN,
    PLUGBOARD_CLUSTER_KEY: 'a-key-of-the-bench-with-32-bytes-or-more',
  };
  const cluster = redisUrl === undefined ? [] : ['--cluster', redisUrl];
  const args = [COMMAND, 'serve', '--http', '0', '--own', '--json', ...cluster];
  const child = spawn(process.execPath, args, { env, cwd: home, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const printed = await new Promise((done) => child.stdout.once('data', done));
  const [url] = /http:[^"\s]+/.exec(String(printed));
  return {
    pid: child.pid,
    url,
    pool: new Pool(new URL(url).origin, { connections: IN_FLIGHT, pipelining: 1 }),
  };
}

async function post({ pool }, body, headers = {}) {
  const sent = {
    path: '/mcp',
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify(body),
  };
  const answer = await pool.request(sent);
  return { headers: answer.headers, text: await answer.body.text() };
}

async function openSession(gateway) {
  const { headers } = await post(gateway, { jsonrpc: '2.0', id: 0, method: 'initialize', params: HELLO });
  const session = { 'mcp-session-id': headers['mcp-session-id'] };
  await post(gateway, { jsonrpc: '2.0', method: 'notifications/initialized' }, session);
  return session;
}

/** `entries`: the gateways that receive the calls, in turn; the first gateway of `all` has the session. */
async function contender(name, all, entries) {
  const [owner] = all;
  const session = await openSession(owner);
  const call = async (n) => {
    const params = { name: 'echo__echo', arguments: { message: `m${n}` } };
    const body = { jsonrpc: '2.0', id: n, method: 'tools/call', params };
    const { text } = await post(entries[n % entries.length], body, session);
    if (!text.includes(`"m${n}"`)) throw new Error(`${name} answered ${text}`);
  };
  await concurrent(call, WARM_UP_CALLS * entries.length, IN_FLIGHT);
  return { name, all, call };
}

async function cpuOfCall({ all, call }) {
  const cpu = () => all.reduce((sum, { pid }) => sum + cpuNs(pid), 0);
  const before = cpu();
  await concurrent(call, CALLS_A_ROUND, IN_FLIGHT);
  return (cpu() - before) / 1_000 / CALLS_A_ROUND;
}

async function measureCalls(dir, rounds) {
  const cluster = async (count) => {
    const redisUrl = await startRedis(dir);
    const replicas = [];
    for (let at = 0; at < count; at += 1) replicas.push(await startGateway(dir, redisUrl));
    return replicas;
  };
  const alone = [await startGateway(dir)];
  const [one, two, three] = [await cluster(1), await cluster(2), await cluster(3)];
  const base = 'a gateway without a cluster';
  const rows = [
    await contender(base, alone, alone),
    await contender('1 replica', one, one),
    await contender('2 replicas, not forwarded', two, [two[0]]),
    await contender('2 replicas, forwarded', two, [two[1]]),
    await contender('3 replicas, not forwarded', three, [three[0]]),
    await contender('3 replicas, round robin', three, three),
  ];
  const results = await interleave(rows, rounds, cpuOfCall);
  const kept = ['most', MOST.kept];
  const forwarded = ['most', MOST.forwarded];
  table(`CPU of a call of a legacy session, all gateway processes (${rounds} rounds)`, results, {
    base,
    unit: 'µs',
    digits: 1,
    goals: {
      '1 replica': kept,
      '2 replicas, not forwarded': kept,
      '2 replicas, forwarded': forwarded,
      '3 replicas, not forwarded': kept,
      '3 replicas, round robin': forwarded,
    },
  });
  for (const { pool } of [...alone, ...one, ...two, ...three]) await pool.destroy();
}

async function measureSessions(dir, sessions) {
  const redisUrl = await startRedis(dir);
  const replicas = [];
  for (let at = 0; at < REPLICAS; at += 1) replicas.push(await startGateway(dir, redisUrl));
  const redis = new Redis(redisUrl);
  const redisBytes = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))[1]);
  for (const replica of replicas) await concurrent(() => openSession(replica), 200, IN_FLIGHT);
  const before = { kb: replicas.map(({ pid }) => residentKb(pid)), redis: await redisBytes() };
  const each = Math.floor(sessions / REPLICAS) - 200;
  for (const replica of replicas) await concurrent(() => openSession(replica), each, IN_FLIGHT);
  const grown = replicas.map(({ pid }, at) => residentKb(pid) - before.kb[at]);
  const perSession = median(grown) / each;
  const redisPerSession = ((await redisBytes()) - before.redis) / (each * REPLICAS) / 1024;
  const idle = replicas.map(({ pid }) => cpuNs(pid));
  const waitMs = 10_000;
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  const shares = replicas.map(({ pid }, at) => (cpuNs(pid) - idle[at]) / 1e6 / waitMs);
  redis.disconnect();
  console.log(`\n${sessions} idle legacy sessions over ${REPLICAS} replicas`);
  console.log(`  memory of a replica, each session   ${perSession.toFixed(1)} KB`);
  console.log(`  memory of Redis, each session       ${redisPerSession.toFixed(2)} KB`);
  console.log(`  CPU of an idle replica              ${(median(shares) * 100).toFixed(2)} % of a core`);
  const measure = `${sessions} idle legacy sessions over ${REPLICAS} replicas`;
  record({ measure, name: 'a replica, each session', value: perSession, unit: 'KB' });
  record({ measure, name: 'Redis, each session', value: redisPerSession, unit: 'KB' });
  for (const { pool } of replicas) await pool.destroy();
}

const rounds = roundsOf(process.argv[2], 20);
const sessions = Number(process.argv[3]) || (process.env.BENCH_QUICK === '1' ? 1_500 : SESSIONS);
const dir = mkdtempSync(join(tmpdir(), 'plugboard-cluster-bench-'));
console.log(describeMachine());
try {
  await measureCalls(dir, rounds);
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await measureSessions(dir, sessions);
} finally {
  for (const child of children) child.kill('SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 500));
  rmSync(dir, { recursive: true, force: true });
}
