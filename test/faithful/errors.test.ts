import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineServer, http, tool } from '../../src/kit/index.ts';
import { modern, post } from '../serve/bare-client.ts';
import {
  allClients,
  type Json,
  openRawGateway,
  type RawClient,
  type RawGateway,
} from '../world/raw-gateway.ts';

const TOOLS = [
  'seen',
  'own-code',
  'cause',
  'nested',
  'unknown-method',
  'version',
  'headers',
  'urls',
  'hidden',
  'no-code',
  'result',
];

const answers = {
  'tools/list': {
    result: { tools: TOOLS.map((name) => ({ name, inputSchema: { type: 'object' } })) },
  },
  'tools/call own-code': {
    error: { code: 4711, message: 'out of paper', data: { tray: 2, list: [1, null, { deep: true }] } },
  },
  'tools/call cause': { error: { code: -32000, message: 'tools/call failed', data: { error: 'disk full' } } },
  'tools/call nested': {
    error: { code: -32000, message: 'failed', data: { error: { message: 'disk full', at: '/' } } },
  },
  'tools/call unknown-method': { error: { code: -32601, message: 'not here' } },
  'tools/call version': {
    error: { code: -32022, message: 'too old', data: { supported: [], requested: 'x' } },
  },
  'tools/call headers': { error: { code: -32020, message: 'odd header', data: { x: 1 } } },
  'tools/call urls': {
    error: {
      code: -32042,
      message: 'log in',
      data: {
        elicitations: [
          { mode: 'url', elicitationId: 'e9', url: 'https://example.com/in', message: 'Log in' },
        ],
      },
    },
  },
  'tools/call hidden': {
    error: { code: 5, message: 'a\u{E0041}b', data: { note: 'c\u{E0042}d' } },
  },
  'tools/call no-code': { error: { message: 'odd' } },
  'tools/call result': { result: { content: [{ type: 'text', text: 'no' }], isError: true } },
  'resources/list': { result: { resources: [{ uri: 'memo://gone', name: 'gone' }] } },
  'resources/read': { error: { code: 1234, message: 'torn page', data: { page: 3 } } },
  'resources/read memo://params': { error: { code: -32602, message: 'bad page' } },
  'resources/read memo://method': { error: { code: -32601, message: 'no reading', data: { uri: 'x' } } },
  'resources/read memo://missing': {
    error: { code: -32002, message: 'no page', data: { uri: 'memo://missing', shelf: 3 } },
  },
  'prompts/list': { result: { prompts: [{ name: 'greet' }] } },
  'prompts/get': { error: { code: -32602, message: 'name is missing', data: { argument: 'name' } } },
  'completion/complete': { error: { code: -32603, message: 'no index', data: { retry: true } } },
};

let world: RawGateway;
let clients: readonly RawClient[];

beforeAll(async () => {
  world = await openRawGateway({
    old: { era: 'legacy', answers },
    new: { era: 'modern', answers },
    far: { era: 'modern', over: 'http', answers },
  });
  clients = await allClients(world);
});

afterAll(() => world.close());

describe.each(['old', 'new', 'far'])('an error of the server %s', (server) => {
  const errorOf = async (client: RawClient, name: string): Promise<unknown> =>
    (await client.answer('tools/call', { name: `${server}__${name}` }))['error'];

  it('SRV-10.6: keeps its code, message and data', async () => {
    for (const client of clients) {
      expect([client.name, await errorOf(client, 'own-code')]).toEqual([
        client.name,
        { code: 4711, message: 'out of paper', data: { tray: 2, list: [1, null, { deep: true }] } },
      ]);
      // Over HTTP too: the method is known here, and the error is the answer to it.
      expect([client.name, await errorOf(client, 'unknown-method')]).toEqual([
        client.name,
        { code: -32601, message: 'not here' },
      ]);
    }
  });

  it('SRV-10.6: shows its cause from data.error where agents read it, and keeps the data', async () => {
    for (const client of clients) {
      expect([client.name, await errorOf(client, 'cause')]).toEqual([
        client.name,
        { code: -32000, message: 'tools/call failed: disk full', data: { error: 'disk full' } },
      ]);
      expect([client.name, await errorOf(client, 'nested')]).toEqual([
        client.name,
        { code: -32000, message: 'failed: disk full', data: { error: { message: 'disk full', at: '/' } } },
      ]);
    }
  });

  it('SRV-10.6: has no hidden text', async () => {
    for (const client of clients) {
      expect([client.name, await errorOf(client, 'hidden')]).toEqual([
        client.name,
        { code: 5, message: 'ab', data: { note: 'cd' } },
      ]);
    }
  });

  it('SRV-10.6: stays a result where it is one, where it has no code, and where it is about our connection', async () => {
    for (const client of clients) {
      for (const name of ['result', 'no-code', 'version']) {
        const { isError } = await client.request('tools/call', { name: `${server}__${name}` });
        expect([client.name, name, isError]).toEqual([client.name, name, true]);
      }
    }
  });

  it('SRV-10.6: is kept for resources, prompts and completion too', async () => {
    const uri = `plugboard://server/${server}/memo%3A%2F%2Fgone`;
    const ref = { type: 'ref/prompt', name: `${server}__greet` };
    for (const client of clients) {
      const errors = [
        await client.answer('resources/read', { uri }),
        await client.answer('prompts/get', { name: `${server}__greet` }),
        await client.answer('completion/complete', { ref, argument: { name: 'a', value: '' } }),
      ].map(({ error }) => error);
      expect([client.name, ...errors]).toEqual([
        client.name,
        { code: 1234, message: 'torn page', data: { page: 3 } },
        { code: -32602, message: 'name is missing', data: { argument: 'name' } },
        { code: -32603, message: 'no index', data: { retry: true } },
      ]);
    }
  });
});

it('SRV-10.6: an error about our connection keeps its message', async () => {
  for (const client of clients) {
    for (const server of ['old', 'new', 'far']) {
      for (const [name, message] of [
        ['version', 'too old'],
        ['headers', 'odd header'],
      ] as const) {
        const { content } = await client.request('tools/call', { name: `${server}__${name}` });
        expect([client.name, server, content]).toEqual([
          client.name,
          server,
          [{ type: 'text', text: expect.stringContaining(message) }],
        ]);
      }
    }
  }
});

it('SRV-10.6: −32042 reaches legacy clients that cannot be asked, with its addresses; modern ones learn what they lack', async () => {
  const forms = await allClients(world, { elicitation: {} });
  for (const client of [...clients, ...forms]) {
    const { error } = await client.answer('tools/call', { name: 'old__urls' });
    expect([client.name, error]).toEqual([
      client.name,
      client.name.startsWith('legacy')
        ? {
            code: -32042,
            message: 'log in',
            data: {
              elicitations: [
                {
                  mode: 'url',
                  elicitationId: 'e9',
                  url: 'https://example.com/in',
                  message: expect.stringContaining('Log in'),
                },
              ],
            },
          }
        : {
            code: -32021,
            message: expect.stringContaining('elicitation'),
            data: { requiredCapabilities: { elicitation: { url: {} } } },
          },
    ]);
  }
});

it('SRV-10.6: an error of resources/read keeps its code; only "not found" is translated, and only between eras', async () => {
  const read = async (client: RawClient, server: string, page: string): Promise<unknown> =>
    (await client.answer('resources/read', { uri: addressOf(server, page) }))['error'];
  const addressOf = (server: string, page: string): string =>
    `plugboard://server/${server}/memo%3A%2F%2F${page}`;
  for (const client of clients) {
    const isLegacy = client.name.startsWith('legacy');
    for (const server of ['old', 'new', 'far']) {
      const isSameEra = isLegacy === (server === 'old');
      const uri = addressOf(server, 'params');
      const params = { code: -32602, message: 'bad page' };
      const translated = { code: -32002, message: 'bad page', data: { uri } };
      expect([client.name, server, await read(client, server, 'params')]).toEqual([
        client.name,
        server,
        isLegacy && !isSameEra ? translated : params,
      ]);
      expect([client.name, server, await read(client, server, 'method')]).toEqual([
        client.name,
        server,
        { code: -32601, message: 'no reading', data: { uri: 'x' } },
      ]);
      expect([client.name, server, await read(client, server, 'missing')]).toEqual([
        client.name,
        server,
        {
          code: !isLegacy && server === 'old' ? -32602 : -32002,
          message: 'no page',
          data: { uri: addressOf(server, 'missing'), shelf: 3 },
        },
      ]);
    }
  }
});

it('SRV-10.6: the library, and so chat and commands, show the cause', async () => {
  const session = world.host.session({ approve: () => 'allow' });
  await expect(session.call('mcp__old__cause')).rejects.toMatchObject({
    code: 'PROTOCOL_ERROR',
    message: 'cause (old) returned an error: tools/call failed: disk full',
    detail: { rpcCode: -32000, rpcData: { error: 'disk full' } },
  });
});

it('SRV-10.6: refusals of the gateway itself are results that a model can read', async () => {
  for (const client of clients) {
    const { isError, _meta } = await client.request('tools/call', {
      name: 'old__seen',
      arguments: { x: 1 },
      _meta: {},
    });
    expect([client.name, isError ?? false]).toEqual([client.name, false]);
    expect((_meta as Json | undefined)?.['plugboard/code']).toBeUndefined();
    const unknown = await client.answer('tools/call', { name: 'old__nothing' });
    expect([client.name, (unknown['error'] as Json)['code']]).toEqual([client.name, -32602]);
  }
});

// Protocol: 26-base-16, 26-logging-3
it('SRV-10.15: the kit answers −32602 for an unknown tool, −32603 for protocol errors in the modern era, and declares logging', async () => {
  const server = defineServer({
    name: 'kit',
    errors: 'protocol',
    tools: [tool({ name: 'fails', run: () => Promise.reject(new Error('disk full')) })],
  });
  const served = await server.serve(http({ port: 0 }));
  try {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
    const failed = { message: 'tools/call failed', data: { error: 'disk full' } };
    expect((await post(served.url, { ...call, params: { name: 'fails' } })).messages).toMatchObject([
      { error: { code: -32000, ...failed } },
    ]);
    expect((await modern(served.url, 1, 'tools/call', { name: 'fails' })).messages).toMatchObject([
      { error: { code: -32603, ...failed } },
    ]);
    expect((await post(served.url, { ...call, params: { name: 'no' } })).messages).toMatchObject([
      { error: { code: -32602 } },
    ]);
    expect((await modern(served.url, 1, 'tools/call', { name: 'no' })).messages).toMatchObject([
      { error: { code: -32602 } },
    ]);
    expect((await modern(served.url, 1, 'server/discover')).messages).toMatchObject([
      { result: { capabilities: { logging: {} } } },
    ]);
  } finally {
    await served.close();
  }
});
