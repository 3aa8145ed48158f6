/**
 * Twenty servers of both kinds and both eras are killed, stopped, continued, cut off and restarted at random while
 * calls run. Afterwards every call must have ended once and with its own answer, every server must be connected
 * again, no process may be left and memory must be flat. After `npm run build`: node scripts/chaos.mjs [seconds] [seed]
 */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createHost } from '../dist/index.js';
import { httpServer, leftOf, stdioServer } from './endurance-servers.mjs';
import { createRandomness } from './randomness.mjs';

const SECONDS = Number(process.argv[2] ?? 60);
const SEED = Number(process.argv[3] ?? Date.now() % 1_000_000);
const STDIO_SERVERS = 12;
const HTTP_SERVERS = 8;
const CALLERS = 16;
const CALL_MS = 3_000;
/** Longest wait for the last call, for the servers to come back, and for orphans to be collected. */
const SETTLE_MS = 120_000;
/** What may be added between the end of the warm-up and the end: lists, verdicts and events are all bounded. */
const MAX_HEAP_GROWTH_MB = 16;
const WARM_UP_SHARE = 0.3;

const folder = mkdtempSync(join(tmpdir(), 'plugboard-chaos-'));
const violations = [];
const { between, oneOf } = createRandomness(SEED);
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

function heapMb() {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

async function until(what, condition) {
  const left = await leftOf(condition, SETTLE_MS);
  if (left.length > 0) violations.push(`${what}: ${left.join(', ')}`);
}

console.log(`seed ${SEED}, ${SECONDS} s, ${STDIO_SERVERS} stdio and ${HTTP_SERVERS} HTTP servers`);
const servers = [
  ...Array.from({ length: STDIO_SERVERS }, (_, n) => stdioServer(n, { folder })),
  ...(await Promise.all(Array.from({ length: HTTP_SERVERS }, (_, n) => httpServer(n)))),
];
const host = await createHost({
  home: join(folder, 'home'),
  cwd: folder,
  watch: false,
  connect: 'all',
  toolSearch: false,
  approve: () => 'allow',
  servers: Object.fromEntries(
    servers.map(({ name, entry }) => [name, { ...entry, lifecycle: 'keep-alive', startupTimeoutMs: 8_000 }]),
  ),
});
const open = new Map();
const outcomes = {};
host.on('call.begin', ({ id }) => {
  if (open.has(id)) violations.push(`call ${id} began twice`);
  open.set(id, 0);
});
host.on('call.end', ({ id, outcome }) => {
  open.set(id, (open.get(id) ?? 0) + 1);
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  if (open.get(id) !== 1) violations.push(`call ${id} ended ${open.get(id)} times`);
});
await host.ready();

const endsAt = Date.now() + SECONDS * 1_000;
const acts = {};
let calls = 0;
let failures = 0;

async function caller() {
  while (Date.now() < endsAt) {
    const { name } = oneOf(servers);
    const message = `m${calls++}`;
    const wanted = between(0, 20);
    const signal = wanted === 0 ? AbortSignal.timeout(between(1, 50)) : undefined;
    try {
      const { content } = await host.call(`mcp__${name}__echo`, { message }, { timeoutMs: CALL_MS, signal });
      if (content[0]?.text !== message) violations.push(`${name} answered ${content[0]?.text} to ${message}`);
    } catch (error) {
      failures += 1;
      if (error.name !== 'PlugboardError' || error.code === 'INTERNAL')
        violations.push(`${name}: ${error.stack}`);
      // Nobody hammers at a server that is known to be away.
      await pause(between(20, 100));
    }
    await pause(between(0, 10));
  }
}

async function villain() {
  while (Date.now() < endsAt) {
    await pause(between(50, 250));
    const server = oneOf(servers);
    const act = oneOf([...Object.keys(server.acts), 'reconnect']);
    acts[act] = (acts[act] ?? 0) + 1;
    if (act === 'reconnect') {
      void host.disconnect(server.name);
      host.connect(server.name).catch(() => {});
    } else await server.acts[act]();
  }
}

let warmHeap = 0;
const warmUp = pause(SECONDS * 1_000 * WARM_UP_SHARE).then(() => {
  warmHeap = heapMb();
});
const work = Promise.all([villain(), warmUp, ...Array.from({ length: CALLERS }, caller)]);
const late = pause(SECONDS * 1_000 + SETTLE_MS, 'late', { ref: false });
if ((await Promise.race([work, late])) === 'late') violations.push('calls did not end');

for (const { heal } of servers) await heal();
const away = () => host.servers().filter(({ status }) => status !== 'connected');
// With its breaker open a server waits for a person; so does one that was told to go and has failed to come back.
let asked = 0;
for (const { name, status, error } of away()) {
  if (status !== 'connecting' && !/times in a row/.test(error?.message ?? '') && status !== 'disconnected')
    continue;
  asked += 1;
  await host.connect(name).catch(() => {});
}
await until('not connected at the end', () => away().map(({ name, status }) => `${name} is ${status}`));
const unended = [...open].filter(([, ends]) => ends !== 1).map(([id]) => id);
if (unended.length > 0) violations.push(`calls without an end: ${unended.join(', ')}`);
// One quiet round: whoever is connected works.
for (const { name } of servers) {
  await host.call(`mcp__${name}__echo`, { message: name }).catch((error) => {
    violations.push(`${name} is connected and does not work: ${error.message}`);
  });
}
open.clear();
const growth = heapMb() - warmHeap;
if (growth > MAX_HEAP_GROWTH_MB) violations.push(`the heap grew by ${growth.toFixed(1)} MB`);
await host.close();
for (const { close } of servers) await close();
const started = servers.flatMap(({ pids }) => pids());
await until('processes left', () => started.filter((pid) => existsSync(`/proc/${pid}`)));
await until('still held', () =>
  process.getActiveResourcesInfo().filter((kind) => /Process|TCP|FSEvent/.test(kind)),
);
rmSync(folder, { recursive: true, force: true });

console.log(`acts ${JSON.stringify(acts)}`);
console.log(`${calls} calls, ${failures} failed: ${JSON.stringify(outcomes)}`);
console.log(
  `${started.length} processes, ${asked} servers asked to come back, heap ${growth >= 0 ? '+' : ''}${growth.toFixed(1)} MB (bound ${MAX_HEAP_GROWTH_MB} MB)`,
);
for (const violation of new Set(violations)) console.error(`VIOLATED: ${violation}`);
console.log(violations.length === 0 ? 'held' : `${violations.length} violations, seed ${SEED}`);
process.exit(violations.length === 0 ? 0 : 1);
