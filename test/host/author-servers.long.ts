/** Real servers as an author of agents meets them: every tool is called with the fewest arguments that its schema demands. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installAuthorServers } from '../../scripts/install-author-servers.mjs';
import { installMoreServers } from '../../scripts/install-more-servers.mjs';
import { installNodes, nodes } from '../../scripts/install-nodes.mjs';
import { createHost, type Host, PlugboardError, type Tool } from '../../src/index.ts';

const CACHE = realpathSync(fileURLToPath(new URL('../../.cache', import.meta.url)));
const INSTALL_MS = 1_800_000;
const RUN_MS = 900_000;
const CALL_MS = 20_000;

interface RealServer {
  readonly package: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Started without what they need, and what they say about it. */
const WITHOUT: Readonly<Record<string, readonly [RealServer, RegExp]>> = {
  sentry: [{ package: '@sentry/mcp-server' }, /: Error: No access token was provided\.$/],
  stripe: [{ package: '@stripe/mcp' }, /: Error: Stripe API key not provided\./],
  'stripe-offline': [
    { package: '@stripe/mcp', args: ['--api-key=sk_test_x'] },
    /; it reported ".*getaddrinfo \w+ mcp\.stripe\.com/,
  ],
  supabase: [{ package: '@supabase/mcp-server-supabase' }, /: Please provide a personal access token/],
  figma: [
    { package: 'figma-developer-mcp', args: ['--stdio'] },
    /: Either FIGMA_API_KEY or FIGMA_OAUTH_TOKEN is required/,
  ],
  'kubernetes-go': [{ package: 'kubernetes-mcp-server' }, /no current-context is set/],
  cloudflare: [
    { package: '@cloudflare/mcp-server-cloudflare', args: ['run'] },
    /Error: Missing account ID\./,
  ],
};

/** Keys and tokens are made up, and there is no network. */
const SERVERS: Readonly<Record<string, RealServer>> = {
  antv: { package: '@antv/mcp-server-chart' },
  azure: { package: '@azure/mcp', args: ['server', 'start'] },
  cloudflare: { package: '@cloudflare/mcp-server-cloudflare', args: ['run'] },
  context7: { package: '@upstash/context7-mcp' },
  devtools: { package: 'chrome-devtools-mcp', args: ['--headless'] },
  exa: { package: 'exa-mcp-server', env: { EXA_API_KEY: 'x' } },
  figma: { package: 'figma-developer-mcp', args: ['--stdio'], env: { FIGMA_API_KEY: 'x' } },
  firecrawl: { package: 'firecrawl-mcp', env: { FIRECRAWL_API_KEY: 'x' } },
  heroku: { package: '@heroku/mcp-server', env: { HEROKU_API_KEY: 'x' } },
  'kubernetes-go': { package: 'kubernetes-mcp-server' },
  kubernetes: { package: 'mcp-server-kubernetes' },
  mongodb: { package: 'mongodb-mcp-server' },
  notion: { package: '@notionhq/notion-mcp-server', env: { NOTION_TOKEN: 'x' } },
  playwright: { package: '@playwright/mcp', args: ['--headless'] },
  sentry: { package: '@sentry/mcp-server', env: { SENTRY_ACCESS_TOKEN: 'sntrys_x' } },
  shopify: { package: '@shopify/dev-mcp' },
  stripe: { package: '@stripe/mcp', env: { STRIPE_SECRET_KEY: 'sk_test_x' } },
  supabase: { package: '@supabase/mcp-server-supabase', env: { SUPABASE_ACCESS_TOKEN: 'sbp_x' } },
  tavily: { package: 'tavily-mcp', env: { TAVILY_API_KEY: 'x' } },
  xcode: { package: 'xcodebuildmcp', args: ['mcp'] },
};

let folder: string;
let host: Host;
beforeAll(async () => {
  expect([await installNodes(), await installMoreServers(), await installAuthorServers()]).toEqual([0, 0, 0]);
  folder = mkdtempSync(join(tmpdir(), 'plugboard-author-'));
  mkdirSync(join(folder, 'project'));
  const servers = Object.entries(SERVERS).map(([name, server]) => [name, entryOf(server)]);
  host = await createHost({
    cwd: join(folder, 'project'),
    home: join(folder, 'home'),
    servers: Object.fromEntries(servers),
    toolSearch: false,
    connect: 'all',
    watch: false,
  });
  await host.ready();
}, INSTALL_MS);
afterAll(async () => {
  await host?.close();
  rmSync(folder, { recursive: true, force: true });
});

function entryOf({ package: from, args = [], env = {} }: RealServer) {
  return {
    command: nodes.get(22) ?? '',
    args: [programOf(from), ...args],
    env,
    cwd: join(folder, 'project'),
    approval: 'approve' as const,
    sandbox: { filesystem: 'project', network: 'none' } as const,
    startupTimeoutMs: 60_000,
  };
}

function programOf(name: string): string {
  const places = ['author-servers', 'more-servers', 'real-servers'].map((cache) =>
    join(CACHE, cache, 'node_modules', name),
  );
  const place = places.find((each) => existsSync(join(each, 'package.json')));
  if (place === undefined) throw new Error(`${name} is not installed`);
  const { bin } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  return join(place, typeof bin === 'string' ? bin : String(Object.values(bin)[0]));
}

type Schema = Readonly<Record<string, unknown>>;
const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values of all that is required and has no default. */
function fewest(schema: Schema): Record<string, unknown> {
  const { required, properties } = schema;
  const names = Array.isArray(required) ? required.map(String) : [];
  const known = isSchema(properties) ? properties : {};
  const needed = names.filter((name) => !isSchema(known[name]) || !('default' in known[name]));
  return Object.fromEntries(needed.map((name) => [name, sampleOf(known[name])]));
}

/** Texts of formats that servers check. */
const TEXTS: Readonly<Record<string, string>> = {
  uri: 'https://example.invalid/x',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function sampleOf(schema: unknown): unknown {
  if (!isSchema(schema)) return 'x';
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const branches = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'];
  if (Array.isArray(branches)) return sampleOf(branches[0]);
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'number':
    case 'integer':
      return schema['minimum'] ?? 1;
    case 'boolean':
      return false;
    case 'array':
      return Array.from({ length: Number(schema['minItems'] ?? 1) }, () => sampleOf(schema['items']));
    case 'object':
      return fewest(schema);
    case 'null':
      return null;
    default:
      return TEXTS[String(schema['format'])] ?? 'example';
  }
}

function hasRequiredDefault({ inputSchema }: Tool): boolean {
  const { required, properties } = inputSchema as Schema;
  if (!Array.isArray(required) || !isSchema(properties)) return false;
  return required.some((name) => {
    const property = properties[String(name)];
    return isSchema(property) && 'default' in property;
  });
}

describe('twenty real servers', () => {
  it('connects fifteen, and has a reason for those that need a service', () => {
    const failed = host.servers().filter(({ status }) => status !== 'connected');
    expect(failed.map(({ name, error }) => [name, error?.code, error?.message])).toEqual([
      ['cloudflare', 'START_FAILED', expect.stringContaining('Missing account ID')],
      // Its package lacks a module.
      ['heroku', 'START_FAILED', expect.stringContaining('Cannot find module')],
      ['kubernetes-go', 'START_FAILED', expect.stringContaining('no contexts are defined in kubeconfig')],
      ['stripe', 'TIMEOUT', expect.stringContaining('did not finish starting')],
      ['supabase', 'PROTOCOL_ERROR', expect.stringContaining('fetch failed')],
    ]);
  });

  it('calls every tool without the arguments that have a default', { timeout: RUN_MS }, async () => {
    const tools = host.tools();
    const refused: string[] = [];
    await Promise.all(
      host.servers().map(async ({ name: server }) => {
        // One after the other: these servers are tried, not their speed.
        for (const tool of tools.filter((each) => each.server === server)) {
          const args = fewest(tool.inputSchema as Schema);
          const outcome = await host.call(tool.name, args, { timeoutMs: CALL_MS }).catch((error) => error);
          // A text that fits no pattern is the fault of this test.
          const isRefused = outcome instanceof PlugboardError && outcome.code === 'INVALID_ARGUMENTS';
          if (isRefused && !outcome.message.includes('must match pattern'))
            refused.push(`${tool.name}: ${outcome.message}`);
        }
      }),
    );
    expect(refused).toEqual([]);
    expect(tools.filter(hasRequiredDefault).map(({ server }) => server)).toEqual(
      expect.arrayContaining(['kubernetes', 'playwright']),
    );
  });

  it('quotes the reason of those that lack a key, an address or the network', {
    timeout: RUN_MS,
  }, async () => {
    const without = await createHost({
      cwd: join(folder, 'project'),
      home: join(folder, 'other-home'),
      servers: Object.fromEntries(Object.entries(WITHOUT).map(([name, [server]]) => [name, entryOf(server)])),
      toolSearch: false,
      connect: 'all',
      watch: false,
    });
    const { failed } = await without.ready();
    await without.close();
    expect(Object.fromEntries(failed.map(({ name, error }) => [name, error.message]))).toEqual(
      Object.fromEntries(
        Object.entries(WITHOUT).map(([name, [, reason]]) => [name, expect.stringMatching(reason)]),
      ),
    );
  });
});
