/** What 10 to 20,000 tools cost: to take them in, from the cache, to search among them, to serve them, and for a model. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { toAiSdk, toGemini, toOpenAI } from '../../dist/adapters/index.js';
import { decodeModel } from '../../dist/catalog/search/search-model.js';
import { buildIndex } from '../../dist/catalog/search/tool-index.js';
import { createHost } from '../../dist/index.js';
import { stdioClient } from '../stdio-client.mjs';
import { cpuMsOf, curve, ownCpuMs } from './curve.mjs';
import { HTTP, LIMIT, overHttp, overStdio, STDIO, throughLimit } from './gateways.mjs';
import { madeUpTools } from './made-up-tools.mjs';

const SIZES = [10, 50, 200, 1_000, 5_000, 19_999];
const CALLS = 300;
const QUERIES = [
  'close an issue',
  'list files of a folder',
  'who is in the channel',
  'sync the database tables',
];
const QUERY_TURNS = 5;
const axis = 'tools';
const unit = 'ms of CPU';
const server = fileURLToPath(new URL('large-server.mjs', import.meta.url));
const assets = fileURLToPath(new URL('../../assets', import.meta.url));

const temp = () => mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
const remove = (folder) => rmSync(folder, { recursive: true, force: true });

async function openHost(home, tools, more = {}) {
  const servers = { large: { command: process.execPath, args: [server, String(tools)] } };
  const host = await createHost({
    home,
    cwd: home,
    watch: false,
    servers,
    toolSearch: false,
    approve: () => 'allow',
    ...more,
  });
  if (more.connect !== 'none') await host.ready();
  if (host.tools({ all: true }).length !== tools + 1)
    throw new Error(`${host.tools({ all: true }).length} tools`);
  return host;
}

/** A host that stays, for what is asked of it again and again. */
async function lasting(tools, more, run) {
  const home = temp();
  const host = await openHost(home, tools, more);
  return {
    run: () => run(host),
    async close() {
      await host.close();
      remove(home);
    },
  };
}

await curve({
  axis,
  measure: 'the list of one server taken in',
  unit,
  sizes: SIZES,
  budgetMs: 15_000,
  contenders: [
    {
      name: 'parsed and nothing more (limit)',
      open: (tools) => ({
        run: () =>
          ownCpuMs(async () => {
            const client = stdioClient(process.execPath, [server, String(tools)]);
            await client.initialize();
            await client.request('tools/list', {});
            await client.end();
          }),
      }),
    },
    {
      name: 'SDK v2 client',
      open: (tools) => ({
        run: () =>
          ownCpuMs(async () => {
            const client = new Client({ name: 'bench', version: '1' });
            await client.connect(
              new StdioClientTransport({ command: process.execPath, args: [server, String(tools)] }),
            );
            await client.listTools();
            await client.close();
          }),
      }),
    },
    {
      name: 'plugboard',
      open: (tools) => ({
        async run() {
          const home = temp();
          const cost = await ownCpuMs(async () => {
            await (await openHost(home, tools)).close();
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
  unit,
  sizes: SIZES,
  budgetMs: 8_000,
  contenders: [
    {
      name: 'plugboard',
      async open(tools) {
        const home = temp();
        await (await openHost(home, tools)).close();
        return {
          run: () => ownCpuMs(async () => (await openHost(home, tools, { connect: 'none' })).close()),
          close: () => remove(home),
        };
      },
    },
  ],
});

await curve({
  axis,
  measure: `${CALLS} calls of one tool among them`,
  unit,
  sizes: SIZES,
  budgetMs: 6_000,
  contenders: [
    {
      name: 'plugboard',
      open: (tools) =>
        lasting(tools, {}, (host) =>
          ownCpuMs(async () => {
            for (let n = 0; n < CALLS; n += 1) await host.call('mcp__large__sized', { bytes: 16 });
          }),
        ),
    },
  ],
});

const model = decodeModel(readFileSync(join(assets, 'tool-search.bin')));
const indexed = (tools) =>
  madeUpTools(tools).map(({ name, ...rest }) => ({ name, server: 'large', tool: name, ...rest }));

await curve({
  axis,
  measure: 'the index of the search',
  unit,
  sizes: SIZES,
  budgetMs: 10_000,
  contenders: [
    {
      name: 'plugboard',
      open(tools) {
        const list = indexed(tools);
        return { run: () => ownCpuMs(() => buildIndex(list, model)) };
      },
    },
  ],
});

await curve({
  axis,
  measure: `${QUERIES.length * QUERY_TURNS} searches`,
  unit,
  sizes: SIZES,
  budgetMs: 8_000,
  contenders: [
    {
      name: 'plugboard',
      open(tools) {
        const index = buildIndex(indexed(tools), model);
        return {
          run: () =>
            ownCpuMs(() => {
              for (let turn = 0; turn < QUERY_TURNS; turn += 1) {
                for (const query of QUERIES) index.search(query, { limit: 10 });
              }
            }),
        };
      },
    },
  ],
});

const list = (open) => async (tools) => {
  const { pids, request, close } = await open([server, String(tools)]);
  return {
    run: () =>
      cpuMsOf(pids, async () => {
        const { result } = await request('tools/list', {});
        if (result.tools.length <= tools) throw new Error(`${result.tools.length} tools`);
      }),
    close,
  };
};

await curve({
  axis,
  measure: 'tools/list of the gateway',
  unit,
  sizes: SIZES,
  budgetMs: 8_000,
  contenders: [
    { name: LIMIT, open: list(throughLimit) },
    { name: HTTP, open: list(overHttp) },
    { name: STDIO, open: list(overStdio) },
  ],
});

const LOOKS = {
  toAiSdk: (host) => Object.keys(toAiSdk(host)).length,
  toOpenAI: (host) => toOpenAI(host).tools.length,
  toGemini: (host) => toGemini(host).tools.length,
};

await curve({
  axis,
  measure: 'tools given to a model',
  unit,
  sizes: SIZES,
  budgetMs: 10_000,
  contenders: Object.entries(LOOKS).map(([name, look]) => ({
    name,
    open(tools) {
      const definitions = indexed(tools);
      const call = () => Promise.reject(new Error('nobody calls'));
      return {
        run() {
          // New objects each time: nothing can be remembered of them.
          const fresh = structuredClone(definitions);
          return ownCpuMs(() => {
            look({ tools: () => fresh, call });
          });
        },
      };
    },
  })),
});
