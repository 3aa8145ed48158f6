import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  allClients,
  type Json,
  openRawGateway,
  type RawClient,
  type RawGateway,
  seenBy,
} from '../world/raw-gateway.ts';

const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
  baggage: 'user=ada',
};
const SENT: Json = {
  ...TRACE,
  'com.example/k': { deep: [1, null, 'x'] },
  'io.modelcontextprotocol/something-new': 7,
  'plugboard/server': 'not ours',
};
const PASSED: Json = {
  ...TRACE,
  'com.example/k': { deep: [1, null, 'x'] },
  'io.modelcontextprotocol/something-new': 7,
};
const RESULT_META = { 'com.example/result': { kept: true }, 'plugboard/code': 'not theirs' };

const answers = {
  'tools/list': {
    result: {
      tools: [
        { name: 'seen', inputSchema: { type: 'object' } },
        { name: 'echo', inputSchema: { type: 'object' } },
      ],
    },
  },
  'tools/call echo': {
    result: { content: [{ type: 'text', text: 'hi' }], _meta: RESULT_META },
    before: [
      {
        method: 'notifications/progress',
        params: { progressToken: true, progress: 1, _meta: { 'com.example/step': 'one' } },
      },
    ],
  },
  'resources/list': { result: { resources: [{ uri: 'memo://one', name: 'one' }] } },
  'resources/read': {
    result: { contents: [{ uri: 'memo://one', text: 'first' }], _meta: RESULT_META },
  },
  'prompts/list': { result: { prompts: [{ name: 'greet' }] } },
  'prompts/get': {
    result: {
      messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }],
      _meta: RESULT_META,
    },
  },
  'completion/complete': { result: { completion: { values: ['a'] }, _meta: RESULT_META } },
};

let world: RawGateway;
let clients: readonly RawClient[];

beforeAll(async () => {
  world = await openRawGateway({
    old: { era: 'legacy', answers },
    new: { era: 'modern', answers },
    far: { era: 'modern', over: 'http', answers },
    'old-far': { era: 'legacy', over: 'http', answers },
  });
  clients = await allClients(world);
});

afterAll(() => world.close());

const SERVERS = ['old', 'new', 'far', 'old-far'] as const;

function requestsTo(server: string): readonly { method: string; params: Json }[] {
  return [
    { method: 'tools/call', params: { name: `${server}__echo`, 'com.example/param': 1 } },
    { method: 'resources/read', params: { uri: `plugboard://server/${server}/memo%3A%2F%2Fone` } },
    { method: 'prompts/get', params: { name: `${server}__greet` } },
    {
      method: 'completion/complete',
      params: { ref: { type: 'ref/prompt', name: `${server}__greet` }, argument: { name: 'a', value: '' } },
    },
  ];
}

/** Without what belongs to the connection between the gateway and its server. */
function withoutEnvelope(meta: Json): Json {
  const ours = /^(?:progressToken|io\.modelcontextprotocol\/(?:protocolVersion|client|logLevel))/;
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !ours.test(key)));
}

describe.each(SERVERS)('a request to the server %s', (server) => {
  // Protocol: 25-base-23, 26-base-45, 26-base-61
  it('SRV-10.4: arrives with the _meta and the unknown params that the client sent, and without keys that we add', async () => {
    for (const client of clients) {
      for (const { method, params } of requestsTo(server)) {
        await client.request(method, { ...params, _meta: { ...SENT, progressToken: 'theirs' } });
        const got = (await seenBy(client, server)).findLast((message) => message['method'] === method);
        const given = got?.['params'] as { _meta: Json };
        // `seen` itself is a tools/call; the one before it is ours.
        if (method === 'tools/call') continue;
        expect([client.name, method, withoutEnvelope(given._meta)]).toEqual([client.name, method, PASSED]);
        expect(given._meta['progressToken']).not.toBe('theirs');
      }
      const calls = (await seenBy(client, server)).filter(
        ({ method, params }) => method === 'tools/call' && (params as Json)['name'] === 'echo',
      );
      const last = calls.at(-1)?.['params'] as Json;
      expect([client.name, withoutEnvelope(last['_meta'] as Json)]).toEqual([client.name, PASSED]);
      expect(last['com.example/param']).toBe(1);
    }
  });

  // Protocol: 25-base-23, 26-base-45
  it('SRV-10.4: is answered with the _meta of the server’s result, and with no key that is ours alone', async () => {
    for (const client of clients) {
      for (const { method, params } of requestsTo(server)) {
        const { _meta = {} } = await client.request(method, params);
        const { 'io.modelcontextprotocol/serverInfo': info, ...rest } = _meta as Json;
        expect([client.name, method, rest]).toEqual([
          client.name,
          method,
          { 'com.example/result': { kept: true } },
        ]);
        expect(info === undefined || (info as Json)['name'] === 'plugboard').toBe(true);
      }
    }
  });

  it('SRV-10.4: has progress with the _meta that the server gave it', async () => {
    for (const client of clients) {
      const before = client.notifications.length;
      await client.request('tools/call', { name: `${server}__echo`, _meta: { progressToken: 'p' } });
      const progress = client.notifications
        .slice(before)
        .filter(({ method }) => method === 'notifications/progress');
      expect([client.name, progress.map(({ params }) => params)]).toEqual([
        client.name,
        [{ progressToken: 'p', progress: 1, _meta: { 'com.example/step': 'one' } }],
      ]);
    }
  });
});

it('SRV-10.4: two requests at once keep their own _meta', async () => {
  const [first, second] = clients;
  if (first === undefined || second === undefined) throw new Error('no clients');
  await Promise.all(
    [first, second].map((client, at) =>
      client.request('resources/read', {
        uri: 'plugboard://server/old/memo%3A%2F%2Fone',
        _meta: { 'com.example/who': at },
      }),
    ),
  );
  const reads = (await seenBy(first, 'old')).filter(({ method }) => method === 'resources/read').slice(-2);
  const who = reads.map(({ params }) => ((params as Json)['_meta'] as Json)['com.example/who']);
  expect(who.sort()).toEqual([0, 1]);
});
