/** What the client writes, byte for byte: rules of the specification for clients that no other test shows. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostOptions } from '../../src/host/host-options.ts';
import { fakeClock } from '../../src/testing/index.ts';
import { PATIENCE_MS } from '../world/until.ts';
import type { Message } from './raw-lines.ts';

const PROGRAM = fileURLToPath(new URL('raw-server.mjs', import.meta.url));
const SOON = { timeout: PATIENCE_MS };
const CAPABILITIES = { tools: {}, resources: {} };
const SERVER_INFO = { name: 'raw', version: '1' };
const NAMED_META =
  /^(?:[a-z](?:[a-z\d-]*[a-z\d])?(?:\.[a-z](?:[a-z\d-]*[a-z\d])?)*\/)?(?:[a-z\d](?:[\w.-]*[a-z\d])?)?$/i;

/** What is written when a method arrives: a list for each time. */
type Answers = Record<string, Message[][]>;

const result = (value: Message, ...before: Message[]): Message[] => [...before, { id: '$id', result: value }];
const error = (code: number, message: string): Message[] => [{ id: '$id', error: { code, message } }];
const TOOLS = [
  { name: 'echo', inputSchema: { type: 'object' } },
  { name: 'ask', inputSchema: { type: 'object' } },
];
const text = (value: string): Message => ({ content: [{ type: 'text', text: value }] });

const LEGACY: Answers = {
  'server/discover': [error(-32601, 'Method not found')],
  initialize: [
    result({ protocolVersion: '2025-11-25', capabilities: CAPABILITIES, serverInfo: SERVER_INFO }),
  ],
  'tools/list': [result({ tools: TOOLS })],
  'tools/call': [result(text('done'))],
};
const MODERN: Answers = {
  'server/discover': [
    result({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: CAPABILITIES,
      ttlMs: 0,
      cacheScope: 'private',
    }),
  ],
  'tools/list': [result({ resultType: 'complete', tools: TOOLS, ttlMs: 60_000, cacheScope: 'private' })],
  'tools/call': [result({ resultType: 'complete', ...text('done') })],
};

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Client {
  readonly host: Host;
  readonly home: string;
  /** Every line that the server has read, as it came. */
  lines(): string[];
  messages(): Message[];
}

async function client(
  answers: Answers,
  options: Partial<HostOptions> = {},
  entry: { readonly lifecycle?: 'keep-alive' } = {},
): Promise<Client> {
  const home = mkdtempSync(join(tmpdir(), 'plugboard-wire-'));
  const record = join(home, 'record');
  const args = [PROGRAM, record, JSON.stringify(answers)];
  const server = { command: process.execPath, args, ...entry };
  const host = await createHost({
    home,
    cwd: home,
    env: {},
    watch: false,
    approve: () => 'allow',
    servers: { raw: server },
    ...options,
  });
  closers.push(
    () => rmSync(home, { recursive: true, force: true }),
    () => host.close(),
  );
  const lines = (): string[] => readFileSync(record, 'utf8').split('\n').slice(0, -1);
  return { host, home, lines, messages: () => lines().map((line) => JSON.parse(line)) };
}

const methods = (messages: readonly Message[]): unknown[] => messages.map(({ method }) => method);
const metaOf = ({ params }: Message): Message =>
  ((params as Message | undefined)?.['_meta'] ?? {}) as Message;

describe('over stdio, to a legacy server', () => {
  // Protocol: 25-base-2, 25-base-3, 25-base-4, 25-base-5, 25-base-12, 25-lifecycle-1, 25-lifecycle-2,
  // 25-lifecycle-4, 25-lifecycle-7, 25-lifecycle-8, 25-progress-1, 25-progress-2, 25-transports-3, 25-transports-6,
  // 26-base-2, 26-base-3, 26-base-4, 26-base-5, 26-base-24, 26-progress-1, 26-progress-2, 26-stdio-1, 26-stdio-4
  it('writes one message a line; requests have their own integer ids, notifications none', async () => {
    const { host, lines, messages } = await client(LEGACY);
    await host.connect('raw');
    const onProgress = (): void => {};
    await Promise.all([
      host.call('mcp__raw__echo', { message: 'a\nb\r\nc\u2028' }, { onProgress }),
      host.call('mcp__raw__echo', { message: 'again' }, { onProgress }),
    ]);
    await host.close();
    const sent = messages();
    expect(lines()).toHaveLength(sent.length);
    expect(sent.every((message) => message['jsonrpc'] === '2.0')).toBe(true);
    expect(methods(sent).slice(0, 3)).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
    expect(sent[1]).toMatchObject({ params: { protocolVersion: '2025-11-25' } });
    const requests = sent.filter(({ method }) => !String(method).startsWith('notifications/'));
    const ids = requests.map(({ id }) => id);
    expect(ids.every((id) => Number.isInteger(id))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    expect(sent.filter((message) => 'id' in message)).toEqual(requests);
    const tokens = sent
      .filter(({ method }) => method === 'tools/call')
      .map((each) => metaOf(each)['progressToken']);
    expect(tokens.map((token) => typeof token)).toEqual(['number', 'number']);
    expect(new Set(tokens).size).toBe(2);
  });

  // Protocol: 25-progress-9, 26-progress-6
  it('reads progress by its token, and not after the answer', async () => {
    const progress = (token: unknown, value: number): Message => ({
      method: 'notifications/progress',
      params: { progressToken: token, progress: value },
    });
    const { host } = await client({
      ...LEGACY,
      'tools/call': [
        [progress('$token', 1), progress(99, 2), ...result(text('done')), progress('$token', 3)],
        result(text('done')),
      ],
    });
    await host.connect('raw');
    const seen: unknown[] = [];
    await host.call('mcp__raw__echo', {}, { onProgress: (step) => seen.push(step) });
    await host.call('mcp__raw__echo');
    expect(seen).toEqual([{ progress: 1 }]);
  });

  // Protocol: 25-cancellation-2, 25-lifecycle-5
  it('a server that does not answer initialize is asked nothing else, and initialize is not cancelled', async () => {
    const { host, messages } = await client({ 'server/discover': LEGACY['server/discover'] ?? [] });
    const connected = host.connect('raw').catch((given: unknown) => given);
    await vi.waitFor(() => expect(methods(messages())).toContain('initialize'), SOON);
    await host.close();
    expect(await connected).toBeInstanceOf(Error);
    expect(methods(messages())).toEqual(['server/discover', 'initialize']);
  });

  // Protocol: 25-lifecycle-12, 25-lifecycle-20a
  it('ends the connection when the server answers with a version that it does not support', async () => {
    const strange = { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: SERVER_INFO };
    const { host, messages } = await client({ ...LEGACY, initialize: [result(strange)] });
    await expect(host.connect('raw')).rejects.toMatchObject({ code: 'PROTOCOL_ERROR' });
    expect(methods(messages())).toEqual(['server/discover', 'initialize']);
  });

  // Protocol: 25-progress-6, 25-progress-7, 25-tasks-7, 25-tasks-73a
  it('a task reports progress by the token of its call until it ends, and is logged as that call', async () => {
    const progress = (value: number): Message => ({
      method: 'notifications/progress',
      params: { progressToken: '$token', progress: value },
    });
    const at = '2026-01-01T00:00:00Z';
    const task = (status: string): Message => ({
      taskId: 't1',
      status,
      createdAt: at,
      lastUpdatedAt: at,
      ttl: null,
      pollInterval: 10,
    });
    const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } } } };
    const slow = { name: 'slow', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } };
    const { host, home } = await client({
      ...LEGACY,
      initialize: [result({ protocolVersion: '2025-11-25', capabilities, serverInfo: SERVER_INFO })],
      'tools/list': [result({ tools: [slow] })],
      'tools/call': [[...result({ task: task('working') }), progress(1)]],
      'tasks/get': [result(task('working'), progress(2)), result(task('completed'))],
      'tasks/result': [result(text('done'))],
    });
    await host.connect('raw');
    const seen: number[] = [];
    const { content } = await host.call(
      'mcp__raw__slow',
      {},
      { onProgress: (step) => seen.push(step.progress) },
    );
    await host.close();
    expect([content, seen.filter((value) => value > 0)]).toEqual([text('done')['content'], [1, 2]]);
    const [logged] = readFileSync(join(home, 'audit.jsonl'), 'utf8').split('\n');
    expect(JSON.parse(logged ?? '')).toMatchObject({ server: 'raw', tool: 'slow', outcome: 'ok' });
  });

  // Protocol: 25-base-20, 26-base-37, 26-base-43
  it('reports a schema of an unknown dialect, and leaves out a tool whose schema is at another address', async () => {
    const warnings: string[] = [];
    const odd = {
      $schema: 'https://example.com/dialect',
      type: 'object',
      properties: { a: { type: 'string' } },
    };
    const far = { type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } };
    const tools = [
      { name: 'good', inputSchema: { type: 'object' } },
      { name: 'odd', inputSchema: odd },
      { name: 'far', inputSchema: far },
    ];
    const { host } = await client({ ...LEGACY, 'tools/list': [result({ tools })] });
    host.on('log', ({ message }) => warnings.push(message));
    await host.connect('raw');
    // It is left to the server to check what a schema means that is not understood here.
    await host.call('mcp__raw__odd', { a: 7 });
    expect(host.tools().map(({ tool }) => tool)).toEqual(['good', 'odd']);
    const reported = (name: string): string => warnings.find((warning) => warning.includes(name)) ?? '';
    expect(reported('odd')).toContain('https://example.com/dialect');
    expect(reported('far')).toContain('https://example.com/a.json');
  });

  // Protocol: 26-base-17
  it('reads nothing into error codes that the specification left to implementations', async () => {
    const codes = [-32000, -32001, -32003, -32019];
    const { host } = await client({ ...LEGACY, 'tools/call': codes.map((code) => error(code, 'odd')) });
    await host.connect('raw');
    const failed: unknown[] = [];
    for (const _ of codes)
      await host.call('mcp__raw__echo').catch(({ code, detail }) => failed.push([code, detail.rpcCode]));
    expect(failed).toEqual(codes.map((code) => ['PROTOCOL_ERROR', code]));
  });

  // Protocol: 26-sampling-15
  it('each request of a server for a completion has its own messages only', async () => {
    const asked: unknown[] = [];
    const question = (id: string): Message => ({
      id,
      method: 'sampling/createMessage',
      params: { messages: [{ role: 'user', content: { type: 'text', text: id } }], maxTokens: 10 },
    });
    const { host } = await client(
      { ...LEGACY, 'tools/call': [result(text('done'), question('one'), question('two'))] },
      {
        sample: ({ params }) => {
          asked.push(params['messages']);
          return { role: 'assistant', model: 'm', content: { type: 'text', text: 'yes' } };
        },
      },
    );
    await host.connect('raw');
    await host.call('mcp__raw__ask');
    expect(asked).toEqual(
      ['one', 'two'].map((id) => [{ role: 'user', content: { type: 'text', text: id } }]),
    );
  });

  // Protocol: 26-caching-15
  it('a list whose cursor is refused is read from its beginning the next time', async () => {
    const page = { resources: [{ uri: 'memo://one', name: 'one' }], nextCursor: 'opaque=1' };
    const { host, messages } = await client({
      ...LEGACY,
      'resources/list': [result(page), error(-32602, 'this cursor has expired'), result({ resources: [] })],
      'resources/templates/list': [result({ resourceTemplates: [] })],
    });
    await host.connect('raw');
    await host.resources();
    await host.resources();
    const lists = messages().filter(({ method }) => method === 'resources/list');
    expect(lists.map(({ params }) => (params as Message)['cursor'])).toEqual([
      undefined,
      'opaque=1',
      undefined,
    ]);
  });
});

describe('over stdio, to a modern server', () => {
  // Protocol: 25-base-24, 25-base-25, 25-base-27, 26-base-46, 26-base-47, 26-base-49, 26-base-50, 26-base-53,
  // 26-elicitation-4, 26-roots-3, 26-sampling-7, 26-versioning-4, 26-versioning-9
  it('probes first, and sends its identity and capabilities with each request', async () => {
    const { host, messages } = await client(MODERN, {
      elicit: () => ({ action: 'cancel' }),
      sample: () => undefined,
      roots: [{ uri: 'file:///home/ada/app' }],
    });
    await host.connect('raw');
    await host.call('mcp__raw__echo');
    const sent = messages();
    expect(methods(sent).slice(0, 3)).toEqual(['server/discover', 'tools/list', 'tools/call']);
    for (const message of sent) {
      const meta = metaOf(message);
      expect(Object.keys(meta).filter((key) => !NAMED_META.test(key))).toEqual([]);
      const capabilities = meta['io.modelcontextprotocol/clientCapabilities'] as Record<string, Message>;
      expect(capabilities).toMatchObject({ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} });
      const extensions = Object.keys(capabilities['extensions'] ?? {});
      expect(extensions.filter((id) => !id.includes('/') || !NAMED_META.test(id))).toEqual([]);
      expect(meta).toMatchObject({
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'plugboard' },
      });
    }
  });

  // Protocol: 26-subscriptions-5
  it('reads a list again when its own stream announces a change, and not for the stream of another', async () => {
    const changed = (subscriptionId: unknown): Message => ({
      method: 'notifications/tools/list_changed',
      params: { _meta: { 'io.modelcontextprotocol/subscriptionId': subscriptionId } },
    });
    const acknowledged = {
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true },
        _meta: { 'io.modelcontextprotocol/subscriptionId': '$id' },
      },
    };
    const discover = MODERN['server/discover']?.[0]?.[0]?.['result'] as Message;
    const listens = { ...discover, capabilities: { tools: { listChanged: true } } };
    const lists = async (id: unknown): Promise<() => number> => {
      const { host, messages } = await client({
        ...MODERN,
        'server/discover': [result(listens)],
        'subscriptions/listen': [[acknowledged, changed(id)]],
      });
      await host.connect('raw');
      await vi.waitFor(() => expect(methods(messages())).toContain('subscriptions/listen'), SOON);
      // Its answer comes after the notification: by then that has been read.
      await host.call('mcp__raw__echo');
      return () => methods(messages()).filter((method) => method === 'tools/list').length;
    };
    const [own, foreign] = [await lists('$id'), await lists(4711)];
    await vi.waitFor(() => expect(own()).toBe(2), SOON);
    expect(foreign()).toBe(1);
  });

  // Protocol: 26-base-11, 26-discover-4
  it('takes a result without resultType for a complete one, whatever the server calls itself', async () => {
    const named = { 'io.modelcontextprotocol/serverInfo': { name: 'plugboard', version: '99' } };
    const { host } = await client({
      ...MODERN,
      'tools/call': [result(text('done')), result({ ...text('done'), _meta: named })],
    });
    await host.connect('raw');
    const first = await host.call('mcp__raw__echo');
    const second = await host.call('mcp__raw__echo');
    expect([first.content, second.content]).toEqual([text('done')['content'], text('done')['content']]);
  });

  // Protocol: 26-caching-5, 26-caching-7, 26-caching-9, 26-caching-10
  it('reads a stale list again when it is needed, and never by the clock', async () => {
    const clock = fakeClock();
    const resources = (ttlMs: number): Message => ({
      resultType: 'complete',
      resources: [],
      ttlMs,
      cacheScope: 'private',
    });
    const { host, messages } = await client(
      {
        ...MODERN,
        'tools/list': [result({ resultType: 'complete', tools: TOOLS, ttlMs: 1_000, cacheScope: 'private' })],
        'resources/list': [result(resources(60_000)), result(resources(-1))],
        'resources/templates/list': [error(-32601, 'Method not found')],
        'resources/read': [result({ resultType: 'complete', contents: [{ uri: 'memo://one', text: '1' }] })],
      },
      { clock },
      { lifecycle: 'keep-alive' },
    );
    const count = (method: string): number => methods(messages()).filter((each) => each === method).length;
    await host.connect('raw');
    await host.resources();
    await host.resources();
    expect(count('resources/list')).toBe(1);
    await clock.advance(60 * 60_000);
    // By the answer to this, anything that was sent before it has been recorded.
    await host.read('raw', 'memo://one');
    expect([count('tools/list'), count('resources/list')]).toEqual([1, 1]);
    const listed = (times: number): Promise<void> =>
      vi.waitFor(async () => {
        await host.resources();
        // A list that is read again in the background waits for others to join.
        await clock.advance(1_000);
        expect(count('resources/list')).toBeGreaterThanOrEqual(times);
      }, SOON);
    await listed(2);
    // A negative age is none: stale at once.
    await listed(3);
  });

  // Protocol: 25-elicitation-35
  it('answers a bounded number of questions in one call', async () => {
    let asked = 0;
    const params = {
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { a: { type: 'string' } } },
    };
    const question = { method: 'elicitation/create', params };
    const { host } = await client(
      { ...MODERN, 'tools/call': [result({ resultType: 'input_required', inputRequests: { q: question } })] },
      {
        elicit: () => {
          asked += 1;
          return { action: 'accept', content: { a: 'x' } };
        },
      },
    );
    await host.connect('raw');
    await expect(host.call('mcp__raw__ask')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    expect(asked).toBe(16);
  });

  // Protocol: 26-caching-3
  it('a resource that needed an answer is asked for again, with its question', async () => {
    const question = { method: 'roots/list', params: {} };
    const rounds = [
      result({ resultType: 'input_required', inputRequests: { q: question }, requestState: 's' }),
      result({
        resultType: 'complete',
        contents: [{ uri: 'memo://one', text: '1' }],
        ttlMs: 60_000,
        cacheScope: 'public',
      }),
    ];
    const { host, messages } = await client(
      { ...MODERN, 'resources/read': [...rounds, ...rounds] },
      { roots: [] },
    );
    await host.connect('raw');
    await host.read('raw', 'memo://one');
    await host.read('raw', 'memo://one');
    const reads = messages().filter(({ method }) => method === 'resources/read');
    expect(reads.map(({ params }) => (params as Message)['requestState'])).toEqual([
      undefined,
      's',
      undefined,
      's',
    ]);
  });
});

describe('over HTTP, to a modern server', () => {
  interface Seen {
    readonly method: unknown;
    readonly headers: IncomingHttpHeaders;
  }

  /** Answers each request with a status and a message. */
  async function raw(answer: (message: Message, before: readonly Seen[]) => [number, Message]): Promise<{
    url: string;
    seen: Seen[];
  }> {
    const seen: Seen[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const message: Message = body === '' ? {} : JSON.parse(body);
      const [status, given] = answer(message, [...seen]);
      seen.push({ method: message['method'], headers: request.headers });
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message['id'], ...given }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen };
  }

  const [discovered] = MODERN['server/discover']?.[0] ?? [];
  const listed = (inputSchema: Message): Message => ({
    result: {
      resultType: 'complete',
      tools: [{ name: 'echo', inputSchema }],
      ttlMs: 60_000,
      cacheScope: 'private',
    },
  });

  // Protocol: 26-http-73, 26-versioning-2
  it('reads a 400 before it takes the server for a legacy one', async () => {
    const { url, seen } = await raw(({ method }, before) => {
      if (method === 'tools/list') return [200, listed({ type: 'object' })];
      if (before.length > 0) return [200, { result: discovered?.['result'] }];
      const data = { supported: ['2026-07-28'], requested: '2026-07-28' };
      return [400, { error: { code: -32022, message: 'Unsupported protocol version', data } }];
    });
    const { host } = await client({}, { servers: { raw: { type: 'http', url } } });
    await host.connect('raw');
    expect(seen.map(({ method }) => method)).toEqual(['server/discover', 'server/discover', 'tools/list']);
  });

  // Protocol: 26-http-52
  it('reads the list again after HeaderMismatch, and repeats the call with the headers that it asks for', async () => {
    const region = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    const { url, seen } = await raw(({ method }, before) => {
      if (method === 'server/discover') return [200, { result: discovered?.['result'] }];
      const lists = before.filter((each) => each.method === 'tools/list').length;
      if (method === 'tools/list') return [200, listed(lists === 0 ? { type: 'object' } : region)];
      if (lists === 1) return [400, { error: { code: -32020, message: 'Mcp-Param-Region is missing' } }];
      return [200, { result: { resultType: 'complete', ...text('done') } }];
    });
    const { host } = await client({}, { servers: { raw: { type: 'http', url, pins: 'off' } } });
    await host.connect('raw');
    await host.call('mcp__raw__echo', { region: 'eu' });
    expect(seen.map(({ method, headers }) => [method, headers['mcp-param-region']])).toEqual([
      ['server/discover', undefined],
      ['tools/list', undefined],
      ['tools/call', undefined],
      ['tools/list', undefined],
      ['tools/call', 'eu'],
    ]);
  });
});

describe('sampling with tools', () => {
  const USE = { type: 'tool_use', id: 'u1', name: 'add', input: {} };
  const RESULT = { type: 'tool_result', toolUseId: 'u1', content: [] };
  const TEXT = { type: 'text', text: 'and?' };
  const assistant = { role: 'assistant', content: [USE] };
  const user = (...content: Message[]): Message => ({ role: 'user', content });

  // Protocol: 25-sampling-8, 25-sampling-9, 25-sampling-12, 25-sampling-14, 26-sampling-10, 26-sampling-11,
  // 26-sampling-18
  it('is refused with −32602 unless each use is answered by a message of results alone', async () => {
    const cases: readonly [Message[], number | undefined][] = [
      [[assistant, user(RESULT)], undefined],
      [[assistant, user(TEXT)], -32602],
      [[assistant, user({ ...RESULT, toolUseId: 'u2' })], -32602],
      [[user(RESULT)], -32602],
      [[assistant, user(RESULT, TEXT)], -32602],
    ];
    const tools = [{ name: 'add', inputSchema: { type: 'object' } }];
    const questions = cases.map(([messages], at) => ({
      id: `q${at}`,
      method: 'sampling/createMessage',
      params: { messages, maxTokens: 10, tools },
    }));
    let asked = 0;
    const { host, messages } = await client(
      { ...LEGACY, 'tools/call': questions.map((question) => result(text('done'), question)) },
      {
        sampling: { tools: true },
        sample: () => {
          asked += 1;
          return { role: 'assistant', model: 'm', content: TEXT };
        },
      },
    );
    await host.connect('raw');
    for (const _ of questions) await host.call('mcp__raw__ask');
    const codes = await vi.waitFor(() => {
      const answers = messages().filter(
        ({ id, method }) => String(id).startsWith('q') && method === undefined,
      );
      expect(answers).toHaveLength(cases.length);
      return answers.map(({ error: failed }) => (failed as Message | undefined)?.['code']);
    }, SOON);
    expect([codes, asked]).toEqual([cases.map(([, code]) => code), 1]);
  });
});
