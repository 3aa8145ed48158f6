/**
 * What one more user costs a back end: hosts without a home, with one remote server and a credential store each.
 * `node bench/tenants.mjs [tenants] [--connect]` prints the memory and time of each.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { createHost } from '../dist/index.js';
import { startHttpServer } from '../test/fixtures/http-server.mjs';

const count = Number(process.argv[2] ?? 1000);
const connects = process.argv.includes('--connect');
const server = connects ? await startHttpServer() : undefined;
const url = server === undefined ? 'https://mcp.example/mcp' : `${server.origin}/mcp`;

function tenant(user) {
  const rows = new Map();
  return createHost({
    home: false,
    configuration: false,
    env: {},
    connect: 'none',
    credentials: {
      get: (key) => rows.get(key),
      set: (key, value) => rows.set(key, value),
      delete: (key) => rows.delete(key),
    },
    servers: { api: { url, headers: { authorization: `Bearer token-of-${user}` } } },
  });
}

async function settled() {
  await pause(50);
  globalThis.gc?.();
  await pause(50);
  globalThis.gc?.();
  return process.memoryUsage();
}

// The first ones load the code.
const warm = [await tenant('warm-1'), await tenant('warm-2')];
if (connects) await Promise.all(warm.map((host) => host.connect('api')));
const before = await settled();
const handles = process.getActiveResourcesInfo().length;
const start = performance.now();
const hosts = [];
for (let at = 0; at < count; at += 1) {
  const host = await tenant(`user-${at}`);
  if (connects) await host.connect('api');
  hosts.push(host);
}
const ms = performance.now() - start;
const after = await settled();
const kib = (key) => Math.round((after[key] - before[key]) / count / 1024);
console.log(
  JSON.stringify({
    tenants: count,
    connected: connects,
    heapKiB: kib('heapUsed'),
    rssKiB: kib('rss'),
    millisecondsEach: Number((ms / count).toFixed(2)),
    handlesMore: process.getActiveResourcesInfo().length - handles,
  }),
);
await Promise.all([...hosts, ...warm].map((host) => host.close()));
await server?.close();
