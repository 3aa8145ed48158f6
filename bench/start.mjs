/**
 * 1, 10 and 50 stdio servers from cold to their tool lists: our host beside the bare minimum, the SDKs and the AI SDK's
 * client, each with Promise.all; from our cache; and the ten with an eleventh that never answers. Servers are made with
 * the SDK, each client in a process of its own, so that loading counts. After `npm run build`: node bench/start.mjs [rounds]
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { moduleUrl, opened, sdkV1Url } from './peers.mjs';
import { describeMachine, interleave, numberPrintedBy, roundsOf, table } from './rounds.mjs';

/** How many servers, and how many rounds of them fit into the time of a bench. */
const SIZES = [
  { servers: 1, rounds: roundsOf(process.argv[2], 11) },
  { servers: 10, rounds: roundsOf(process.argv[2], 7) },
  // Minutes of processes that start: left out where only the bench itself is tried.
  ...(process.env.BENCH_QUICK === '1' ? [] : [{ servers: 50, rounds: 2 }]),
];
const SERVERS = Number(process.env.BENCH_SERVERS);
const server = fileURLToPath(new URL('./sdk-server.mjs', import.meta.url));

/** These run in the child: connect to all, then print how long that took since the process began. */
const CLIENTS = {
  async bare() {
    const { stdioClient } = await import('./stdio-client.mjs');
    return together(() => stdioClient(process.execPath, [server]), {
      connect: async (client) => {
        await client.initialize();
        await client.request('tools/list', {});
      },
      close: (client) => client.end(),
    });
  },
  sdk: () => withSdk('@modelcontextprotocol/client', '@modelcontextprotocol/client/stdio'),
  sdkV1: () => withSdk(...process.env.BENCH_MODULES.split(' ')),
  async aiSdk() {
    const [main, stdio] = process.env.BENCH_MODULES.split(' ');
    const { createMCPClient } = await import(main);
    const { Experimental_StdioMCPTransport: Transport } = await import(stdio);
    const open = () =>
      createMCPClient({ transport: new Transport({ command: process.execPath, args: [server] }) });
    return together(open, {
      connect: async (client) => (await client).tools(),
      close: async (client) => (await client).close(),
    });
  },
  /** Every tool is there before any server runs. */
  async cached() {
    const { createHost } = await import('../dist/index.js');
    const home = process.env.BENCH_HOME;
    const host = await createHost({ home, cwd: home, watch: false, connect: 'none', servers: good() });
    if (host.tools().length !== SERVERS) throw new Error(`${host.tools().length} tools from the cache`);
    return () => host.close();
  },
  /** A home that is new each time knows no era: every server is probed. */
  cold: () => ours({ hanging: 0, fresh: true }),
  /** As on the second day: eras are known, lists are read again. */
  known: () => ours({ hanging: 0, fresh: false }),
  hanging: () => ours({ hanging: 1, fresh: true }),
};

/** All at once, and how they end. */
async function together(open, { connect, close }) {
  const clients = Array.from({ length: SERVERS }, open);
  await Promise.all(clients.map(connect));
  return () => Promise.all(clients.map(close));
}

async function withSdk(main, stdio) {
  const { Client } = await import(main);
  const { StdioClientTransport } = await import(stdio);
  return together(() => new Client({ name: 'bench', version: '1' }), {
    connect: async (client) => {
      await client.connect(new StdioClientTransport({ command: process.execPath, args: [server] }));
      await client.listTools();
    },
    close: (client) => client.close(),
  });
}

const good = () =>
  Object.fromEntries(
    Array.from({ length: SERVERS }, (_, n) => [`s${n}`, { command: process.execPath, args: [server] }]),
  );

async function ours({ hanging, fresh }) {
  const { createHost } = await import('../dist/index.js');
  const home = fresh ? mkdtempSync(join(tmpdir(), 'plugboard-bench-')) : process.env.BENCH_HOME;
  const bad = Array.from({ length: hanging }, (_, n) => [
    `h${n}`,
    { command: process.execPath, args: [server, 'hang'] },
  ]);
  const host = await createHost({
    home,
    cwd: home,
    watch: false,
    connect: 'all',
    servers: { ...Object.fromEntries(bad), ...good() },
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

async function measure({ role: wanted, servers, home, modules = '' }) {
  const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;
  const own = { BENCH_CLIENT: wanted, BENCH_HOME: home, BENCH_SERVERS: servers, BENCH_MODULES: modules };
  return numberPrintedBy(fileURLToPath(import.meta.url), { ...env, ...own });
}

console.log(describeMachine());
const base = 'SDK v2 clients';
const limit = 'bare clients (limit)';
const known = 'host, eras known';
for (const { servers, rounds } of SIZES) {
  const title = `${servers} stdio server${servers === 1 ? '' : 's'} to ${servers === 1 ? 'its list' : 'their lists'}`;
  const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
  const contender = (name, wanted, modules = async () => []) => ({
    name,
    async open() {
      const given = { role: wanted, servers, home, modules: (await modules()).join(' ') };
      await measure(given);
      return given;
    },
  });
  const v1 = () => Promise.all([sdkV1Url('client/index.js'), sdkV1Url('client/stdio.js')]);
  const ai = () =>
    Promise.all(['index.js', 'mcp-stdio/index.js'].map((file) => moduleUrl(`@ai-sdk/mcp/dist/${file}`)));
  const contenders = await opened(
    [
      contender(limit, 'bare'),
      contender(base, 'sdk'),
      ...(servers === 50 ? [] : [contender('SDK v1 clients', 'sdkV1', v1)]),
      contender('@ai-sdk/mcp', 'aiSdk', ai),
      contender('host, eras not known', 'cold'),
      contender(known, 'known'),
      contender('host, from its cache', 'cached'),
      ...(servers === 10 ? [contender('host, and one that hangs', 'hanging')] : []),
    ],
    [title],
  );
  const results = await interleave(contenders, rounds, measure);
  table(`${title} (${rounds} rounds)`, results, {
    base,
    unit: 'ms',
    goals: { 'host, eras not known': ['most', 1.15] },
    ...(servers === 10 ? { headline: 'Start of ten servers, to their lists' } : {}),
  });
  if (results.has(known) && results.has(limit)) {
    const both = new Map([limit, known].map((name) => [name, results.get(name)]));
    const goals = servers === 10 ? { [known]: ['most', 1.05] } : {};
    table(`${title}, over bare clients (${rounds} rounds)`, both, { base: limit, unit: 'ms', goals });
  }
  rmSync(home, { recursive: true, force: true });
}
