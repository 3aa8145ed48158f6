/** What the gateway writes, byte for byte: rules of the specification for servers that no other test shows. */

import { get } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { serveHttp } from '../../src/serve/index.ts';
import type { ScriptedServerOptions } from '../../src/testing/index.ts';
import { createGate, RpcError } from '../../src/testing/index.ts';
import { legacySession, modern, post } from '../serve/bare-client.ts';
import { type SmallHost, smallHost } from '../serve/small-host.ts';
import { envelope, type Message, RawLines } from './raw-lines.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function host(script: ScriptedServerOptions = {}): Promise<SmallHost> {
  const small = await smallHost(script);
  closers.push(small.close);
  return small;
}

async function http(script: ScriptedServerOptions = {}): Promise<SmallHost & { readonly url: string }> {
  const small = await host(script);
  const { url, close } = await serveHttp(small.host, { port: 0 });
  closers.push(close);
  return { ...small, url };
}

const initialize = (protocolVersion: string, capabilities: Message = {}): Message => ({
  protocolVersion,
  capabilities,
  clientInfo: { name: 'raw', version: '1' },
});
const ofMethod = (messages: readonly Message[], method: string): unknown[] =>
  messages.filter((message) => message['method'] === method).map(({ params }) => params);
const echo = { echo: ({ message }: Message) => String(message) };
const tool = (name: string, args: Message = {}, more: Message = {}): Message => ({
  name: `small__${name}`,
  arguments: args,
  ...more,
});

describe('over stdio, in the legacy era', () => {
  // Protocol: 25-lifecycle-6, 25-lifecycle-10, 25-lifecycle-11, 25-lifecycle-20a
  it('answers an unknown version with its newest, and sends nothing else before initialized', async () => {
    const { host: served } = await host({ tools: echo });
    const raw = new RawLines(served);
    const first = await raw.ask(1, 'initialize', initialize('1999-01-01', { roots: {}, sampling: {} }));
    expect(first).toMatchObject({ id: 1, result: { protocolVersion: '2025-11-25' } });
    expect(await raw.ask(2, 'ping')).toEqual({ jsonrpc: '2.0', id: 2, result: {} });
    expect(await raw.end()).toHaveLength(2);
  });

  // Protocol: 25-transports-3, 26-stdio-1
  it('writes one message a line, whatever is in it', async () => {
    const { host: served } = await host({ tools: echo });
    const raw = new RawLines(served);
    const message = 'a\nb\r\n\u2028c';
    await raw.ask(1, 'initialize', initialize('2025-11-25'));
    const { result } = await raw.ask(2, 'tools/call', tool('echo', { message }));
    expect(result).toMatchObject({ content: [{ type: 'text', text: expect.stringContaining('a\nb') }] });
    await raw.end();
    expect(raw.lines).toHaveLength(2);
  });

  // Protocol: 25-progress-1, 25-progress-5, 25-progress-9, 25-progress-11, 26-progress-1, 26-progress-5,
  // 26-progress-6, 26-progress-8
  it('reports progress by tokens of active requests only, and none after the answer', async () => {
    const { host: served, server } = await host({
      tools: {
        work: (_, exchange) => {
          exchange.progress(1, 2);
          exchange.progress(2, 2);
          return 'done';
        },
      },
    });
    const raw = new RawLines(served);
    await raw.ask(1, 'initialize', initialize('2025-11-25'));
    await raw.ask(2, 'tools/call', tool('work', {}, { _meta: { progressToken: 'text' } }));
    await raw.ask(3, 'tools/call', tool('work', {}, { _meta: { progressToken: 7 } }));
    await raw.ask(4, 'tools/call', tool('work'));
    await raw.ask(5, 'tools/call', tool('work', {}, { _meta: { progressToken: { no: 'token' } } }));
    // Of calls that have ended: the token that the server was given is not active any longer.
    for (const progressToken of [1, 2, 3, 4, 5, 6, 7, 8])
      server.notify('notifications/progress', { progressToken, progress: 3 });
    await raw.ask(6, 'tools/call', tool('work'));
    const told = ofMethod(await raw.end(), 'notifications/progress');
    expect(told).toEqual([
      { progressToken: 'text', progress: 1, total: 2 },
      { progressToken: 'text', progress: 2, total: 2 },
      { progressToken: 7, progress: 1, total: 2 },
      { progressToken: 7, progress: 2, total: 2 },
    ]);
  });
});

describe('over stdio, in the modern era', () => {
  // Protocol: 26-base-60, 26-cancellation-3, 26-prompts-5, 26-resources-5, 26-subscriptions-1, 26-subscriptions-2,
  // 26-subscriptions-3, 26-subscriptions-6, 26-subscriptions-7
  it('acknowledges a subscription first, sends what it asked for and nothing else, and ends it with a result', async () => {
    const listChanged = { listChanged: true };
    const { host: served, server } = await host({
      capabilities: { tools: listChanged, prompts: listChanged, resources: listChanged },
      tools: echo,
    });
    server.on('prompts/list', () => ({ prompts: [{ name: 'greet' }] }));
    server.on('resources/list', () => ({ resources: [] }));
    const raw = new RawLines(served);
    const _meta = envelope();
    const wanted = { promptsListChanged: true, resourcesListChanged: true };
    raw.say({
      id: 'sub',
      method: 'subscriptions/listen',
      params: { _meta, notifications: wanted },
    });
    await raw.heard(({ method }) => method === 'notifications/subscriptions/acknowledged');
    server.tool('more', () => 'x');
    server.notify('notifications/tools/list_changed');
    server.notify('notifications/prompts/list_changed');
    await raw.heard(({ method }) => method === 'notifications/prompts/list_changed');
    server.notify('notifications/resources/list_changed');
    await raw.heard(({ method }) => method === 'notifications/resources/list_changed');
    await raw.ask(2, 'tools/list', { _meta });
    const ofSubscription = (await raw.end()).filter(({ id }) => id !== 2);
    const own = { 'io.modelcontextprotocol/subscriptionId': 'sub' };
    expect(ofSubscription).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: wanted, _meta: own },
      },
      { jsonrpc: '2.0', method: 'notifications/prompts/list_changed', params: { _meta: own } },
      { jsonrpc: '2.0', method: 'notifications/resources/list_changed', params: { _meta: own } },
      {
        jsonrpc: '2.0',
        id: 'sub',
        result: expect.objectContaining({ resultType: 'complete', _meta: expect.objectContaining(own) }),
      },
    ]);
  });

  // Protocol: 26-logging-4
  it('sends log messages for requests that set a level, and for no other', async () => {
    const { host: served } = await host({
      capabilities: { tools: {}, logging: {} },
      tools: {
        chatty: (_, exchange) => {
          exchange.notify('notifications/message', { level: 'error', data: 'working' });
          return 'done';
        },
      },
    });
    const raw = new RawLines(served);
    const level = { 'io.modelcontextprotocol/logLevel': 'info' };
    await raw.ask(1, 'tools/call', tool('chatty', {}, { _meta: envelope() }));
    expect(ofMethod(raw.messages, 'notifications/message')).toEqual([]);
    await raw.ask(2, 'tools/call', tool('chatty', {}, { _meta: envelope({}, level) }));
    expect(ofMethod(await raw.end(), 'notifications/message')).toHaveLength(1);
  });
});

describe('over HTTP', () => {
  // Protocol: 25-transports-16, 26-http-12
  it('answers messages that need no answer with 202 and nothing', async () => {
    const { url } = await http();
    const session = await legacySession(url);
    const versions = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'notifications/cancelled' };
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 9, _meta: envelope() } };
    const answers = [
      await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, session),
      await post(url, { jsonrpc: '2.0', id: 1, result: {} }, session),
      await post(url, { jsonrpc: '2.0', ...cancelled }, versions),
    ];
    expect(answers.map(({ status, messages }) => [status, messages])).toEqual(Array(3).fill([202, []]));
  });

  // Protocol: 25-transports-18, 25-transports-24, 25-transports-25, 25-transports-26, 26-http-14, 26-http-16,
  // 26-http-18, 26-http-19
  it('answers a request with JSON, or with a stream that ends with its response', async () => {
    const { url } = await http({
      tools: {
        ...echo,
        work: (_, exchange) => {
          exchange.progress(1, 1);
          return 'done';
        },
      },
    });
    const session = await legacySession(url);
    const call = (name: string): Message => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: tool(name, { message: 'hi' }, { _meta: { progressToken: 1 } }),
    });
    const plain = await post(url, call('echo'), session);
    const streams = [
      await post(url, call('work'), session),
      await modern(url, 1, 'tools/call', tool('work', {}, { _meta: { progressToken: 1 } })),
    ];
    expect([plain.headers['content-type'], plain.messages.length]).toEqual(['application/json', 1]);
    for (const { headers, messages } of streams) {
      expect([headers['content-type'], headers['x-accel-buffering']]).toEqual(['text/event-stream', 'no']);
      // The whole stream was read to its end: the response is the last message.
      expect(messages.map(({ method, id }) => method ?? id)).toEqual(['notifications/progress', 1]);
    }
  });

  // Protocol: 25-prompts-2, 25-resources-2, 25-transports-31, 25-transports-32, 25-transports-34, 25-transports-35
  it('a stream of its own has neither answers nor messages of requests that run', async () => {
    const finish = createGate();
    const { url, server } = await http({
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true },
      },
      tools: {
        work: async (_, exchange) => {
          exchange.progress(1, 2);
          await finish.opened;
          return 'done';
        },
      },
    });
    const session = await legacySession(url);
    const own: string[] = [];
    const heard = createGate();
    const stream = get(url, { headers: { ...session, accept: 'text/event-stream' } }, (response) => {
      response.setEncoding('utf8').on('data', (text: string) => {
        own.push(...text.split('\n').filter((line) => line.startsWith('data: {')));
        if (own.some((line) => line.includes('resources/list_changed'))) heard.open();
      });
    });
    const params = tool('work', {}, { _meta: { progressToken: 1 } });
    const call = post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session);
    await server.seen('tools/call');
    server.notify('notifications/prompts/list_changed');
    server.notify('notifications/resources/list_changed');
    await heard.opened;
    finish.open();
    const { messages } = await call;
    stream.destroy();
    expect(messages.map(({ method, id }) => method ?? id)).toEqual(['notifications/progress', 1]);
    expect(own.map((line) => JSON.parse(line.slice('data: '.length)).method)).toEqual([
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
    ]);
  });

  // Protocol: 25-tasks-16, 25-tasks-24
  it('a request for a task is answered as any other where there are none, and tasks/get with JSON', async () => {
    const { url } = await http({ tools: echo });
    const old = await legacySession(url, '2025-06-18');
    const wanted = { ...tool('echo', { message: 'hi' }), task: { ttl: 60_000 } };
    const ask = (method: string, params: Message, session: Record<string, string>): ReturnType<typeof post> =>
      post(url, { jsonrpc: '2.0', id: 1, method, params }, session);
    const { messages } = await ask('tools/call', wanted, old);
    expect(messages[0]).toMatchObject({ result: { content: [{ type: 'text', text: 'hi' }] } });
    const { headers } = await ask('tasks/get', { taskId: 'none' }, await legacySession(url));
    expect(headers['content-type']).toBe('application/json');
  });

  // Protocol: 25-transports-50
  it('takes a client without session and version for one of 2025-03-26', async () => {
    const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };
    const link = { type: 'resource_link', uri: 'memo://one', name: 'one' };
    const { url } = await http({ tools: { give: () => ({ content: [audio, link] }) } });
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool('give') };
    const kinds = async (headers: Record<string, string>): Promise<unknown> => {
      const { messages } = await post(url, call, headers);
      const [{ result }] = messages as unknown as [{ result: { content: { type: string }[] } }];
      return result.content.map(({ type }) => type);
    };
    expect(await kinds({})).toEqual(['audio', 'text']);
    expect(await kinds(await legacySession(url, '2025-11-25'))).toEqual(['audio', 'resource_link']);
  });

  // Protocol: 26-http-28, 26-http-64
  it('names of headers have no case, and a modern request without its version header is refused', async () => {
    const { url } = await http({ tools: echo });
    const body = (id: number): Message => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/list',
      params: { _meta: envelope() },
    });
    const shouted = { 'MCP-PROTOCOL-VERSION': '2026-07-28', 'MCP-METHOD': 'tools/list' };
    const given = await post(url, body(1), shouted);
    const without = await post(url, body(2), { 'mcp-method': 'tools/list' });
    expect([given.status, without.status]).toEqual([200, 400]);
    expect(without.messages[0]).toMatchObject({ id: 2, error: { code: -32020 } });
  });

  // Protocol: 26-http-66
  it('compares integers in headers as numbers', async () => {
    const inputSchema = {
      type: 'object',
      properties: { size: { type: 'integer', 'x-mcp-header': 'Size' } },
    };
    const { url } = await http({ eras: 'modern', tools: { grow: { inputSchema, run: () => 'grown' } } });
    const call = (size: string): ReturnType<typeof modern> =>
      modern(url, 1, 'tools/call', tool('grow', { size: 42 }), {}, { 'mcp-param-size': size });
    const answers = [await call('42'), await call('42.0'), await call('43')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
  });
});

describe('errors of a modern gateway', () => {
  const ALLOWED = [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022];

  // Protocol: 25-schema-2, 26-base-15, 26-base-16, 26-base-18, 26-base-19, 26-base-20, 26-base-22, 26-base-55,
  // 26-base-56, 26-http-26, 26-http-27, 26-schema-20
  it('have codes of the specification with their meaning, and one short sentence', async () => {
    const { url, server } = await http({
      eras: 'modern',
      capabilities: { tools: {}, resources: {}, prompts: {} },
      tools: {
        ask: () => ({
          resultType: 'input_required',
          inputRequests: {
            q: {
              method: 'elicitation/create',
              params: {
                message: 'Who?',
                requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
              },
            },
          },
        }),
      },
    });
    server.on('resources/read', () => {
      throw new RpcError(-32602, 'not here');
    });
    const failures = {
      'no such method': await modern(url, 1, 'no/such/method'),
      'no such tool': await modern(url, 2, 'tools/call', tool('nothing')),
      'no such prompt': await modern(url, 3, 'prompts/get', { name: 'nothing' }),
      'no such resource': await modern(url, 4, 'resources/read', { uri: 'memo://nothing' }),
      'bad cursor': await modern(url, 5, 'tools/list', { cursor: 'invented' }),
      'missing capability': await modern(url, 6, 'tools/call', tool('ask')),
      'other header': await modern(url, 7, 'tools/list', {}, {}, { 'mcp-method': 'ping' }),
      'unknown version': await post(
        url,
        {
          jsonrpc: '2.0',
          id: 8,
          method: 'tools/list',
          params: { _meta: envelope({}, { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' }) },
        },
        { 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'tools/list' },
      ),
      'no envelope': await post(
        url,
        { jsonrpc: '2.0', id: 9, method: 'tools/list', params: {} },
        { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
      ),
    };
    const seen = Object.fromEntries(
      Object.entries(failures).map(([what, { status, messages }]) => {
        const { error } = messages[0] as { error: { code: number; message: string } };
        expect(ALLOWED).toContain(error.code);
        expect(error.message).toMatch(/^[^\n]{1,300}$/);
        return [what, [status, error.code]];
      }),
    );
    expect(seen).toEqual({
      'no such method': [404, -32601],
      'no such tool': [200, -32602],
      'no such prompt': [200, -32602],
      'no such resource': [200, -32602],
      'bad cursor': [200, -32602],
      'missing capability': [400, -32021],
      'other header': [400, -32020],
      'unknown version': [400, -32022],
      'no envelope': [400, -32602],
    });
    expect(failures['missing capability'].messages[0]).toMatchObject({
      error: { data: { requiredCapabilities: { elicitation: {} } } },
    });
  });

  // Protocol: 25-resources-6, 26-resources-10
  it('a resource that is not there is −32002 in the legacy era, and a server that fails −32603', async () => {
    const { url, server } = await http({ capabilities: { tools: {}, resources: {} } });
    server.on('resources/list', () => ({ resources: [{ uri: 'memo://one', name: 'one' }] }));
    server.on('resources/read', ({ params }) => {
      if (params['uri'] !== 'memo://one') throw new RpcError(-32002, 'not here');
      server.crash(1);
      return { contents: [] };
    });
    const session = await legacySession(url);
    const read = async (uri: string): Promise<unknown> => {
      const { messages } = await post(
        url,
        { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } },
        session,
      );
      return (messages[0]?.['error'] as Message | undefined)?.['code'];
    };
    expect(await read('memo://none')).toBe(-32002);
    expect(await read('memo://one')).toBe(-32603);
    const { messages } = await modern(url, 1, 'resources/read', { uri: 'memo://one' });
    expect(messages[0]).toMatchObject({ error: { code: -32603 } });
  });
});

describe('lists of a modern gateway', () => {
  // Protocol: 26-caching-8, 26-caching-16, 26-caching-18, 26-prompts-4, 26-resources-4, 26-tools-6
  it('are private, have one scope, and are the same on every connection and after other requests', async () => {
    const { url, server } = await http({
      capabilities: { tools: {}, resources: {}, prompts: {} },
      tools: echo,
    });
    server.on('resources/list', () => ({ resources: [{ uri: 'memo://one', name: 'one' }] }));
    server.on('resources/templates/list', () => ({ resourceTemplates: [] }));
    server.on('prompts/list', () => ({ prompts: [{ name: 'greet' }] }));
    const methods = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'];
    const lists = (): Promise<unknown[]> =>
      Promise.all(
        methods.map(async (method) => (await modern(url, 1, method)).messages[0]?.['result'] as Message),
      );
    const before = await lists();
    await modern(url, 2, 'tools/call', tool('echo', { message: 'hi' }));
    await modern(url, 3, 'prompts/get', { name: 'small__greet' });
    expect(await lists()).toEqual(before);
    for (const list of before) {
      expect(list).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
      expect((list as { ttlMs: number }).ttlMs).toBeGreaterThanOrEqual(0);
    }
  });
});

describe('content', () => {
  // Protocol: 25-prompts-4, 25-tools-12, 26-prompts-7, 26-tools-30
  it('audio of prompts and embedded resources of tools arrive as they were sent; resources are declared', async () => {
    const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };
    const resource = { uri: 'memo://one', mimeType: 'text/plain', text: 'first' };
    const { url, server } = await http({
      capabilities: { tools: {}, prompts: {} },
      tools: { give: () => ({ content: [{ type: 'resource', resource }] }) },
    });
    server.on('prompts/list', () => ({ prompts: [{ name: 'sing' }] }));
    server.on('prompts/get', () => ({ messages: [{ role: 'user', content: audio }] }));
    const { messages: about } = await modern(url, 1, 'server/discover');
    const { messages: prompt } = await modern(url, 2, 'prompts/get', { name: 'small__sing' });
    const { messages: given } = await modern(url, 3, 'tools/call', tool('give'));
    expect(about[0]).toMatchObject({ result: { capabilities: { resources: {} } } });
    expect(prompt[0]).toMatchObject({ result: { messages: [{ role: 'user', content: audio }] } });
    expect(given[0]).toMatchObject({
      result: { content: [{ type: 'resource', resource: { mimeType: 'text/plain', text: 'first' } }] },
    });
  });
});
