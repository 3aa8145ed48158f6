import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { createHost } from '../../src/host/host.ts';
import { serveHttp } from '../../src/serve/index.ts';
import { type FakeClock, fakeClock, type ScriptedServerOptions } from '../../src/testing/index.ts';
import { refereeOnHttp } from '../testing/referee.ts';
import { legacySession, modern, post } from './bare-client.ts';
import { type Answer, LineClient, MODERN } from './line-client.ts';
import { type SmallHost, smallHost } from './small-host.ts';

type Message = Record<string, unknown>;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const LEGACY = '2025-11-25';
const MANY = fileURLToPath(new URL('../fixtures/many-tools.mjs', import.meta.url));
const echo = {
  description: 'Repeats a message.',
  inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  run: ({ message }: Message) => String(message),
};

/** A host that defers every tool of one server. */
async function searching(
  tools: ScriptedServerOptions['tools'] = { echo, write: () => 'written' },
  config: object = {},
  eras: 'legacy' | 'both' = 'both',
  entry: object = {},
): Promise<SmallHost> {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-search-'));
  await writeFile(join(home, 'config.json'), JSON.stringify(config));
  const small = await smallHost(
    { tools, eras },
    { home, toolSearch: true, servers: { small: { command: 'scripted', lifecycle: 'eager', ...entry } } },
  );
  closers.push(() => rm(home, { recursive: true, force: true }), small.close);
  return small;
}

async function connected(
  { host }: SmallHost,
  version: string,
  { clock, answer = () => ({ action: 'decline' }) }: { clock?: FakeClock; answer?: Answer } = {},
): Promise<LineClient> {
  const client = new LineClient(host, version, { elicitation: {} }, answer, { clock });
  closers.push(() => client.leave());
  await client.open();
  return client;
}

const call = (client: LineClient, name: string, args: object = {}): Promise<Message> =>
  client.request('tools/call', { name, arguments: args });
const namesOf = (list: unknown): string[] =>
  (list as { tools: { name: string }[] }).tools.map(({ name }) => name);
const listed = async (client: LineClient): Promise<string[]> => namesOf(await client.request('tools/list'));
const textOf = ({ content }: Message): string => (content as { text: string }[])[0]?.text ?? '';
const LIST_CHANGED = 'notifications/tools/list_changed';
const changes = ({ notifications }: LineClient): number =>
  notifications.filter(({ method }) => method === LIST_CHANGED).length;

describe('CAT-7: tool search through the gateway', () => {
  it('CAT-12: answers with signatures, under the names for call_tool', async () => {
    const client = await connected(await searching(), LEGACY);
    const answer = textOf(await call(client, 'tool_search', { query: 'repeat a message', limit: 1 }));
    expect(answer.split('\n')).toEqual([
      '1 tool found; call one with call_tool, as {"name":"small__echo","arguments":{…}}',
      'small__echo(message: string): Repeats a message.',
    ]);
  });

  it('CAT-12: select: answers with complete definitions', async () => {
    const client = await connected(await searching(), LEGACY);
    const answer = textOf(await call(client, 'tool_search', { query: 'select:small__echo' }));
    const [how = '', definition = ''] = answer.split('\n');
    expect(how).toBe(
      '1 tool found; call one with call_tool: its name, and arguments as its inputSchema requires, as in {"name":"small__echo","arguments":{…}}',
    );
    expect(JSON.parse(definition)).toEqual({
      name: 'small__echo',
      description: echo.description,
      inputSchema: echo.inputSchema,
    });
  });

  it('select: takes both spellings', async () => {
    const client = await connected(await searching(), LEGACY);
    const query = 'select:small__echo,mcp__small__write';
    const [, ...definitions] = textOf(await call(client, 'tool_search', { query })).split('\n');
    expect(definitions.map((line) => JSON.parse(line).name)).toEqual(['small__echo', 'small__write']);
  });

  it('its description explains how found tools are called', async () => {
    const client = await connected(await searching(), MODERN);
    const { tools } = await client.request('tools/list');
    const [search] = tools as { description: string }[];
    expect(search?.description).toContain('are called through call_tool');
    expect(search?.description).toContain('- small: echo, write');
  });

  // Protocol: 26-tools-6
  it('a modern client keeps one list over stdio and HTTP, whatever it finds', async () => {
    const small = await searching();
    const client = await connected(small, MODERN);
    await client.listen();
    const before = await listed(client);
    await call(client, 'tool_search', { query: 'select:small__echo' });
    const after = await listed(client);
    const http = await serveHttp(small.host, { port: 0 });
    closers.push(http.close);
    const { messages } = await modern(http.url, 1, 'tools/list');
    const fixed = ['tool_search', 'call_tool', 'call_tool_read'];
    expect({ before, after, changes: changes(client), http: namesOf(messages[0]?.['result']) }).toEqual({
      before: fixed,
      after: fixed,
      changes: 0,
      http: fixed,
    });
  });

  it('a found tool is in the list of a legacy client before it gets the answer', async () => {
    const clock = fakeClock();
    const client = await connected(await searching(), LEGACY, { clock });
    const before = await listed(client);
    const order: string[] = [];
    const searched = call(client, 'tool_search', { query: 'select:small__echo' }).then(() =>
      order.push('answer'),
    );
    await client.heard(LIST_CHANGED);
    const after = await listed(client);
    order.push('list');
    await searched;
    expect({ before, after, order }).toEqual({
      before: ['tool_search', 'call_tool', 'call_tool_read'],
      after: ['tool_search', 'call_tool', 'call_tool_read', 'small__echo'],
      order: ['list', 'answer'],
    });
  });

  it('a client that does not list again waits a second, once', async () => {
    const clock = fakeClock();
    const client = await connected(await searching(), LEGACY, { clock });
    await listed(client);
    const first = call(client, 'tool_search', { query: 'select:small__echo' });
    await client.heard(LIST_CHANGED);
    await clock.armed();
    await clock.advance(1_000);
    await first;
    // No time passes from here on: an answer that is held would never come.
    const second = await call(client, 'tool_search', { query: 'select:small__write' });
    const called = await call(client, 'call_tool', { name: 'small__write' });
    expect([textOf(second).includes('small__write'), textOf(called)]).toEqual([true, 'written']);
  });

  it('a client that ignored an earlier change of its list does not wait at all', async () => {
    const clock = fakeClock();
    const small = await searching();
    const client = await connected(small, LEGACY, { clock });
    await listed(client);
    small.server.tool('late', { run: () => 'late' });
    await small.server.notify(LIST_CHANGED);
    await client.heard(LIST_CHANGED);
    await clock.advance(1_000);
    const answer = await call(client, 'tool_search', { query: 'select:small__echo' });
    expect(textOf(answer)).toContain('small__echo');
  });

  it('a client that is known to list once does not wait at all', async () => {
    const { host } = await searching();
    const client = new LineClient(host, LEGACY, {}, () => ({}), { clock: fakeClock() });
    closers.push(() => client.leave());
    const clientInfo = { name: 'codex-mcp-client', version: '0.166.0' };
    await client.request('initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo });
    await listed(client);
    const answer = await call(client, 'tool_search', { query: 'select:small__echo' });
    expect([textOf(answer).includes('small__echo'), changes(client)]).toEqual([true, 1]);
  });

  it('a search that finds nothing new changes no list', async () => {
    const client = await connected(await searching(), LEGACY, { clock: fakeClock() });
    await listed(client);
    await call(client, 'tool_search', { query: 'select:nothing' });
    expect(changes(client)).toBe(0);
  });

  it('a legacy client over HTTP without a stream is not waited for', async () => {
    const { host } = await searching();
    const http = await serveHttp(host, { port: 0, clock: fakeClock() });
    closers.push(http.close);
    const session = await legacySession(http.url);
    const ask = async (id: number, method: string, params: object = {}): Promise<Message> =>
      (await post(http.url, { jsonrpc: '2.0', id, method, params }, session)).messages[0] ?? {};
    const before = await ask(1, 'tools/list');
    const search = { name: 'tool_search', arguments: { query: 'select:small__echo' } };
    await ask(2, 'tools/call', search);
    const wrapped = { name: 'small__echo', arguments: { message: 'hi' } };
    const { result } = await ask(3, 'tools/call', { name: 'call_tool', arguments: wrapped });
    expect([namesOf(before['result']), textOf(result as Message)]).toEqual([
      ['tool_search', 'call_tool', 'call_tool_read'],
      'hi',
    ]);
  });
});

it.each(['legacy', 'auto'] as const)(
  'CAT-7: a client in mode %s over HTTP lists once, and finds and calls one of 525 tools',
  async (mode) => {
    const home = await mkdtemp(join(tmpdir(), 'plugboard-many-'));
    const host = await createHost({
      home,
      cwd: home,
      env: {},
      watch: false,
      servers: { many: { command: process.execPath, args: [MANY], lifecycle: 'eager' } },
    });
    closers.push(
      () => rm(home, { recursive: true, force: true }),
      () => host.close(),
    );
    await host.ready();
    const http = await serveHttp(host, { port: 0 });
    closers.push(http.close);
    const client = await refereeOnHttp(http.url, mode);
    closers.push(() => client.close());
    const list = await client.listTools();
    const search = { name: 'tool_search', arguments: { query: 'delete a calendar event' } };
    const [, first = ''] = textOf(await client.callTool(search)).split('\n');
    const [name] = first.split('(');
    const wrapped = { name, arguments: { id: 'e7' } };
    const called = await client.callTool({ name: 'call_tool', arguments: wrapped });
    expect([namesOf(list), name, textOf(called)]).toEqual([
      ['tool_search', 'call_tool', 'call_tool_read'],
      'many__delete_calendar_event',
      'delete_calendar_event e7',
    ]);
  },
);

describe.each([LEGACY, MODERN])('CAT-7: call_tool for a client of %s', (version) => {
  it('calls a found tool, in both spellings; the tool’s own name works too', async () => {
    const client = await connected(await searching(), version);
    const args = { message: 'hi' };
    const results = [
      await call(client, 'call_tool', { name: 'small__echo', arguments: args }),
      await call(client, 'call_tool', { name: 'mcp__small__echo', arguments: args }),
      await call(client, 'call_tool', { name: 'small__echo', arguments: JSON.stringify(args) }),
      await call(client, 'small__echo', args),
    ];
    expect(results.map((result) => [textOf(result), result['isError']])).toEqual([
      ['hi', false],
      ['hi', false],
      ['hi', false],
      ['hi', false],
    ]);
  });

  it('answers a wrong call with what is needed', async () => {
    const client = await connected(await searching(), version);
    const texts = await Promise.all(
      [
        {},
        { name: 'call_tool', arguments: { name: 'small__echo' } },
        { name: 'small__ehco' },
        { name: 'nothing' },
        { name: 'small__echo' },
        { name: 'small__echo', message: 'hi' },
        { name: 'small__echo', arguments: 'hi' },
      ].map(async (args) => {
        const result = await call(client, 'call_tool', args);
        return [result['isError'], textOf(result)];
      }),
    );
    const example = 'Example: { "name": "server__tool", "arguments": { "key": "value" } }';
    expect(texts).toEqual([
      [true, 'call_tool needs the name of a tool. Find one with tool_search.'],
      [true, 'call_tool needs the name of a tool. Find one with tool_search.'],
      [true, 'There is no tool called "small__ehco". Did you mean small__echo?'],
      [true, 'There is no tool called "nothing". Find it with tool_search.'],
      [
        true,
        'small__echo was not called: message is required. Correct the arguments to match these parts of the inputSchema: {"message":{"type":"string"}}',
      ],
      [true, `"message" must be inside "arguments". ${example}`],
      [true, `The arguments for small__echo must be an object. ${example}`],
    ]);
  });

  it('rules, filters and approvals apply to the tool inside, and name it', async () => {
    const asked: unknown[] = [];
    const small = await searching(
      { echo, write: () => 'written', erase: () => 'erased' },
      { permissions: { deny: ['small__erase'], ask: ['mcp__small__write'] } },
    );
    const client = await connected(small, version, {
      answer: (_method, { message }) => {
        asked.push(message);
        return { action: 'accept', content: { answer: 'Allow once' } };
      },
    });
    const denied = await call(client, 'call_tool', { name: 'small__erase' });
    const allowed = await call(client, 'call_tool', { name: 'small__write', arguments: { path: 'a' } });
    expect([textOf(denied), textOf(allowed), asked]).toEqual([
      'small__erase was not called: the rule "small__erase" denies it',
      'written',
      [
        'Plugboard asks for your approval.\nAllow small/write with {"path":"a"}? It is asked because the rule "mcp__small__write" requires approval.',
      ],
    ]);
  });

  it('passes progress and questions of the server on', async () => {
    const asked: unknown[] = [];
    const small = await searching(
      {
        work: async (_, exchange) => {
          exchange.progress(1, 2, 'half');
          const params = { message: 'Who?', requestedSchema: { type: 'object', properties: {} } };
          return JSON.stringify(await exchange.request('elicitation/create', params));
        },
      },
      {},
      'legacy',
    );
    const client = await connected(small, version, {
      answer: (_method, { message }) => {
        asked.push(message);
        return { action: 'accept', content: {} };
      },
    });
    const result = await client.request('tools/call', {
      name: 'call_tool',
      arguments: { name: 'small__work' },
      _meta: { progressToken: 7 },
    });
    const progress = await client.heard('notifications/progress');
    expect([textOf(result), asked, progress['params']]).toEqual([
      '{"action":"accept","content":{}}',
      ['small asks: Who?\nYour answer is read by small, not by Plugboard.'],
      { progressToken: 7, progress: 1, total: 2, message: 'half' },
    ]);
  });
});

describe('POL-9: budgets through the gateway', () => {
  it.each([LEGACY, MODERN])(
    'a used-up budget is −32029 with the time to wait, by name and through call_tool (%s)',
    async (version) => {
      const small = await searching(undefined, { budgets: [{ calls: 1, per: 'day' }] });
      const client = await connected(small, version);
      await call(client, 'small__write');
      const refusals = await Promise.allSettled([
        call(client, 'small__write'),
        call(client, 'call_tool', { name: 'small__write' }),
      ]);
      const refusal = {
        code: -32029,
        message: expect.stringContaining('the budget of 1 call per day is used up. Try again in'),
        data: { code: 'RATE_LIMITED', server: 'small', retryAfterSeconds: expect.any(Number) },
      };
      expect(refusals).toEqual([
        { status: 'rejected', reason: expect.objectContaining(refusal) },
        { status: 'rejected', reason: expect.objectContaining(refusal) },
      ]);
    },
  );
});

describe('POL-10: call_tool_read', () => {
  const tools = {
    read: { annotations: { readOnlyHint: true }, run: () => 'read' },
    write: () => 'written',
    run: ({ command }: Message) => `ran ${command}`,
  };
  const readBy = async (client: LineClient, name: string, args: object = {}): Promise<string> =>
    textOf(await call(client, 'call_tool_read', { name: `small__${name}`, arguments: args }));
  const refusal = (name: string): string =>
    `small__${name} was not called: it is not known to be read-only. Call it with call_tool.`;

  it('is listed as read-only next to call_tool', async () => {
    const client = await connected(await searching(tools), MODERN);
    const { tools: list } = (await client.request('tools/list')) as { tools: Message[] };
    const annotated = list.map(({ name, annotations }) => [name, (annotations as Message)?.['readOnlyHint']]);
    expect(annotated).toEqual([
      ['tool_search', true],
      ['call_tool', undefined],
      ['call_tool_read', true],
    ]);
  });

  it('A16: does not believe an annotation of a server that is not trusted', async () => {
    const client = await connected(await searching(tools), MODERN);
    expect(await readBy(client, 'read')).toBe(refusal('read'));
    expect(textOf(await call(client, 'call_tool', { name: 'small__read' }))).toBe('read');
  });

  it('calls read-only tools of a trusted server, and refuses others', async () => {
    const small = await searching(tools, {}, 'both', { trusted: true });
    const client = await connected(small, MODERN);
    expect([await readBy(client, 'read'), await readBy(client, 'write')]).toEqual(['read', refusal('write')]);
    const found = textOf(await call(client, 'tool_search', { query: 'select:small__read,small__write' }));
    const lines = found.split('\n').slice(1);
    expect(lines.map((line) => [JSON.parse(line).name, JSON.parse(line).readOnly])).toEqual([
      ['small__read', true],
      ['small__write', undefined],
    ]);
    expect(found).toContain('with call_tool_read where "readOnly" is true');
  });

  it('calls what a rule of the user marks as read-only, with conditions on arguments', async () => {
    const readOnly = ['small__run(command~"^git (status|log)$")', 'mcp__small__write'];
    const client = await connected(await searching(tools, { permissions: { readOnly } }), MODERN);
    expect([
      await readBy(client, 'run', { command: 'git log' }),
      await readBy(client, 'run', { command: 'git log; rm' }),
      await readBy(client, 'run'),
      await readBy(client, 'write'),
    ]).toEqual(['ran git log', refusal('run'), refusal('run'), 'written']);
  });

  it('obeys deny and ask rules, and does not call itself', async () => {
    const permissions = { readOnly: ['small__*'], deny: ['small__write'], ask: ['small__run'] };
    const client = await connected(await searching(tools, { permissions }), MODERN);
    expect(await readBy(client, 'write')).toContain('the rule "small__write" denies it');
    expect(await readBy(client, 'run')).toContain('not called');
    const nested = { name: 'call_tool_read', arguments: { name: 'small__read' } };
    expect(textOf(await call(client, 'call_tool_read', nested))).toContain('needs the name of a tool');
    expect(textOf(await call(client, 'call_tool', nested))).toContain('needs the name of a tool');
  });
});
