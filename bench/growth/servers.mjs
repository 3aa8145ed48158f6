/** What 1 to 200 servers cost the host: to start them from cold, to know them from the cache, and to call one of them. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createHost } from '../../dist/index.js';
import { stdioClient } from '../stdio-client.mjs';
import { curve, ownCpuMs } from './curve.mjs';

const SIZES = [1, 2, 5, 10, 20, 50, 100, 200];
const CALLS = 300;
const axis = 'servers';
const args = [fileURLToPath(new URL('tiny-server.sh', import.meta.url))];
const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));
const CPU_AT_EXIT = fileURLToPath(new URL('cpu-at-exit.cjs', import.meta.url));

const temp = () => mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
const remove = (folder) => rmSync(folder, { recursive: true, force: true });
const range = (count) => Array.from({ length: count }, (_, n) => n);
const entries = (count) => Object.fromEntries(range(count).map((n) => [`s${n}`, { command: 'sh', args }]));

function open(home, count, connect) {
  return createHost({
    home,
    cwd: home,
    watch: false,
    connect,
    servers: entries(count),
    approve: () => 'allow',
  });
}

async function started(home, count) {
  const host = await open(home, count, 'all');
  await host.ready();
  if (host.tools().length !== count) throw new Error(`${host.tools().length} tools of ${count} servers`);
  return host;
}

await curve({
  axis,
  measure: 'start of servers from cold, and their end',
  unit: 'ms of CPU',
  sizes: SIZES,
  budgetMs: 20_000,
  contenders: [
    {
      name: 'bare processes (limit)',
      open: (count) => ({
        run: () =>
          ownCpuMs(async () => {
            const clients = range(count).map(() => stdioClient('sh', args));
            await Promise.all(
              clients.map(async (client) => {
                await client.initialize();
                await client.request('tools/list', {});
              }),
            );
            await Promise.all(clients.map((client) => client.end()));
          }),
      }),
    },
    {
      name: 'SDK v2 clients',
      open: (count) => ({
        run: () =>
          ownCpuMs(async () => {
            const clients = range(count).map(() => new Client({ name: 'bench', version: '1' }));
            await Promise.all(
              clients.map(async (client) => {
                await client.connect(new StdioClientTransport({ command: 'sh', args }));
                await client.listTools();
              }),
            );
            await Promise.all(clients.map((client) => client.close()));
          }),
      }),
    },
    {
      name: 'plugboard',
      open: (count) => ({
        run: async () => {
          const home = temp();
          const cost = await ownCpuMs(async () => {
            const host = await started(home, count);
            await host.close();
          });
          remove(home);
          return cost;
        },
      }),
    },
  ],
});

await curve({
  axis,
  measure: 'a host from the cache, with every tool',
  unit: 'ms of CPU',
  sizes: SIZES,
  budgetMs: 8_000,
  contenders: [
    {
      name: 'plugboard',
      async open(count) {
        const home = temp();
        await (await started(home, count)).close();
        return {
          run: () =>
            ownCpuMs(async () => {
              const host = await open(home, count, 'none');
              if (host.tools().length !== count) throw new Error('not from the cache');
              await host.close();
            }),
          close: () => remove(home),
        };
      },
    },
  ],
});

await curve({
  axis,
  measure: `${CALLS} calls of one server among them`,
  unit: 'ms of CPU',
  sizes: SIZES,
  budgetMs: 8_000,
  contenders: [
    {
      name: 'plugboard',
      async open(count) {
        const home = temp();
        const host = await started(home, count);
        return {
          run: () =>
            ownCpuMs(async () => {
              for (let n = 0; n < CALLS; n += 1)
                await host.call(`mcp__s${count >> 1}__echo`, { message: '' });
            }),
          async close() {
            await host.close();
            remove(home);
          },
        };
      },
    },
  ],
});

await curve({
  axis,
  measure: 'plugboard list --no-connect',
  unit: 'ms of CPU',
  sizes: SIZES,
  budgetMs: 8_000,
  contenders: [
    { name: 'node -e 0 (limit)', open: () => ({ run: () => commandCpuMs(temp(), ['-e', '0']) }) },
    {
      name: 'plugboard',
      open(count) {
        const home = temp();
        writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers: entries(count) }));
        return {
          run: () => commandCpuMs(home, [COMMAND, 'list', '--no-connect']),
          close: () => remove(home),
        };
      },
    },
  ],
});

function commandCpuMs(home, words) {
  const { NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
  const env = { ...inherited, PLUGBOARD_HOME: home, CI: '1' };
  const options = { cwd: home, env, encoding: 'utf8', stdio: ['ignore', 'ignore', 'inherit', 'pipe'] };
  const { status, output } = spawnSync(process.execPath, ['--require', CPU_AT_EXIT, ...words], options);
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}`);
  return Number(output[3]);
}
