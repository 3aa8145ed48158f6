/**
 * Many clients of one gateway at once, each with a session, an open stream and one call: errors and memory per client.
 * Then the resident memory with ten servers. After `npm run build`: node bench/gateway-clients.mjs [clients]
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { record } from './records.mjs';

const CLIENTS = Number(process.argv[2]) || 1_000;
const SETTLE_MS = 1_000;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const agent = new Agent({ keepAlive: true, maxSockets: 4_000 });
const ACCEPT = 'application/json, text/event-stream';

async function start(servers) {
  const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
  const given = Array.from({ length: servers }, (_, n) => [
    '--server',
    `echo${n}=${process.execPath} ${path('./echo-server.mjs')}`,
  ]).flat();
  const args = [path('../dist/cli/main.js'), 'serve', '--http', '0', '--no-auth', '--own', ...given];
  const env = { ...process.env, PLUGBOARD_HOME: home };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  while (!/\/mcp/.test(printed)) await sleep(20);
  const url = /(http:\/\/[\d.:]+\/mcp)/.exec(printed)[1];
  const end = async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await gone;
    rmSync(home, { recursive: true, force: true });
  };
  return { child, url, end };
}

function send(url, method, body, headers = {}, keepOpen = false) {
  return new Promise((resolve, reject) => {
    const options = {
      method,
      agent,
      headers: { 'content-type': 'application/json', accept: ACCEPT, ...headers },
    };
    const sent = request(url, options, (answer) => {
      if (keepOpen) return resolve(answer);
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ headers: answer.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const residentKb = ({ pid }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);

async function client(url, n) {
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: `c${n}`, version: '1' },
  };
  const { headers } = await send(url, 'POST', { jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const session = { 'mcp-session-id': headers['mcp-session-id'] };
  const stream = await send(url, 'GET', undefined, session, true);
  const call = { name: 'echo0__echo', arguments: { message: `m${n}` } };
  const { text } = await send(
    url,
    'POST',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
    session,
  );
  if (JSON.parse(text).result.content[0].text !== `m${n}`) throw new Error(text);
  return stream;
}

const one = await start(1);
await client(one.url, -1);
await sleep(SETTLE_MS);
const before = residentKb(one.child);
const settled = await Promise.allSettled(Array.from({ length: CLIENTS }, (_, n) => client(one.url, n)));
await sleep(SETTLE_MS);
const after = residentKb(one.child);
const failed = settled.filter(({ status }) => status === 'rejected');
console.log(`${CLIENTS} clients at once, each with session, stream and call: ${failed.length} errors`);
if (failed.length > 0) console.log(String(failed[0].reason));
console.log(
  `resident: ${(before / 1024).toFixed(0)} → ${(after / 1024).toFixed(0)} MB, ${((after - before) / CLIENTS).toFixed(0)} KB a client`,
);
record({ measure: `${CLIENTS} clients of one gateway`, name: 'errors', value: failed.length, unit: '' });
record({
  measure: `${CLIENTS} clients of one gateway`,
  name: 'memory of one',
  value: (after - before) / CLIENTS,
  unit: 'KB',
});
await one.end();
const ten = await start(10);
await client(ten.url, 0);
await sleep(SETTLE_MS);
console.log(`resident with ten servers: ${(residentKb(ten.child) / 1024).toFixed(0)} MB`);
record({
  measure: 'gateway with ten servers',
  name: 'resident',
  value: residentKb(ten.child) / 1024,
  unit: 'MB',
});
await ten.end();
agent.destroy();
