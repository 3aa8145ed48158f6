/**
 * From the start of `serve` with ten servers of known tools to the first `tools/list` that is answered, over stdio and
 * HTTP; beside the time that a program with the plain SDK needs for the same ten servers. Each in processes of their
 * own, interleaved. After `npm run build`: node bench/gateway-start.mjs [rounds]
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeMachine, interleave, roundsOf, table } from './rounds.mjs';

const ROUNDS = roundsOf(process.argv[2], 7);
const SERVERS = 10;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const { NODE_EXTRA_CA_CERTS: _certificates, ...clean } = process.env;
const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
const entry = { command: process.execPath, args: [path('./sdk-server.mjs')] };
const mcpServers = Object.fromEntries(Array.from({ length: SERVERS }, (_, n) => [`s${n}`, entry]));
writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers, toolSearch: false }));

function serve(...flags) {
  return spawn(process.execPath, [path('../dist/bin/plugboard.cjs'), 'serve', ...flags], {
    cwd: home,
    env: { ...clean, PLUGBOARD_HOME: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

/** Reads stdout until `found` gives something. */
async function until(child, found) {
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk;
    const value = found(text);
    if (value) return value;
  }
  throw new Error(`ended after: ${text}`);
}

async function ended(child) {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end();
  child.kill();
  await exited;
}

function count(tools, from) {
  const found = tools.filter(({ name }) => name.endsWith('__echo')).length;
  if (found !== SERVERS) throw new Error(`${found} tools of ours`);
  return performance.now() - from;
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

async function overStdio() {
  const from = performance.now();
  const child = serve();
  child.stdin.write(`${JSON.stringify(initialize)}\n${JSON.stringify(list)}\n`);
  const line = await until(child, (text) => text.split('\n').find((each) => /"id":1\b.*\}$/.test(each)));
  const ms = count(JSON.parse(line).result.tools, from);
  await ended(child);
  return ms;
}

async function overHttp() {
  const from = performance.now();
  const child = serve('--http', '0', '--no-auth');
  const url = await until(child, (text) => /(http:\/\/[\d.:]+\/mcp)/.exec(text)?.[1]);
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(list) });
  const ms = count((await answer.json()).result.tools, from);
  await ended(child);
  return ms;
}

/** The child's own program is in `start.mjs`, which compares whole starts. */
async function plainSdk() {
  const env = { ...clean, BENCH_CLIENT: 'sdk', BENCH_SERVERS: String(SERVERS) };
  const child = spawn(process.execPath, [path('./start.mjs')], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ms = Number(await until(child, (text) => text.endsWith('\n') && text));
  await ended(child);
  return ms;
}

console.log(describeMachine());
const contenders = [
  { name: 'plain SDK, ten connected and listed', measure: plainSdk },
  { name: 'plugboard serve, stdio', measure: overStdio },
  { name: 'plugboard serve --http', measure: overHttp },
];
// The first start fills the cache.
await overStdio();
const results = await interleave(contenders, ROUNDS, ({ measure }) => measure());
table(`${SERVERS} servers, start to the first tools/list answered (${ROUNDS} rounds)`, results, {
  base: contenders[0].name,
  unit: 'ms',
  goals: { 'plugboard serve, stdio': ['most', 0.3], 'plugboard serve --http': ['most', 0.3] },
});
rmSync(home, { recursive: true, force: true });
