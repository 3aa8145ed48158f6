import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AskingHost, ask, askingEntry, askingHost, called, ERAS, type Json } from './asking.ts';

let world: AskingHost;
beforeAll(async () => {
  world = await askingHost();
});
afterAll(() => world.close());

const ALL = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} };
const SERVERS = { legacy: 'old', modern: 'new' } as const;
const PAIRS = ERAS.flatMap((client) => ERAS.map((server) => [client, server] as const));

/** A client that keeps what it is asked, and gives one answer to everything. */
async function answering(
  era: 'legacy' | 'modern',
  answer: unknown,
  capabilities: Json = ALL,
): Promise<{ client: Awaited<ReturnType<AskingHost['client']>>; asked: Json[] }> {
  const asked: Json[] = [];
  const client = await world.client(era, capabilities, (method, params) => {
    asked.push({ method, ...params });
    return answer;
  });
  return { client, asked };
}

describe.each(PAIRS)('a %s client asked by a %s server', (clientEra, serverEra) => {
  const server = SERVERS[serverEra];

  it('SRV-10.8: _meta of a form and of its answer is passed on, but for keys that are ours', async () => {
    const { client, asked } = await answering(clientEra, {
      action: 'accept',
      content: { code: 'ab' },
      _meta: { 'com.example/back': 2, 'plugboard/server': 'x' },
    });
    const answer = await ask(client, server, 'elicitation/create', {
      message: 'Which?',
      requestedSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { code: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 } },
        required: ['code'],
      },
      _meta: { 'com.example/there': { a: 1 }, 'plugboard/approval': {}, progressToken: 1 },
    });
    expect([asked, answer]).toEqual([
      [
        {
          method: 'elicitation/create',
          mode: 'form',
          message: `${server} asks: Which?\nYour answer is read by ${server}, not by Plugboard.`,
          requestedSchema: {
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            type: 'object',
            properties: { code: { type: 'string', pattern: '^[a-z]+$', maxLength: 5 } },
            required: ['code'],
          },
          _meta: { 'com.example/there': { a: 1 }, 'plugboard/server': server },
        },
      ],
      { result: { action: 'accept', content: { code: 'ab' }, _meta: { 'com.example/back': 2 } } },
    ]);
  });

  it('SRV-10.8: an answer that breaks a pattern is cancelled, not declined', async () => {
    const { client } = await answering(clientEra, { action: 'accept', content: { code: 'AB' } });
    const answer = await ask(client, server, 'elicitation/create', {
      message: 'Which?',
      requestedSchema: { type: 'object', properties: { code: { type: 'string', pattern: '^[a-z]+$' } } },
    });
    expect(answer).toEqual({ result: { action: 'cancel' } });
  });

  // Protocol: 25-sampling-3, 26-sampling-5
  it('SRV-10.8: sampling with tools, a tool choice and context reaches a client that has them', async () => {
    const completion = {
      role: 'assistant',
      model: 'm',
      stopReason: 'toolUse',
      content: [{ type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } }],
      _meta: { 'com.example/back': true },
    };
    const { client, asked } = await answering(clientEra, completion);
    const params = {
      messages: [
        { role: 'user', content: { type: 'text', text: 'add' } },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't0', name: 'add', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', toolUseId: 't0', content: [] }] },
      ],
      maxTokens: 10,
      includeContext: 'thisServer',
      tools: [{ name: 'add', description: 'adds', inputSchema: { type: 'object' } }],
      toolChoice: { mode: 'required' },
      _meta: { 'com.example/there': 1 },
    };
    const answer = await ask(client, server, 'sampling/createMessage', params);
    expect([asked, answer]).toEqual([
      [
        {
          method: 'sampling/createMessage',
          ...params,
          systemPrompt: `${server} asks for this completion.`,
          _meta: { 'com.example/there': 1, 'plugboard/server': server },
        },
      ],
      { result: completion },
    ]);
  });
});

describe.each(ERAS)('a %s client', (era) => {
  // Protocol: 25-sampling-4, 25-schema-17, 25-schema-18, 26-sampling-6, 26-schema-47, 26-schema-48
  it('SRV-10.8: sampling with tools is refused for a client that did not declare sampling.tools', async () => {
    const { client, asked } = await answering(era, {}, { sampling: {} });
    const answer = await ask(client, 'old', 'sampling/createMessage', {
      messages: [],
      maxTokens: 1,
      tools: [{ name: 'add', inputSchema: { type: 'object' } }],
    });
    expect([asked, answer]).toEqual([
      [],
      { error: { code: -32602, message: 'This client did not declare sampling.tools' } },
    ]);
  });

  // Protocol: 25-elicitation-6, 26-base-55, 26-elicitation-6, 26-mrtr-14
  it('SRV-10.11: a client that cannot be asked never declines', async () => {
    const { client } = await answering(era, {}, {});
    const form = { message: 'm', requestedSchema: { type: 'object', properties: {} } };
    const elicited = await ask(client, 'old', 'elicitation/create', form).catch((error) => error);
    expect(elicited).toEqual(
      era === 'legacy' ? { result: { action: 'cancel' } } : expect.objectContaining({ code: -32021 }),
    );
  });
});

// Protocol: 25-elicitation-13, 25-elicitation-14, 25-elicitation-15, 25-schema-28
it('SRV-10.8: an address keeps its id, and its completion reaches the client that was asked', async () => {
  const { client, asked } = await answering('legacy', { action: 'accept' });
  const other = await world.client('legacy', ALL);
  const page = { mode: 'url', message: 'Log in', url: 'https://a.example/', elicitationId: 'page 1' };
  await ask(client, 'old', 'elicitation/create', page);
  await called(client, 'old__complete', { elicitationId: 'never asked' });
  await called(client, 'old__complete', { elicitationId: 'page 1' });
  const { params } = await client.heard('notifications/elicitation/complete');
  expect([asked, params, client.notifications.length, other.notifications]).toEqual([
    [expect.objectContaining({ url: 'https://a.example/', elicitationId: 'page 1' })],
    { elicitationId: 'page 1' },
    1,
    [],
  ]);
});

it('SRV-10.8: the modern era has no ids of addresses', async () => {
  const { client, asked } = await answering('modern', { action: 'accept' });
  await ask(client, 'old', 'elicitation/create', {
    mode: 'url',
    message: 'Log in',
    url: 'https://a.example/',
    elicitationId: 'page 2',
  });
  expect(asked.map(({ elicitationId, url }) => [elicitationId, url])).toEqual([
    [undefined, 'https://a.example/'],
  ]);
});

// Protocol: 25-elicitation-31, 26-elicitation-24
it.each(ERAS)(
  'F64: two sessions call a %s server at once without a signal, and each is asked itself',
  async (era) => {
    const server = SERVERS[era];
    const form = {
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    };
    const answers = await Promise.all(
      ['ann', 'bob', 'cleo'].map(async (name) => {
        const session = world.host.session({
          elicit: () => ({ action: 'accept', content: { name } }),
        });
        const { content } = await session.call(`mcp__${server}__ask`, {
          method: 'elicitation/create',
          params: form,
        });
        session.end();
        return content[0]?.type === 'text' ? JSON.parse(content[0].text).result.content.name : undefined;
      }),
    );
    expect(answers).toEqual(['ann', 'bob', 'cleo']);
  },
);

describe('the way of a question', () => {
  /** The source files on the stack when a question is written for its client, in the order that it passes them. */
  async function filesOnTheWay(server: string): Promise<string[]> {
    const { client } = await answering('legacy', { action: 'cancel' });
    const { stringify } = JSON;
    const { stackTraceLimit } = Error;
    let files: string[] = [];
    Error.stackTraceLimit = 100;
    JSON.stringify = (value: unknown, ...rest: never[]): string => {
      const { jsonrpc, id, method } = (value ?? {}) as Json;
      if (jsonrpc === '2.0' && method === 'elicitation/create' && String(id).startsWith('plugboard-')) {
        const found = (new Error('written').stack ?? '').matchAll(/src\/((?!lib)[\w/-]+\.ts)/g);
        files = [...new Set([...found].map(([, file = '']) => file))].toReversed();
      }
      return stringify(value, ...rest);
    };
    try {
      const form = { message: 'm', requestedSchema: { type: 'object', properties: {} } };
      await ask(client, server, 'elicitation/create', form);
    } finally {
      JSON.stringify = stringify;
      Error.stackTraceLimit = stackTraceLimit;
    }
    return files;
  }

  it('SRV-10: takes six hops from a legacy server', async () => {
    const files = await filesOnTheWay('old');
    expect(files.slice(files.indexOf('connection/peer.ts'))).toEqual([
      'connection/peer.ts',
      'connection/live-connection.ts',
      'call/session-questions.ts',
      'serve/client-questions.ts',
      'endpoint/outbound.ts',
      'endpoint/serve-lines.ts',
    ]);
  });

  it('SRV-10: takes five hops from the answer of a modern server', async () => {
    const files = await filesOnTheWay('new');
    expect(files.slice(files.indexOf('connection/rounds.ts'))).toEqual([
      'connection/rounds.ts',
      'call/session-questions.ts',
      'serve/client-questions.ts',
      'endpoint/outbound.ts',
      'endpoint/serve-lines.ts',
    ]);
  });
});

it('SRV-10.8: the library reports the completion of a page', async () => {
  const own = await askingHost(
    { old: askingEntry('legacy') },
    {
      sessions: undefined,
      elicit: () => ({ action: 'accept' }),
      openUrl: () => {},
    },
  );
  await own.host.ready();
  const events: unknown[] = [];
  own.host.on('elicitation.complete', (event) => events.push(event));
  await own.host.call('mcp__old__ask', {
    method: 'elicitation/create',
    params: { mode: 'url', message: 'Log in', url: 'https://a.example/', elicitationId: 'p' },
  });
  await own.host.call('mcp__old__complete', { elicitationId: 'p' });
  expect(events).toEqual([{ server: 'old', elicitationId: 'p', session: 'host' }]);
  await own.close();
});
