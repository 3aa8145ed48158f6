/**
 * One tool call over stdio: `host.call` with its whole pipeline beside the plain SDK v2 client and the bare
 * JSON ping-pong, on the same echo server, interleaved. After `npm run build`: node bench/calls.mjs [rounds]
 */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createHost } from '../dist/index.js';
import { concurrent, describeMachine, interleave, sequential, table } from './rounds.mjs';

const ROUNDS = Math.max(15, Number(process.argv[2]) || 0);
const SEQUENTIAL = 1_000;
const CONCURRENT = 20_000;
const IN_FLIGHT = 64;
const server = fileURLToPath(new URL('./echo-server.mjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
// Approved by a rule, as in real use.
writeFileSync(join(home, 'config.json'), JSON.stringify({ permissions: { allow: ['mcp__echo__*'] } }));

/** The least that any client must do: the limit. */
function bare() {
  const child = spawn(process.execPath, [server], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  let rest = '';
  let batch = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const { id, result } = JSON.parse(line);
      waiting.get(id)?.(result);
      waiting.delete(id);
    }
  });
  let nextId = 1;
  return {
    name: 'bare ping-pong (the limit)',
    call: (n) =>
      new Promise((resolve) => {
        const id = nextId++;
        waiting.set(id, resolve);
        if (batch === '') {
          process.nextTick(() => {
            child.stdin.write(batch);
            batch = '';
          });
        }
        const params = { name: 'echo', arguments: { message: `m${n}` } };
        batch += `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`;
      }),
    close: () => child.kill(),
  };
}

async function sdk() {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [server] }));
  return {
    name: 'SDK v2 client',
    call: (n) => client.callTool({ name: 'echo', arguments: { message: `m${n}` } }),
    close: () => client.close(),
  };
}

async function ours() {
  const host = await createHost({
    home,
    cwd: home,
    watch: false,
    servers: { echo: { command: process.execPath, args: [server], lifecycle: 'eager' } },
  });
  await host.ready();
  // Somebody looks on, as an agent does.
  let ended = 0;
  host.on('call.begin', () => {});
  host.on('call.end', () => {
    ended += 1;
  });
  return {
    name: 'host.call',
    call: (n) => host.call('mcp__echo__echo', { message: `m${n}` }),
    close: async () => {
      await host.close();
      if (ended === 0) throw new Error('no call was told to have ended');
    },
  };
}

console.log(describeMachine());
const contenders = [bare(), await sdk(), await ours()];
const base = 'SDK v2 client';
const slow = await interleave(contenders, ROUNDS, ({ call }) => sequential(call, SEQUENTIAL));
table(`stdio, one call after another, p50 (${SEQUENTIAL} calls a round, ${ROUNDS} rounds)`, slow, {
  base,
  unit: 'µs',
});
const fast = await interleave(contenders, ROUNDS, ({ call }) => concurrent(call, CONCURRENT, IN_FLIGHT));
table(`stdio, ${IN_FLIGHT} at once (${CONCURRENT} calls a round, ${ROUNDS} rounds)`, fast, {
  base,
  unit: 'calls/s',
});
for (const { close } of contenders) await close();
rmSync(home, { recursive: true, force: true });
