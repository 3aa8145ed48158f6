/**
 * Ten real servers behind `npx`, already installed, from a start to all of them connected: as they are configured,
 * through npx (`directStart: false`), and through npx with the SDK's client, interleaved.
 * After `npm run build`: node bench/npx-start.mjs [rounds]
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeMachine, interleave, numberPrintedBy, roundsOf, table } from './rounds.mjs';

const ROUNDS = roundsOf(process.argv[2], 7);
/** Bare names, which npx looks up in the registry at every start. They start without a key or a network. */
const PACKAGES = [
  ['@modelcontextprotocol/server-memory'],
  ['@modelcontextprotocol/server-filesystem', tmpdir()],
  ['@modelcontextprotocol/server-everything'],
  ['@modelcontextprotocol/server-sequential-thinking'],
  ['@modelcontextprotocol/server-github'],
  ['@upstash/context7-mcp'],
  ['@antv/mcp-server-chart'],
  ['@cyanheads/git-mcp-server'],
  ['exa-mcp-server'],
  ['firecrawl-mcp'],
];
/** Servers that exit without one; it is never used. */
const KEYS = { EXA_API_KEY: 'none', FIRECRAWL_API_KEY: 'none' };
const entries = () => PACKAGES.map((args) => ({ command: 'npx', args: ['-y', ...args] }));

const CLIENTS = {
  direct: () => host({}),
  npx: () => host({ directStart: false }),
  async sdk() {
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const clients = await Promise.all(
      entries().map(async (entry) => {
        const client = new Client({ name: 'bench', version: '1' });
        const env = { ...process.env, ...KEYS };
        await client.connect(new StdioClientTransport({ ...entry, env, stderr: 'ignore' }));
        await client.listTools();
        return client;
      }),
    );
    return () => Promise.all(clients.map((client) => client.close()));
  },
};

async function host(more) {
  const { createHost } = await import('../dist/index.js');
  const home = process.env.BENCH_HOME;
  const servers = entries().map((entry, at) => [
    `s${at}`,
    { ...entry, ...more, env: KEYS, startupTimeoutMs: 120_000 },
  ]);
  const all = await createHost({
    home,
    cwd: home,
    watch: false,
    connect: 'all',
    servers: Object.fromEntries(servers),
  });
  const connected = () => all.servers().filter(({ status }) => status === 'connected').length;
  await new Promise((resolve, reject) => {
    const look = () => {
      const failed = all.servers().find(({ status }) => status === 'failed');
      if (failed !== undefined) reject(new Error(`${failed.name}: ${failed.error?.message}`));
      if (connected() === PACKAGES.length) resolve();
    };
    all.on('server', look);
    look();
  });
  return () => all.close();
}

const role = process.env.BENCH_CLIENT;
if (role !== undefined) {
  const close = await CLIENTS[role]();
  process.stdout.write(`${performance.now()}\n`);
  await close();
  process.exit(0);
}

const work = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
const { NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
const env = { ...inherited, npm_config_cache: join(work, 'npm') };
console.log(describeMachine());
process.stderr.write('Installs ten servers with npx\n');
for (const [name] of PACKAGES)
  execFileSync('npx', ['--yes', '--package', name, '--call', 'exit 0'], { env, cwd: work, stdio: 'ignore' });

async function measure({ role: wanted }) {
  const home = join(work, wanted);
  mkdirSync(home, { recursive: true });
  return numberPrintedBy(fileURLToPath(import.meta.url), { ...env, BENCH_CLIENT: wanted, BENCH_HOME: home });
}

const base = 'npx, SDK v2 clients';
const contenders = [
  { name: 'host', role: 'direct' },
  { name: 'host, directStart: false', role: 'npx' },
  { name: base, role: 'sdk' },
];
// The registry was asked by npx above; the checks of the first start are over before the rounds.
await measure({ role: 'npx' });
const results = await interleave(contenders, ROUNDS, measure);
table(`ten installed servers behind npx to their lists (${ROUNDS} rounds)`, results, {
  base,
  unit: 'ms',
  goals: { host: ['most', 0.35] },
});
rmSync(work, { recursive: true, force: true });
