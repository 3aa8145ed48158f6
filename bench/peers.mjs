/** Other people's programs that the benches stand beside, by exact version: fetched from npm into .cache on first use. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installPinned } from '../scripts/install-pinned.mjs';
import { inspector, mcporter, node, opencode, sdkV1 } from '../scripts/install-real-clients.mjs';
import { run } from '../scripts/run.mjs';
import { record } from './records.mjs';

const VERSIONS = {
  '@ai-sdk/mcp': '2.0.93',
  fastmcp: '4.20.16',
  'mcp-hub': '4.2.1',
  'mcp-proxy': '6.7.19',
  supergateway: '4.0.0',
};
/** Each with a folder of its own: their peer dependencies exclude each other. The newest versions that run on Node 20. */
const SEPARATE = {
  'mcp-use': { 'mcp-use': '1.34.6' },
  '@langchain/mcp-adapters': {
    '@langchain/mcp-adapters': '1.1.3',
    '@langchain/core': '1.2.13',
    '@langchain/langgraph': '1.0.0',
  },
};
const cache = fileURLToPath(new URL('../.cache', import.meta.url));
const script = (name) => fileURLToPath(new URL(`../scripts/${name}.mjs`, import.meta.url));

/** Where each kind comes from; installing what is there already takes no time. */
const SOURCES = {
  benchPeers: () => installPinned('bench-peers', VERSIONS),
  realClients: () => run(process.execPath, [script('install-real-clients')]),
  realServers: () => run(process.execPath, [script('install-real-servers')]),
};

async function fetched(source) {
  if ((await SOURCES[source]()) !== 0) throw new Error('could not be installed');
}

/** The program of a package among the peers. */
export async function program(name) {
  await fetched('benchPeers');
  const folder = join(cache, 'bench-peers', 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[name]);
}

/** The address of a module of a package among the peers, given by its path in there: for whoever imports it. */
export async function moduleUrl(path) {
  await fetched('benchPeers');
  return pathToFileURL(join(cache, 'bench-peers', 'node_modules', path)).href;
}

/** Imports a package that is installed on its own, by its name and the path of an export. */
export async function importSeparate(name, path = '') {
  const folder = `bench-${name.replace(/\W+/g, '-').replace(/^-/, '')}`;
  if ((await installPinned(folder, SEPARATE[name])) !== 0) throw new Error('could not be installed');
  const resolve = createRequire(join(cache, folder, 'package.json')).resolve;
  const loaded = await import(pathToFileURL(resolve(`${name}${path}`)).href);
  // Names of a CommonJS module are not always found.
  return { ...loaded.default, ...loaded };
}

export async function sdkV1Url(path) {
  await fetched('realClients');
  return pathToFileURL(join(sdkV1, path)).href;
}

/** The clients that need a newer Node, with that Node: `[program, ...first arguments]`. */
export async function command(name) {
  const agents = join(cache, 'real-servers', 'node_modules');
  switch (name) {
    case 'mcporter':
      await fetched('realClients');
      return [node, mcporter];
    case 'inspector':
      await fetched('realClients');
      return [node, inspector, '--cli'];
    case 'opencode':
      await fetched('realClients');
      return [opencode];
    case 'claude':
      await fetched('realServers');
      return [process.execPath, join(agents, '@anthropic-ai/claude-code/cli.js')];
    case 'codex':
      await fetched('realServers');
      return [process.execPath, join(agents, '@openai/codex/bin/codex.js')];
    default:
      throw new Error(`No command ${name}.`);
  }
}

/**
 * Opens contenders one after the other. One that cannot be installed or started becomes a row that says so under each
 * of `measures`, and the bench goes on without it. `candidates` are `{ name, open }`.
 */
export async function opened(candidates, measures) {
  const contenders = [];
  for (const { name, open } of candidates) {
    try {
      contenders.push({ name, ...(await open()) });
    } catch (error) {
      const problem = `did not start: ${String(error?.message ?? error)
        .split('\n')[0]
        .slice(0, 80)}`;
      console.error(`  ${name} ${problem}`);
      for (const measure of measures) record({ measure, name, problem });
    }
  }
  return contenders;
}
