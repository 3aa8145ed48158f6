/**
 * Ten stdio servers from cold to their tool lists: our host beside the plain SDK v2 client with Promise.all in
 * legacy mode, and the same ten with an eleventh that never answers. Servers are made with the SDK, each client in a
 * process of its own, so that loading counts. After `npm run build`: node bench/start.mjs [rounds]
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeMachine, interleave, table } from './rounds.mjs';

const ROUNDS = Math.max(1, Number(process.argv[2]) || 15);
const SERVERS = 10;
const server = fileURLToPath(new URL('./sdk-server.mjs', import.meta.url));

/** Runs in the child: connects to all, then prints how long that took since the process began. */
const CLIENTS = {
  async sdk() {
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const clients = await Promise.all(
      Array.from({ length: SERVERS }, async () => {
        const client = new Client({ name: 'bench', version: '1' });
        await client.connect(new StdioClientTransport({ command: process.execPath, args: [server] }));
        await client.listTools();
        return client;
      }),
    );
    return async () => {
      for (const client of clients) await client.close();
    };
  },
  /** A home that is new each time knows no era: every server is probed. */
  cold: () => ours({ hanging: 0, fresh: true }),
  /** As on the second day: eras are known, lists are read again. */
  known: () => ours({ hanging: 0, fresh: false }),
  hanging: () => ours({ hanging: 1, fresh: true }),
};

async function ours({ hanging, fresh }) {
  const { createHost } = await import('../dist/index.js');
  const home = fresh ? mkdtempSync(join(tmpdir(), 'plugboard-bench-')) : process.env.BENCH_HOME;
  const good = Array.from({ length: SERVERS }, (_, n) => [
    `s${n}`,
    { command: process.execPath, args: [server] },
  ]);
  const bad = Array.from({ length: hanging }, (_, n) => [
    `h${n}`,
    { command: process.execPath, args: [server, 'hang'] },
  ]);
  const host = await createHost({
    home,
    cwd: home,
    watch: false,
    connect: 'all',
    servers: Object.fromEntries([...bad, ...good]),
  });
  const there = () => host.servers().filter(({ status }) => status === 'connected').length;
  await new Promise((resolve) => {
    const look = () => there() === SERVERS && resolve();
    host.on('server', look);
    look();
  });
  return async () => {
    await host.close();
    if (fresh) rmSync(home, { recursive: true, force: true });
  };
}

const role = process.env.BENCH_CLIENT;
if (role !== undefined) {
  const close = await CLIENTS[role]();
  process.stdout.write(`${performance.now()}\n`);
  await close();
  process.exit(0);
}

async function measure({ role }) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    env: { ...process.env, BENCH_CLIENT: role, BENCH_HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${role} ended with ${code}`);
  return Number(text);
}

const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
console.log(describeMachine());
const contenders = [
  { name: 'SDK v2 clients, Promise.all', role: 'sdk' },
  { name: 'host, eras not known', role: 'cold' },
  { name: 'host, eras known', role: 'known' },
  { name: 'host, and one that hangs', role: 'hanging' },
];
const results = await interleave(contenders, ROUNDS, measure);
table(`${SERVERS} stdio servers from cold to their lists (${ROUNDS} rounds; target 1.15 ×)`, results, {
  base: contenders[0].name,
  unit: 'ms',
});
rmSync(home, { recursive: true, force: true });
