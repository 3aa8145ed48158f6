/**
 * The same server, written with the kit, both SDKs and fastmcp (`same-server/`), in one table from one run: lines of code, features that a
 * client finds, size once installed, CPU time from its start to its first answer, and calls a second.
 *
 * node bench/same-server.mjs [rounds]
 */

import { execFile } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installPinned } from '../scripts/install-pinned.mjs';
import { root } from '../scripts/run.mjs';
import { cpuNs } from './cpu-time.mjs';
import { concurrent, describeMachine, interleave, median, quantile, roundsOf } from './rounds.mjs';
import { stdioClient } from './stdio-client.mjs';

const ROUNDS = roundsOf(process.argv[2], 7);
const CALLS = 10_000;
const IN_FLIGHT = 64;
const NS_IN_MS = 1e6;
const MB = 1024 * 1024;

const ZOD = '4.6.7';
const KIT = 'kit';
/** Each is installed alone, with zod for its schemas; the kit from this repository. */
const AUTHORS = {
  [KIT]: {},
  'sdk-v2': { '@modelcontextprotocol/server': '2.4.0' },
  'sdk-v1': { '@modelcontextprotocol/sdk': '1.32.2' },
  fastmcp: { fastmcp: '4.20.16' },
};

/** Behaviour that the protocol describes, as a client finds it: each resolves with whether the server has it. */
const FEATURES = {
  'clients of the legacy era': async ({ legacy }) => (await legacy('ping')).result !== undefined,
  'clients of the modern era': async ({ modern }) =>
    (await modern('server/discover')).result?.supportedVersions?.includes(MODERN) === true,
  'invalid arguments by name': async ({ legacy }) => {
    const answer = await legacy('tools/call', { name: 'echo', arguments: { message: 1 } });
    return /\bmessage\b/.test(JSON.stringify(answer.result?.content ?? answer.error?.message ?? ''));
  },
  'an error for an unknown tool': async ({ legacy }) => {
    const { result, error } = await legacy('tools/call', { name: 'ecko', arguments: {} });
    return error !== undefined || result.isError === true;
  },
  'an error for an unknown method': async ({ legacy }) => (await legacy('no/such')).error?.code === -32601,
  'an error for a line that is not JSON': async ({ afterNonsense }) =>
    (await afterNonsense()).includes('-32700'),
};

const MODERN = '2026-07-28';
const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
};

const contenders = [];
for (const [name, packages] of Object.entries(AUTHORS)) contenders.push(await prepare(name, packages));

const cpu = await interleave(contenders, ROUNDS, async ({ file }) => {
  const server = stdioClient(process.execPath, [file]);
  await server.initialize();
  const spent = cpuNs(server.child.pid) / NS_IN_MS;
  await server.end();
  return spent;
});
const rates = await interleave(contenders, ROUNDS, async ({ file }) => {
  const server = stdioClient(process.execPath, [file]);
  await server.initialize();
  const rate = await concurrent((n) => call(server, n), CALLS, IN_FLIGHT);
  await server.end();
  return rate;
});

console.log(`\nThe same server, ${ROUNDS} rounds, ${describeMachine()}`);
console.table(
  Object.fromEntries(
    contenders.map(({ name, lines, bytes, found }) => [
      name,
      {
        'lines of code': lines,
        features: `${found.length} of ${Object.keys(FEATURES).length}`,
        'installed, MB': Number((bytes / MB).toFixed(1)),
        'start, ms of CPU': shown(cpu.get(name), 0),
        'start, × kit': ratioTo(cpu, name),
        'calls/s': shown(rates.get(name), 0),
        'calls/s, × kit': ratioTo(rates, name),
      },
    ]),
  ),
);
for (const { name, found } of contenders) {
  const without = Object.keys(FEATURES).filter((feature) => !found.includes(feature));
  if (without.length > 0) console.log(`  ${name} is without: ${without.join('; ')}`);
}

async function prepare(name, packages) {
  const source = fileURLToPath(new URL(`same-server/${name}.mjs`, import.meta.url));
  const folder = join(root, '.cache', `bench-same-${name}`);
  const code = await installPinned(`bench-same-${name}`, { ...packages, zod: ZOD });
  if (code !== 0) throw new Error(`${name} could not be installed`);
  // A file next to the packages that it imports; the kit is found in this repository.
  const file = join(folder, 'server.mjs');
  copyFileSync(source, file);
  const bytes = sizeOf(join(folder, 'node_modules')) + (name === KIT ? await packedBytes() : 0);
  return { name, file, bytes, lines: linesOf(source), found: await featuresOf(file) };
}

/** The kit has no dependencies: its size is that of its own files. */
async function packedBytes() {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: join(root, 'packages', 'kit') });
  return JSON.parse(stdout)[0].unpackedSize;
}

function sizeOf(folder) {
  return readdirSync(folder, { recursive: true }).reduce((sum, path) => {
    const stats = statSync(join(folder, path));
    return sum + (stats.isFile() ? stats.size : 0);
  }, 0);
}

function linesOf(source) {
  return readFileSync(source, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length;
}

async function featuresOf(file) {
  const found = [];
  for (const [feature, has] of Object.entries(FEATURES)) {
    const legacy = stdioClient(process.execPath, [file]);
    const modern = stdioClient(process.execPath, [file]);
    await legacy.initialize();
    await call(legacy, 0);
    const client = {
      legacy: legacy.request,
      modern: (method) => modern.request(method, { _meta: MODERN_META }),
      afterNonsense: () => afterNonsense(legacy),
    };
    if (await has(client)) found.push(feature);
    await Promise.all([legacy.end(), modern.end()]);
  }
  return found;
}

/** Everything that a server writes after a line that is not JSON, until it answers the next request. */
async function afterNonsense({ child, request }) {
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  child.stdin.write('nonsense\n');
  await request('ping');
  return text;
}

async function call(server, n) {
  const { result } = await server.request('tools/call', {
    name: 'echo',
    arguments: { message: `hello ${n}` },
  });
  if (result.content[0].text !== `hello ${n}`) throw new Error(`answered ${JSON.stringify(result)}`);
}

function shown(values, digits) {
  const [low, high] = [0.1, 0.9].map((q) => quantile(values, q).toFixed(digits));
  return `${median(values).toFixed(digits)} (${low}–${high})`;
}

function ratioTo(results, name) {
  const base = results.get(KIT);
  const ratios = results.get(name).map((value, at) => value / base[at]);
  return `${median(ratios).toFixed(2)} (${quantile(ratios, 0.1).toFixed(2)}–${quantile(ratios, 0.9).toFixed(2)})`;
}
