/** Gateways as processes of their own, each in front of the same stdio servers: ours, the limit, and others from npm. */

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { command, program } from './peers.mjs';

const START_MS = 30_000;
/** A server of the bench by the name of its program: what it takes is not the gateway's. */
const SERVER = /\/bench\/.*-server\.mjs$/;
const ADDRESS = /(http:\/\/[\d.:]+\/mcp)/;
export const TOKEN = 'a-token-for-the-bench';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const { NODE_EXTRA_CA_CERTS: _certificates, ...clean } = process.env;

export const echoServer = path('./echo-server.mjs');

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** It is there when it has printed `ready`, whose first group is its address unless that is known. */
async function start({ name, args, url, ready, tool, headers = {}, sse = false, node = process.execPath }) {
  const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
  const env = { ...clean, HOME: home, PLUGBOARD_HOME: join(home, 'plugboard') };
  const child = spawn(node, args(home), { stdio: ['ignore', 'pipe', 'ignore'], env, cwd: home });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  for (let waited = 0; ready !== undefined && waited < START_MS; waited += 20) {
    const found = ready.exec(printed);
    if (found !== null) return { name, child, home, url: url ?? found[1], tool, headers, sse };
    await sleep(20);
  }
  return { name, child, home, url, tool, headers, sse };
}

const entries = (servers, more = {}) =>
  Object.fromEntries(
    Array.from({ length: servers }, (_, n) => [
      `echo${n}`,
      { command: process.execPath, args: [echoServer], ...more },
    ]),
  );

export function limit(server = [echoServer]) {
  const name = 'bare pass-through (limit)';
  return start({ name, args: () => [path('./gateway-limit.mjs'), ...server], ready: ADDRESS, tool: 'echo' });
}

export function ours(servers = 1, { server = [echoServer], settings = {} } = {}) {
  const given = Array.from({ length: servers }, (_, n) => [
    '--server',
    `echo${n}=${process.execPath} ${server.join(' ')}`,
  ]);
  return start({
    name: 'plugboard serve',
    args(home) {
      mkdirSync(join(home, 'plugboard'));
      writeFileSync(join(home, 'plugboard', 'config.json'), JSON.stringify(settings));
      const flags = ['--http', '0', '--token', TOKEN];
      return [path('../dist/bin/plugboard.cjs'), 'serve', ...flags, ...given.flat()];
    },
    ready: ADDRESS,
    tool: 'echo0__echo',
    headers: { authorization: `Bearer ${TOKEN}` },
  });
}

async function mcpProxy() {
  const file = await program('mcp-proxy');
  const port = await freePort();
  const flags = ['--port', String(port), '--server', 'stream', '--', process.execPath, echoServer];
  return start({
    name: 'mcp-proxy',
    args: () => [file, ...flags],
    url: `http://127.0.0.1:${port}/mcp`,
    tool: 'echo',
  });
}

async function supergateway() {
  const file = await program('supergateway');
  const port = await freePort();
  const stdio = ['--stdio', `${process.execPath} ${echoServer}`, '--outputTransport', 'streamableHttp'];
  return start({
    name: 'supergateway --stateful',
    args: () => [file, ...stdio, '--stateful', '--port', String(port)],
    url: `http://127.0.0.1:${port}/mcp`,
    tool: 'echo',
  });
}

/** It has only the old HTTP+SSE towards its clients. */
async function mcpHub(servers = 1) {
  const file = await program('mcp-hub');
  const port = await freePort();
  return start({
    name: 'mcp-hub',
    args(home) {
      const config = join(home, 'hub.json');
      writeFileSync(config, JSON.stringify({ mcpServers: entries(servers) }));
      return [file, '--port', String(port), '--config', config];
    },
    url: `http://127.0.0.1:${port}/mcp`,
    // A client that comes earlier is never answered.
    ready: /servers started successfully/,
    tool: 'echo0__echo',
    sse: true,
  });
}

async function mcporter(servers = 1) {
  const [node, file] = await command('mcporter');
  const port = await freePort();
  return start({
    name: 'mcporter serve',
    args(home) {
      mkdirSync(join(home, 'config'));
      const mcpServers = entries(servers, { lifecycle: 'keep-alive' });
      writeFileSync(join(home, 'config', 'mcporter.json'), JSON.stringify({ mcpServers, imports: [] }));
      return [file, 'serve', '--http', String(port)];
    },
    url: `http://127.0.0.1:${port}/mcp`,
    tool: 'echo0__echo',
    node,
  });
}

/** Those from npm, with one server. */
export const OTHERS = {
  'mcp-proxy': mcpProxy,
  'supergateway --stateful': supergateway,
  'mcp-hub': mcpHub,
  'mcporter serve': mcporter,
};

/** Those that can have several servers. */
export const OTHERS_WITH_MANY = { 'mcp-hub': mcpHub, 'mcporter serve': mcporter };

/**
 * A gateway and what it started, without the servers: some do their work in a second process, and ours in its daemon,
 * which has the same home.
 */
export function processesOf({ child, home }) {
  const parents = new Map();
  const found = [child.pid];
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const isServer = SERVER.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').at(1) ?? '');
      if (isServer) continue;
      parents.set(Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      const isOfHome = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`=${home}`);
      if (isOfHome && Number(pid) !== child.pid) found.push(Number(pid));
    } catch {
      // It has ended meanwhile.
    }
  }
  for (const parent of found)
    for (const [pid, of] of parents) if (of === parent && !found.includes(pid)) found.push(pid);
  return found;
}

export function residentMb(pids) {
  const kb = pids.map((pid) =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0),
  );
  return kb.reduce((sum, each) => sum + each, 0) / 1024;
}

/** From /proc, in ticks of 10 ms: over thousands of calls that is exact enough. */
export function cpuUs(pids) {
  return pids.reduce((sum, pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) * 10_000;
  }, 0);
}

export async function end(gateways) {
  for (const gateway of gateways) {
    // One that did not even start.
    if (gateway.child.exitCode !== null || gateway.child.signalCode !== null) continue;
    const pids = processesOf(gateway);
    const gone = new Promise((resolve) => gateway.child.once('exit', resolve));
    for (const pid of pids.reverse()) {
      try {
        process.kill(pid);
      } catch {
        // It ended with the one before it.
      }
    }
    await gone;
  }
}
