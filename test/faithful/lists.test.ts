import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  allClients,
  type Json,
  openRawGateway,
  type RawClient,
  type RawGateway,
} from '../world/raw-gateway.ts';
import { OFFICIAL } from './official-schemas.ts';
import { KINDS, SdkClient } from './sdk-client.ts';

const INPUT = { type: 'object', properties: { s: { type: 'string', 'x-unit': 'm' } } };
const ICONS = [{ src: 'https://example.com/i.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }];
const FUTURE = { 'x-future': { deep: [1, null] }, server: 'not ours', deferred: true };

/** Legal in every revision, with members that none has. */
const good = {
  tool: {
    ...FUTURE,
    name: 'fine',
    title: 'Fine',
    description: 'Does it.',
    icons: ICONS,
    inputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...INPUT },
    outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    annotations: { title: 'T', readOnlyHint: true, futureHint: ['x'] },
    _meta: { 'com.example/a': 1 },
  },
  resource: {
    ...FUTURE,
    uri: 'memo://one',
    name: 'one',
    title: 'One',
    description: 'The first.',
    mimeType: 'text/plain',
    size: 3,
    icons: ICONS,
    annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-31T10:00:00+02:00', future: 1 },
    _meta: { 'com.example/a': 1 },
  },
  template: {
    ...FUTURE,
    uriTemplate: 'memo://all/{id}',
    name: 'all',
    icons: ICONS,
    annotations: { priority: 1 },
  },
  prompt: {
    ...FUTURE,
    name: 'greet',
    title: 'Greet',
    icons: ICONS,
    arguments: [{ name: 'who', title: 'Who', required: true, 'x-future': 1 }],
  },
};

const schemas: Record<string, Json> = {
  boolean: { properties: { any: true, none: false, s: { type: 'string' } } },
  null: { properties: { any: null } },
  text: { properties: { s: 'string' } },
  dialect: { $schema: 7 },
  required: { required: 'a' },
  list: { properties: [] },
  definitions: { properties: {}, $defs: true },
};
const outputs: Record<string, unknown> = {
  'array root': { type: 'array', items: { type: 'number' } },
  'oneOf root': { oneOf: [{ type: 'object' }, { type: 'array' }] },
  'ref root': { $ref: '#/$defs/x', $defs: { x: { type: 'object' } } },
  'no type': { properties: { a: { type: 'string' } } },
  'two types': { type: ['object', 'null'] },
  true: true,
  boolean: { type: 'object', properties: { any: true } },
  required: { type: 'object', required: 'a' },
  pattern: { type: 'object', properties: { a: { type: 'string', pattern: 'a\\-b' } } },
  nullable: { type: 'object', properties: { a: { nullable: true } } },
  'lost ref': { type: 'object', properties: { a: { $ref: '#/$defs/nothing' } } },
  type: { type: 'object', properties: { a: { type: 'strin' } } },
  id: { type: 'object', $id: 7 },
};
const annotations: Record<string, unknown> = {
  text: 'all',
  list: ['user'],
  null: null,
  audience: { audience: 'user' },
  robot: { audience: ['robot', 'user'] },
  priority: { priority: 5 },
  high: { priority: 'high' },
  yesterday: { lastModified: 'yesterday' },
  february: { lastModified: '2026-02-30T00:00:00Z' },
};
const icons: Record<string, unknown> = {
  text: 'x',
  nothing: [{}],
  theme: [{ src: 'a:b', theme: 'blue', sizes: 'any' }],
};

const each = (values: Record<string, unknown>, field: string): Json[] =>
  Object.entries(values).map(([name, value]) => ({ name: `${field} ${name}`, [field]: value }));
const odd = {
  tools: [
    ...Object.entries(schemas).map(([name, more]) => ({ name, inputSchema: { type: 'object', ...more } })),
    ...[...each(outputs, 'outputSchema'), ...each(annotations, 'annotations'), ...each(icons, 'icons')].map(
      (tool) => ({ inputSchema: INPUT, ...tool }),
    ),
    { name: 'meta', inputSchema: INPUT, _meta: 'x', title: 7, description: null, execution: 'x' },
  ],
  items: [
    ...each(annotations, 'annotations'),
    ...each(icons, 'icons'),
    { name: 'rest', mimeType: 7, size: 'x', _meta: [] },
  ],
};
const answers = {
  'tools/list': { result: { tools: odd.tools } },
  'resources/list': { result: { resources: odd.items.map((item, at) => ({ ...item, uri: `odd://${at}` })) } },
  'resources/templates/list': {
    result: { resourceTemplates: odd.items.map((item, at) => ({ ...item, uriTemplate: `odd://${at}/{x}` })) },
  },
  'prompts/list': {
    result: {
      prompts: [
        ...odd.items,
        { name: 'arguments', arguments: [{ name: 7 }, 'x', { name: 'a', required: 'x' }] },
      ],
    },
  },
};
const fine = {
  'tools/list': { result: { tools: [good.tool] } },
  'tools/call': { result: { content: [{ type: 'text', text: '3' }], structuredContent: { n: 3 } } },
  'resources/list': { result: { resources: [good.resource] } },
  'resources/templates/list': { result: { resourceTemplates: [good.template] } },
  'prompts/list': { result: { prompts: [good.prompt] } },
};

const SERVERS = ['good', 'good-new', 'good-far'];
const reports: string[] = [];
let world: RawGateway;
let clients: readonly RawClient[];

beforeAll(async () => {
  world = await openRawGateway({
    good: { era: 'legacy', answers: fine },
    'good-new': { era: 'modern', answers: fine },
    'good-far': { era: 'modern', over: 'http', answers: fine },
    odd: { era: 'legacy', answers },
    'odd-new': { era: 'modern', answers },
    'odd-far': { era: 'modern', over: 'http', answers },
  });
  world.host.on('log', ({ message }) => reports.push(message));
  clients = await allClients(world);
});
afterAll(() => world.close());

const LISTS = [
  { method: 'tools/list', key: 'tools', item: good.tool },
  { method: 'prompts/list', key: 'prompts', item: good.prompt },
  { method: 'resources/list', key: 'resources', item: good.resource },
  { method: 'resources/templates/list', key: 'resourceTemplates', item: good.template },
] as const;

function rawClient(era: string, over: string): RawClient {
  const found = clients.find(({ name }) => name === `${era} client over ${over}`);
  if (found === undefined) throw new Error(`There is no ${era} client over ${over}`);
  return found;
}

function versionOf({ name }: RawClient): string {
  return name.startsWith('modern') ? '2026-07-28' : '2025-11-25';
}

describe('F62: one odd server among good ones', () => {
  it.each(LISTS)(
    'SRV-10.1: $method is valid for every client, with every good item as it is',
    async ({ method, key, item }) => {
      for (const client of clients) {
        const result = await client.request(method);
        for (const refusal of OFFICIAL[versionOf(client)] ?? [])
          expect([client.name, refusal(method, result)]).toEqual([client.name, undefined]);
        const listed = result[key] as Json[];
        // An address that three servers give belongs to none of them; names have their server.
        const own = listed.filter(({ name, uri = '', uriTemplate = '' }) =>
          SERVERS.some(
            (server) => `${name}`.startsWith(`${server}__`) || `${uri}${uriTemplate}`.includes(`/${server}/`),
          ),
        );
        const renamed = own.map(({ name, uri, uriTemplate, ...rest }) => rest);
        const { name: _name, ...fields } = item;
        const { uri: _uri, uriTemplate: _template, ...rest } = fields as Json;
        expect([client.name, renamed]).toEqual([client.name, [rest, rest, rest]]);
      }
    },
  );

  it.each(KINDS)('SRV-10.1: %s lists everything, and calls a tool with an output schema', async (kind) => {
    const client = await SdkClient.open(kind, { url: world.http.url });
    const { tools } = (await client.listTools()) as { tools: Json[] };
    const direct = await rawClient(client.era, 'http').request('tools/list');
    expect(tools.length).toBe((direct['tools'] as Json[]).length);
    for (const { method } of LISTS) expect((await client.request(method, {})).accepted).toBe(true);
    for (const server of SERVERS) {
      const { accepted, result } = await client.request('tools/call', {
        name: `${server}__fine`,
        arguments: {},
      });
      expect([accepted, result?.['structuredContent']]).toEqual([true, { n: 3 }]);
    }
    await client.close();
  });

  it('SRV-10.1: keeps what a revision has, and leaves out only what it refuses', async () => {
    const outputOf = async (era: string, tool: string): Promise<unknown> => {
      const { tools } = (await rawClient(era, 'stdio').request('tools/list')) as { tools: Json[] };
      return tools.find(({ name }) => `${name}` === `odd__outputSchema_${tool.replaceAll(' ', '_')}`)?.[
        'outputSchema'
      ];
    };
    expect(await outputOf('modern', 'array root')).toEqual(outputs['array root']);
    expect(await outputOf('legacy', 'array root')).toBe(undefined);
    expect(await outputOf('modern', 'pattern')).toEqual(outputs['pattern']);
    expect(await outputOf('legacy', 'pattern')).toBe(undefined);
    expect(await outputOf('modern', 'boolean')).toEqual(outputs['boolean']);
    expect(await outputOf('legacy', 'boolean')).toEqual({ type: 'object', properties: { any: {} } });
  });

  it('SRV-10.1: reports each repair once', async () => {
    for (const client of clients) await client.request('tools/list');
    const about = reports.filter((message) => message.includes('outputSchema array root'));
    expect(about).toEqual([
      ...['odd', 'odd-far', 'odd-new'].map(
        () =>
          'repaired for clients of the gateway: tool outputSchema array root: outputSchema is left out: before 2026-07-28 its root must be of type object',
      ),
    ]);
  });
});

describe('schemas', () => {
  const schema = (more: Json): Json => ({ type: 'object', properties: { a: { type: 'number' } }, ...more });
  const tools = [
    { name: 'remote', inputSchema: schema({ properties: { a: { $ref: 'https://example.com/a.json' } } }) },
    {
      name: 'embedded',
      inputSchema: schema({
        $id: 'https://example.com/',
        properties: { a: { $ref: 'b' } },
        $defs: { b: { $id: 'b' } },
      }),
    },
    { name: 'own', inputSchema: schema({ $schema: 'https://example.com/dialect' }) },
    {
      name: 'old',
      inputSchema: schema({
        $schema: 'https://json-schema.org/draft/2019-09/schema',
        properties: { a: { items: [{ type: 'number' }] } },
      }),
    },
    { name: 'header', inputSchema: schema({ properties: { a: { type: 'object', 'x-mcp-header': 'A' } } }) },
  ];
  const logged: string[] = [];
  let small: RawGateway;
  beforeAll(async () => {
    small = await openRawGateway({
      s: {
        era: 'legacy',
        answers: { 'tools/list': { result: { tools } }, 'tools/call': { result: { content: [] } } },
      },
    });
    small.host.on('log', ({ message }) => logged.push(message));
    await small.host.disconnect('s');
    await small.host.connect('s');
    await small.host.ready();
  });
  afterAll(() => small.close());

  // Protocol: 26-base-40, 26-base-43
  it('SRV-10.15: leave out a tool with a remote $ref, with that reason', () => {
    expect(small.host.servers().find(({ name }) => name === 's')?.quarantined).toEqual([
      {
        tool: 'remote',
        reason:
          'its inputSchema refers to "https://example.com/a.json", and schemas of other addresses are not fetched',
      },
    ]);
  });

  // Protocol: 25-base-19, 25-base-20, 26-base-36, 26-base-37
  it('SRV-10.15: of an unknown dialect are reported and not guessed; known ones are checked', async () => {
    expect(logged).toContain(
      'own: inputSchema is of the dialect "https://example.com/dialect", which is not known: not checked',
    );
    const client = await small.client('legacy', 'stdio');
    const call = async (name: string, a: unknown): Promise<string> => {
      const { isError, _meta } = await client.request('tools/call', { name: `s__${name}`, arguments: { a } });
      return isError === true ? `${(_meta as Json)['plugboard/code']}` : 'sent';
    };
    expect(await call('own', 'x')).toBe('sent');
    expect(await call('old', ['x'])).toBe('INVALID_ARGUMENTS');
    expect(await call('old', [1])).toBe('sent');
  });

  it('SRV-10.15: with an invalid x-mcp-header are left out for modern clients over HTTP alone', async () => {
    for (const client of await allClients(small)) {
      const { tools: listed } = (await client.request('tools/list')) as { tools: Json[] };
      const has = listed.some(({ name }) => name === 's__header');
      expect([client.name, has]).toEqual([client.name, client.name !== 'modern client over http']);
    }
  });
});
