import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../world/content.ts';
import {
  allClients,
  type Json,
  openRawGateway,
  type RawClient,
  type RawGateway,
} from '../world/raw-gateway.ts';
import { OFFICIAL } from './official-schemas.ts';
import { KINDS, SdkClient } from './sdk-client.ts';

const ICONS = [{ src: 'https://example.com/i.png' }];
const FUTURE = { 'x-future': { deep: [1, null] } };

/** Legal in every revision since 2025-06-18, with members that none has. */
const RICH = {
  ...FUTURE,
  content: [
    {
      ...text('a'),
      ...FUTURE,
      annotations: { audience: ['user'], priority: 0.5, future: 1 },
      _meta: { b: 2 },
    },
    {
      ...FUTURE,
      type: 'resource_link',
      uri: 'https://example.com/a',
      name: 'a',
      title: 't',
      size: 3,
      icons: ICONS,
    },
    { type: 'image', data: 'aGk=', mimeType: 'image/png', ...FUTURE },
    {
      type: 'resource',
      resource: { uri: 'https://example.com/b', text: '<p>\r\n', ...FUTURE, _meta: { ui: {} } },
      ...FUTURE,
    },
  ],
  structuredContent: { n: 1 },
  isError: false,
  // Would have us read files of this machine if they were taken for ours.
  truncated: { tokens: 1, file: '/etc/hostname' },
  extra: { a: 1 },
};
/** More than the limit of tokens here. */
const LONG = { lines: Array.from({ length: 3_000 }, (_, at) => `line ${at}`) };
const HOLOGRAM = { type: 'hologram', data: { z: 1 }, annotations: { priority: 1 } };

/** What some server answers, and what breaks a result for the official clients. */
const odd: Record<string, Json> = {
  hologram: { content: [HOLOGRAM] },
  audience: {
    content: [{ ...text('x'), annotations: { audience: ['robot'], priority: 9, lastModified: 'now' } }],
  },
  array: { content: [text('[1,2]')], structuredContent: [1, 2] },
  bare: { content: [], structuredContent: [1, 2] },
  scalar: { content: [], structuredContent: 7 },
  null: { content: [text('none')], structuredContent: null },
  icons: {
    content: [
      { type: 'resource_link', uri: 'https://example.com/a', name: 'a', icons: [{ src: 'a:b', theme: 7 }] },
    ],
  },
  task: { content: [text('x')], _meta: { 'io.modelcontextprotocol/related-task': 7, progressToken: {} } },
  types: {
    content: [text('x'), { type: 'text', text: 7 }, null, { type: 'image', data: '%' }],
    isError: 'no',
  },
};
const tools = [
  { name: 'rich', inputSchema: { type: 'object' } },
  {
    name: 'rows',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'array', items: { type: 'number' } },
  },
  { name: 'long', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } },
  { name: 'maybe', inputSchema: { type: 'object' }, outputSchema: { type: ['object', 'null'] } },
  ...Object.keys(odd).map((name) => ({ name, inputSchema: { type: 'object' } })),
];
const message = { role: 'user', content: { ...HOLOGRAM, type: 'hologram' } };
const answers = {
  'tools/list': { result: { tools } },
  'tools/call rich': { result: RICH },
  'tools/call rows': { result: odd['array'] ?? {} },
  'tools/call long': { result: { content: [text(JSON.stringify(LONG))], structuredContent: LONG } },
  'tools/call maybe': { result: odd['null'] ?? {} },
  ...Object.fromEntries(Object.entries(odd).map(([name, result]) => [`tools/call ${name}`, { result }])),
  'prompts/list': { result: { prompts: [{ name: 'odd' }, { name: 'fine' }] } },
  'prompts/get odd': {
    result: { messages: [message, { role: 'robot', content: odd['audience']?.['content'] }] },
  },
  'prompts/get fine': {
    result: {
      ...FUTURE,
      description: 'd',
      messages: [{ role: 'user', content: { ...text('x'), ...FUTURE }, ...FUTURE }],
    },
  },
  'resources/list': { result: { resources: [{ uri: 'ui://app/one', name: 'app' }] } },
  'resources/read': {
    result: {
      ...FUTURE,
      contents: [
        { uri: 'ui://app/one', mimeType: 'text/html', text: '<b>\r\n\u200c\u001b[0m</b>', ...FUTURE },
      ],
    },
  },
  'completion/complete': { result: { completion: { values: ['a'], total: 1.5, hasMore: false, ...FUTURE } } },
};

let world: RawGateway;
let clients: readonly RawClient[];
beforeAll(async () => {
  world = await openRawGateway(
    {
      old: { era: 'legacy', answers },
      new: { era: 'modern', answers },
      far: { era: 'modern', over: 'http', answers },
    },
    { env: { ...process.env, MAX_MCP_OUTPUT_TOKENS: '3000' } },
  );
  clients = await allClients(world);
});
afterAll(() => world.close());

const SERVERS = ['old', 'new', 'far'];

function isModern({ name }: RawClient): boolean {
  return name.startsWith('modern');
}

/** A result without what an endpoint of the modern era adds. */
function bare({ resultType: _type, ttlMs: _ttl, cacheScope: _scope, _meta, ...result }: Json): Json {
  return result;
}

async function called(client: RawClient, server: string, tool: string): Promise<Json> {
  const result = await client.request('tools/call', { name: `${server}__${tool}`, arguments: {} });
  for (const refusal of OFFICIAL[isModern(client) ? '2026-07-28' : '2025-11-25'] ?? [])
    expect([client.name, tool, refusal('tools/call', result)]).toEqual([client.name, tool, undefined]);
  return bare(result);
}

describe.each(SERVERS)('results of the server %s', (server) => {
  it('SRV-10.4: have every field, block and icon that the server sent', async () => {
    for (const client of clients)
      expect([client.name, await called(client, server, 'rich')]).toEqual([client.name, RICH]);
  });

  it('F62: are valid for the revision of the client, whatever the server answered', async () => {
    for (const client of clients) for (const tool of Object.keys(odd)) await called(client, server, tool);
  });

  it('SRV-10.2: have any structured content for modern clients, and an object for legacy ones', async () => {
    const isKept = server !== 'old';
    for (const client of clients) {
      const array = await called(client, server, 'bare');
      expect([client.name, array]).toEqual([
        client.name,
        isModern(client)
          ? { content: [], structuredContent: [1, 2], isError: false }
          : { content: [text('[1,2]')], isError: false },
      ]);
      // Before 2026-07-28 many servers write null for "none".
      const none = await called(client, server, 'null');
      expect([client.name, none]).toEqual([
        client.name,
        {
          content: [text('none')],
          ...(isModern(client) && isKept ? { structuredContent: null } : {}),
          isError: false,
        },
      ]);
    }
  });

  it('SRV-10.2: keep structured content that an output schema promises, also where the text is cut', async () => {
    for (const client of clients) {
      const { content, structuredContent } = await called(client, server, 'long');
      expect(JSON.stringify(content).length).toBeLessThan(JSON.stringify(LONG).length);
      expect(structuredContent).toEqual(LONG);
    }
  });

  it('SRV-10.4: have a block of an unknown type for clients that may support it, and its JSON for others', async () => {
    for (const client of clients) {
      const json = { ...text(JSON.stringify(HOLOGRAM)), annotations: { priority: 1 } };
      expect((await called(client, server, 'hologram'))['content']).toEqual([json]);
    }
    for (const client of await allClients(world, { extensions: { 'com.example/holograms': {} } })) {
      const result = await client.request('tools/call', { name: `${server}__hologram`, arguments: {} });
      expect([client.name, result['content']]).toEqual([client.name, [HOLOGRAM]]);
    }
  });

  it('SRV-10.4: of prompts, resources and completion keep unknown fields; SRV-10.5: ui:// byte for byte', async () => {
    for (const client of clients) {
      const version = isModern(client) ? '2026-07-28' : '2025-11-25';
      const get = async (method: string, params: Json): Promise<Json> => {
        const result = await client.request(method, params);
        for (const refusal of OFFICIAL[version] ?? []) expect(refusal(method, result)).toBe(undefined);
        return bare(result);
      };
      await get('prompts/get', { name: `${server}__odd` });
      expect(await get('prompts/get', { name: `${server}__fine` })).toEqual(
        answers['prompts/get fine'].result,
      );
      const uri = `ui://plugboard-server/${server}/${encodeURIComponent('ui://app/one')}`;
      const { contents, ...rest } = await get('resources/read', { uri });
      expect([rest, contents]).toEqual([
        FUTURE,
        answers['resources/read'].result.contents.map((part) => ({ ...part, uri })),
      ]);
      const ref = { type: 'ref/prompt', name: `${server}__fine` };
      expect(await get('completion/complete', { ref, argument: { name: 'a', value: '' } })).toEqual({
        completion: { values: ['a'], hasMore: false, ...FUTURE },
      });
    }
  });
});

describe('F62: the official clients', () => {
  it.each(KINDS)('SRV-10.2: %s calls every tool, whatever its output schema is', async (kind) => {
    const client = await SdkClient.open(kind, { url: world.http.url });
    await client.listTools();
    for (const server of ['new', 'far']) {
      for (const { name } of tools) {
        const { accepted } = await client.request('tools/call', {
          name: `${server}__${name}`,
          arguments: {},
        });
        expect([name, accepted]).toEqual([name, true]);
      }
    }
    await client.close();
  });

  it('SRV-10.2: the library keeps any structured content of modern servers', async () => {
    const call = (tool: string): Promise<unknown> =>
      world.host
        .session({ approve: () => 'allow' })
        .call(`mcp__new__${tool}`, {})
        .then(({ structuredContent }) => structuredContent);
    expect([await call('array'), await call('scalar'), await call('null')]).toEqual([[1, 2], 7, null]);
  });
});
