import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installMoreServers } from '../../scripts/install-more-servers.mjs';
import { KINDS, type Kind, SdkClient, type Way } from './sdk-client.ts';

const CACHE = fileURLToPath(new URL('../../.cache', import.meta.url));
const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));
const START_MS = 300_000;

interface RealServer {
  readonly package: string;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
}

/** Every public server that runs here without a service: keys and tokens are made up, nothing is called. */
const SERVERS: Readonly<Record<string, RealServer>> = {
  brave: {
    package: '@brave/brave-search-mcp-server',
    args: ['--transport', 'stdio'],
    env: { BRAVE_API_KEY: 'x' },
  },
  claude: { package: '@anthropic-ai/claude-code', args: ['mcp', 'serve'] },
  codex: { package: '@openai/codex', args: ['mcp-server'] },
  commands: { package: 'mcp-server-commands' },
  context7: { package: '@upstash/context7-mcp' },
  devtools: { package: 'chrome-devtools-mcp', args: ['--headless'] },
  eslint: { package: '@eslint/mcp' },
  everything: { package: '@modelcontextprotocol/server-everything', args: ['stdio'] },
  filesystem: { package: '@modelcontextprotocol/server-filesystem', args: ['.'] },
  git: { package: '@cyanheads/git-mcp-server' },
  github: { package: '@modelcontextprotocol/server-github' },
  kubernetes: { package: 'mcp-server-kubernetes' },
  memory: { package: '@modelcontextprotocol/server-memory' },
  mongodb: { package: 'mongodb-mcp-server' },
  notion: { package: '@notionhq/notion-mcp-server', env: { NOTION_TOKEN: 'x' } },
  playwright: { package: '@playwright/mcp', args: ['--headless'] },
  postgres: { package: '@modelcontextprotocol/server-postgres', args: ['postgresql://127.0.0.1:1/x'] },
  shadcn: { package: 'shadcn', args: ['mcp'] },
  slack: {
    package: '@modelcontextprotocol/server-slack',
    env: { SLACK_BOT_TOKEN: 'x', SLACK_TEAM_ID: 'x' },
  },
  tavily: { package: 'tavily-mcp', env: { TAVILY_API_KEY: 'x' } },
  thinking: { package: '@modelcontextprotocol/server-sequential-thinking' },
  'basic-app': { package: '@modelcontextprotocol/server-basic-vanillajs', args: ['--stdio'] },
};

let folder: string;
let environment: Record<string, string>;
beforeAll(async () => {
  expect(await installMoreServers()).toBe(0);
  folder = mkdtempSync(join(tmpdir(), 'plugboard-real-'));
  for (const name of ['home', 'project']) mkdirSync(join(folder, name));
  const { PATH = '' } = process.env;
  environment = { PATH, HOME: folder, CODEX_HOME: folder, DISABLE_AUTOUPDATER: '1' };
  const mcpServers = Object.fromEntries(
    Object.keys(SERVERS).map((name) => [name, { ...wayTo(name), startupTimeoutMs: START_MS }]),
  );
  const config = { toolSearch: false, firstListWaitMs: 60_000, mcpServers };
  writeFileSync(join(folder, 'home', 'config.json'), JSON.stringify(config));
}, 10 * START_MS);
afterAll(async () => {
  await promisify(execFile)(process.execPath, [COMMAND, 'daemon', 'stop'], { env: gatewayEnvironment() });
  rmSync(folder, { recursive: true, force: true });
});

function gatewayEnvironment(): Record<string, string> {
  return { ...environment, PLUGBOARD_HOME: join(folder, 'home'), PLUGBOARD_CREDENTIALS: 'file' };
}

/** The program of a package, from whichever folder has it. */
function programOf(name: string): string {
  for (const cache of ['real-servers', 'more-servers']) {
    const place = join(CACHE, cache, 'node_modules', name);
    try {
      const { bin } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
      return join(place, typeof bin === 'string' ? bin : String(Object.values(bin)[0]));
    } catch {}
  }
  throw new Error(`${name} is not installed`);
}

function wayTo(name: string): Way {
  const { package: from, args = [], env = {} } = SERVERS[name] ?? { package: '' };
  return {
    command: process.execPath,
    args: [programOf(from), ...args],
    env: { ...environment, ...env },
    cwd: join(folder, 'project'),
  };
}

type Names = Record<string, readonly string[]>;

/** The names of everything that a client lists; refused lists are undefined. */
async function listed(client: SdkClient): Promise<Record<string, readonly string[] | undefined>> {
  const names = async (method: string, key: string, id: string): Promise<readonly string[] | undefined> => {
    const all: string[] = [];
    let cursor: unknown;
    do {
      const { accepted, result, error } = await client.request(
        method,
        cursor === undefined ? {} : { cursor },
      );
      // Servers report in several ways that they do not support a method.
      if (error !== undefined || result === undefined) return all;
      if (!accepted) return undefined;
      all.push(...(result[key] as Record<string, string>[]).map((item) => item[id] ?? ''));
      cursor = result['nextCursor'];
    } while (cursor !== undefined);
    return all;
  };
  return {
    tools: await names('tools/list', 'tools', 'name'),
    resources: await names('resources/list', 'resources', 'uri'),
    templates: await names('resources/templates/list', 'resourceTemplates', 'uriTemplate'),
    prompts: await names('prompts/list', 'prompts', 'name'),
  };
}

async function direct(kind: Kind, name: string): Promise<Names> {
  const client = await SdkClient.open(kind, wayTo(name));
  const { tools, resources, templates, prompts } = await listed(client);
  await client.close();
  const refused = tools === undefined ? ['the SDK refuses the list'] : tools;
  return { tools: refused, resources: resources ?? [], templates: templates ?? [], prompts: prompts ?? [] };
}

const safe = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_');

describe('SRV-1: 22 real servers through one gateway', () => {
  it.each(KINDS)(
    '%s lists as much through the gateway as from each server by itself',
    async (kind) => {
      const expected = new Map<string, Names>();
      for (const name of Object.keys(SERVERS)) expected.set(name, await direct(kind, name));
      const client = await SdkClient.open(kind, {
        command: process.execPath,
        args: [COMMAND, 'serve'],
        env: gatewayEnvironment(),
        cwd: join(folder, 'project'),
      });
      await client.listTools();
      const through = await listed(client);
      await client.close();
      const missing: string[] = [];
      for (const [name, { tools = [], resources = [], prompts = [] }] of expected) {
        const own = (all: readonly string[] = []): readonly string[] =>
          all.filter((each) => each.startsWith(`${name}__`));
        const counts = (count: number, all: readonly string[] | undefined): boolean =>
          own(all).length >= count;
        if (!counts(tools.length, through['tools'])) missing.push(`${name}: ${tools.map(safe).join(' ')}`);
        if (!counts(prompts.length, through['prompts'])) missing.push(`${name}: prompts`);
        const lost = resources.filter(
          (uri) => !through['resources']?.some((shown) => decodeURIComponent(shown).endsWith(uri)),
        );
        missing.push(...lost.map((uri) => `${name}: ${uri}`));
      }
      expect(missing).toEqual([]);
      expect(through['tools']?.length).toBeGreaterThan(250);
    },
    START_MS * 3,
  );
});
