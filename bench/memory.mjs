/**
 * What an idle stdio connection costs in our process, and whether connecting and closing a hundred times leaves
 * anything. After `npm run build`: node bench/memory.mjs [connections] [cycles]
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createHost } from '../dist/index.js';
import { opened } from './peers.mjs';
import { record } from './records.mjs';
import { describeMachine } from './rounds.mjs';
import { stdioClients } from './stdio-clients.mjs';

const CONNECTIONS = Math.max(1, Number(process.argv[2]) || 50);
const CYCLES = Math.max(10, Number(process.argv[3]) || 100);
/** The bounds of issue 3; heap in place of resident memory for the cycles, which pages would blur. */
const MAX_MB_A_CONNECTION = 0.5;
const MAX_HEAP_GROWTH_MB = 2;
const WARM_CONNECTIONS = 10;
const WARM_UP_CYCLES = Math.ceil(CYCLES / 5);

const server = fileURLToPath(new URL('./echo-server.mjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
const entry = { command: process.execPath, args: [server], lifecycle: 'keep-alive' };
const open = () => createHost({ home, cwd: home, watch: false, connect: 'none' });

async function sample() {
  // Twice, with a turn between: what was closed is freed by its own callbacks first.
  for (let n = 0; n < 3; n += 1) {
    collectGarbage();
    await pause(50);
  }
  const { rss, heapUsed } = process.memoryUsage();
  return {
    rss: rss / 2 ** 20,
    heap: heapUsed / 2 ** 20,
    fds: readdirSync('/proc/self/fd').length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

/** In a child: what one more idle connection of another client takes, when ten were there before. */
async function other(name) {
  const client = stdioClients([server]).find((each) => each.name === name);
  for (let n = 0; n < WARM_CONNECTIONS; n += 1) await client.open();
  const few = await sample();
  for (let n = 0; n < CONNECTIONS; n += 1) await client.open();
  const many = await sample();
  process.stdout.write(String((many.heap - few.heap) / CONNECTIONS));
  process.exit(0);
}

/** Resident memory of so few is mostly what the system happens to hand out, so others are compared by their heap. */
const MEASURE = 'heap of an idle stdio connection';
const KB = 1024;

async function others() {
  const candidates = stdioClients([server])
    .filter(({ name }) => name !== 'host.call')
    .map(({ name }) => ({
      name,
      async open() {
        const env = { ...process.env, BENCH_CLIENT: name };
        const { stdout, status } = spawnSync(process.execPath, process.argv.slice(1), {
          env,
          encoding: 'utf8',
        });
        if (status !== 0) throw new Error(`ended with ${status}`);
        return { value: Number(stdout) };
      },
    }));
  for (const { name, value } of await opened(candidates, [MEASURE])) {
    console.log(`  ${name.padEnd(34)} ${(value * KB).toFixed(1)} KB of heap each`);
    record({ measure: MEASURE, name, value: value * KB, unit: 'KB' });
  }
}

const { BENCH_CLIENT: asked } = process.env;
if (asked !== undefined) await other(asked);

console.log(describeMachine());
const host = await open();
// Ten first: code that is loaded and compiled once is not the price of a connection.
for (let n = 0; n < WARM_CONNECTIONS; n += 1) await host.add(`warm${n}`, entry);
const before = await sample();
for (let n = 0; n < CONNECTIONS; n += 1) await host.add(`s${n}`, entry);
const after = await sample();
await host.close();
const each = (after.rss - before.rss) / CONNECTIONS;
console.log(
  `${CONNECTIONS} idle stdio connections: ${each.toFixed(3)} MB resident each (heap ${((after.heap - before.heap) / CONNECTIONS).toFixed(3)} MB), target ${MAX_MB_A_CONNECTION} MB`,
);

record({
  measure: 'memory of an idle stdio connection, resident',
  name: 'plugboard',
  value: each,
  unit: 'MB',
  goal: ['most', MAX_MB_A_CONNECTION],
});
const heapKb = ((after.heap - before.heap) / CONNECTIONS) * KB;
record({ measure: MEASURE, name: 'plugboard', value: heapKb, unit: 'KB' });
await others();

const cycle = async () => {
  const one = await open();
  await one.add('s', entry);
  await one.close();
};
for (let n = 0; n < WARM_UP_CYCLES; n += 1) await cycle();
const start = await sample();
for (let n = 0; n < CYCLES; n += 1) await cycle();
const end = await sample();
const heap = end.heap - start.heap;
console.log(
  `${CYCLES} cycles of connect and close: descriptors ${start.fds} → ${end.fds}, listeners ${start.listeners} → ${end.listeners}, heap ${heap >= 0 ? '+' : ''}${heap.toFixed(2)} MB, resident ${(end.rss - start.rss).toFixed(1)} MB`,
);
rmSync(home, { recursive: true, force: true });
const leaks = end.fds > start.fds || end.listeners > start.listeners || heap > MAX_HEAP_GROWTH_MB;
process.exit(leaks || each > MAX_MB_A_CONNECTION ? 1 : 0);
