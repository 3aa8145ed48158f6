/** Results that are stored, read in parts, and passed on by reference. */

import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { toAnthropic } from '../../src/adapters/index.ts';
import { estimateTokens } from '../../src/catalog/tokens.ts';
import type { Host, HostOptions } from '../../src/index.ts';
import { createTestHost, fakeClock, scriptedServer } from '../../src/testing/index.ts';
import { failure } from '../world/failure.ts';

const hosts: Host[] = [];
const homes: string[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

const rows = Array.from({ length: 5_000 }, (_, id) => ({ id, name: `item ${id}`, tags: ['a', 'b'] }));
/** About 290 KB, of lines. */
const page = Array.from(
  { length: 5_800 },
  (_, at) => `<p id="${at}">paragraph number ${at} of the page</p>`,
).join('\n');
const text = { type: 'string' } as const;

interface World {
  readonly host: Host;
  /** The arguments that the other server received. */
  readonly received: Record<string, unknown>[];
}

async function world(options: HostOptions = {}): Promise<World> {
  const received: Record<string, unknown>[] = [];
  const pages = scriptedServer({
    tools: {
      fetch: { run: () => page },
      list: { run: () => ({ content: [], structuredContent: { items: rows, total: rows.length } }) },
    },
  });
  const accept = (args: Record<string, unknown>): string => {
    received.push(args);
    return 'saved';
  };
  const store = scriptedServer({
    tools: {
      put: {
        inputSchema: { type: 'object', properties: { content: text, path: text }, required: ['content'] },
        run: accept,
      },
      import: {
        inputSchema: {
          type: 'object',
          properties: {
            rows: { type: 'array' },
            nested: {},
            // As servers of databases declare the parameters of a query.
            parameters: { type: 'array', items: { anyOf: [text, { type: 'number' }, { type: 'null' }] } },
          },
        },
        run: accept,
      },
    },
  });
  const host = await createTestHost({
    approve: () => 'allow',
    ...options,
    servers: { pages: { inProcess: pages }, store: { inProcess: store }, ...options.servers },
  });
  hosts.push(host);
  await host.ready();
  return { host, received };
}

const shown = (result: { content: readonly { type: string }[] }): string =>
  result.content.map((block) => ('text' in block ? String(block.text) : '')).join('\n');

async function stored(caller: Pick<Host, 'call'>, tool = 'mcp__pages__fetch'): Promise<string> {
  const { truncated } = await caller.call(tool);
  return String(truncated?.ref);
}

describe('CAL-8: a round trip (claude-code #45766)', () => {
  it('fetches 290 KB, changes one line and sends it to another server with at most 1,500 tokens for the model', async () => {
    const { host, received } = await world();
    const session = host.session({ approve: () => 'allow' });
    const fetched = await session.call('mcp__pages__fetch');
    const ref = String(fetched.truncated?.ref);
    const search = { id: ref, search: 'number 4321 ' };
    const found = await session.call('result', search);
    const select = "replace(@, 'paragraph number 4321 of', 'another text of')";
    const put = { path: 'page.html', content: { $ref: ref, select } };
    const sent = await session.call('mcp__store__put', put);
    const model = [{}, shown(fetched), search, shown(found), put, shown(sent)];
    const tokens = model.reduce<number>(
      (sum, each) => sum + estimateTokens(typeof each === 'string' ? each : JSON.stringify(each)),
      0,
    );
    expect(page.length).toBeGreaterThan(290_000);
    expect(shown(found)).toBe('4322: <p id="4321">paragraph number 4321 of the page</p>');
    expect(received).toEqual([
      { path: 'page.html', content: page.replace('paragraph number 4321 of', 'another text of') },
    ]);
    expect(tokens).toBeLessThanOrEqual(1_500);
  });
});

describe('CAL-8: stored results', () => {
  it('are summarized by their shape, and listed with the tool that reads them', async () => {
    const { host } = await world();
    const session = host.session({ approve: () => 'allow' });
    const names = (): string[] => session.tools().map(({ name }) => name);
    const before = names();
    const result = await session.call('mcp__pages__list');
    expect(shown(result).startsWith('{\n "items": [')).toBe(true);
    expect(shown(result)).toContain(
      'JSON {items: {id: number, name: string, tags: array[2]}[5000], total: number}',
    );
    expect(estimateTokens(shown(result))).toBeLessThan(700);
    expect([names(), host.tools().length]).toEqual([[...before, 'result'], before.length]);
  });

  it('are read by expression, by lines and by search', async () => {
    const { host } = await world();
    const id = await stored(host);
    const read = async (part: object): Promise<string> => shown(await host.call('result', { id, ...part }));
    expect(await read({ lines: '2-3' })).toBe(page.split('\n').slice(1, 3).join('\n'));
    expect(await read({ lines: '5800' })).toBe(page.split('\n').at(-1));
    expect(await read({ search: 'NUMBER 17 ', lines: '10-20' })).toBe(
      '18: <p id="17">paragraph number 17 of the page</p>',
    );
    expect(await read({ search: 'paragraph', limit: 1 })).toMatch(/^1: .*\n\[5799 more lines match; /);
    expect(await read({ search: 'nowhere' })).toBe('No line contains "nowhere".');
    expect(await read({ select: "split(@, '</p>') | length(@)" })).toBe('5801');
    const list = await stored(host, 'mcp__pages__list');
    const picked = await host.call('result', {
      id: list,
      select: 'items[?id > `4997`].{id: id}',
    });
    expect(shown(picked)).toBe('[{"id":4998},{"id":4999}]');
    expect(shown(await host.call('result', { id: list.slice(-16), select: 'total' }))).toBe('5000');
  });

  it('a part that is too long is cut, and not stored again', async () => {
    const { host } = await world({ env: { MAX_MCP_OUTPUT_TOKENS: '1000', PATH: process.env['PATH'] } });
    const id = await stored(host);
    const result = await host.call('result', { id });
    expect(shown(result)).toContain('[Cut: this part is about');
    expect([estimateTokens(shown(result)) <= 1_000, result.truncated]).toEqual([true, undefined]);
  });

  it.each([
    ['an invalid expression', { select: 'a[' }, 'Invalid select: the expression ends at character 3'],
    ['lines before the first', { lines: '0-3' }, 'There are no lines "0-3"'],
    ['an unknown argument', { offset: 1 }, 'result was not called: offset is not known'],
  ])('%s is refused', async (_what, part, message) => {
    const { host } = await world();
    const error = await failure(host.call('result', { id: await stored(host), ...part }));
    expect([error.code, error.message]).toEqual(['INVALID_ARGUMENTS', message]);
  });

  it('are private files with a record for `plugboard results`', async () => {
    const { host } = await world();
    const { truncated } = await host.call('mcp__pages__fetch');
    const folder = join(host.home, 'outputs');
    expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([
      0o600, 0o600,
    ]);
    const record = JSON.parse(await readFile(`${truncated?.file}.ref`, 'utf8')) as Record<string, unknown>;
    expect(record).toMatchObject({
      id: truncated?.ref?.slice(-16),
      session: 'host',
      server: 'pages',
      tool: 'fetch',
      kind: 'text',
      bytes: page.length,
      tokens: truncated?.tokens,
    });
  });
});

describe('CAL-8: references in arguments', () => {
  it('an argument of type string gets the exact text, another one the value', async () => {
    const { host, received } = await world();
    const list = { $ref: await stored(host, 'mcp__pages__list') };
    const items = { ...list, select: 'items[:2].id' };
    await host.call('mcp__store__put', { content: items });
    await host.call('mcp__store__import', {
      rows: items,
      nested: [{ deep: { ...items, select: 'total' } }],
    });
    await host.call('mcp__store__put', { content: list });
    const [one, two, three] = received;
    expect([one, two]).toEqual([{ content: '[0,1]' }, { rows: [0, 1], nested: [{ deep: 5_000 }] }]);
    expect(JSON.parse(String(three?.['content']))).toMatchObject({ total: 5_000 });
  });

  it('an argument that accepts text or numbers gets a number as it is, and other JSON as text', async () => {
    const { host, received } = await world();
    const $ref = await stored(host, 'mcp__pages__list');
    const parts = ['total', 'items[:2].id', 'items[0].name', 'missing'].map((select) => ({ $ref, select }));
    await host.call('mcp__store__import', { parameters: [...parts, { $ref }] });
    const [whole] = received.flatMap(({ parameters }) =>
      Array.isArray(parameters) ? parameters.slice(4) : [],
    );
    expect(received).toEqual([{ parameters: [5_000, '[0,1]', 'item 0', null, whole] }]);
    expect(JSON.parse(String(whole))).toEqual({ items: rows, total: 5_000 });
  });

  it('are filled in before validation, rules and approval', async () => {
    const asked: unknown[] = [];
    const { host, received } = await world({
      approve: ({ arguments: args }) => {
        asked.push(args);
        return 'allow';
      },
    });
    const $ref = await stored(host);
    asked.length = 0;
    const wrong = await failure(host.call('mcp__store__import', { rows: { $ref, select: "'x'" } }));
    expect([wrong.message, asked]).toEqual(['mcp__store__import was not called: rows must be an array', []]);
    await host.call('mcp__store__put', { content: { $ref, select: 'type(@)' } }, { approved: true });
    // An approval of the reference is not one of its content.
    expect([asked, received]).toEqual([[{ content: 'string' }], [{ content: 'string' }]]);
    expect(await host.checkArguments('mcp__store__put', { content: { $ref } })).toEqual([]);
    expect(host.approvalOf('mcp__store__put', { content: { $ref } })?.decision).toBe('ask');
  });

  it('other references are data of the tool', async () => {
    const { host, received } = await world();
    const nested = { schema: { $ref: '#/$defs/a', select: 1 }, page: { $ref: 'https://example.org/' } };
    await host.call('mcp__store__import', { nested });
    expect(received).toEqual([{ nested }]);
  });

  it.each([
    [
      'an unknown id',
      { $ref: 'plugboard://result/aaaaaaaaaaaaaaaa' },
      'There is no stored result "plugboard://result/aaaaaaaaaaaaaaaa" in this session',
    ],
    [
      'a path',
      { $ref: 'plugboard://result/../../../../etc/passwd' },
      'There is no stored result "plugboard://result/../../../../etc/passwd" in this session',
    ],
    [
      'a prototype member',
      { $ref: 'plugboard://result/__proto__' },
      'There is no stored result "plugboard://result/__proto__" in this session',
    ],
    [
      'another key',
      { $ref: 'plugboard://result/aaaaaaaaaaaaaaaa', lines: '1' },
      'A reference to a stored result cannot have "lines"',
    ],
  ])('%s is refused, and nothing is sent', async (_what, reference, message) => {
    const { host, received } = await world();
    const error = await failure(host.call('mcp__store__put', { content: reference }));
    expect([error.code, error.message, received]).toEqual(['INVALID_ARGUMENTS', message, []]);
  });
});

describe('CAL-8: hostile references', () => {
  it('A18: many references to large results are refused, and nothing is sent', async () => {
    const { host, received } = await world();
    const $ref = await stored(host);
    const refuse = async (nested: unknown): Promise<string> =>
      (await failure(host.call('mcp__store__import', { nested }))).message;
    expect(await refuse(Array.from({ length: 101 }, () => ({ $ref, select: "'x'" })))).toBe(
      'The call has more than 100 references',
    );
    const twice = { $ref, select: `join('', [${Array(50).fill('@').join()}])` };
    expect(await refuse(Array(4).fill(twice))).toBe('The call would have more than 32 MiB');
    const slow = { $ref, select: "split(@, '')[?@ == 'x']" };
    expect(await refuse(Array(100).fill(slow))).toContain('it needs more than 3,000,000 steps');
    expect(received).toEqual([]);
  });

  it('a reference inside of a stored result is data, and is not filled in', async () => {
    let inner = '';
    const hostile = scriptedServer({
      tools: { bait: { run: () => JSON.stringify({ items: [{ $ref: inner }], pad: 'x'.repeat(200_000) }) } },
    });
    const { host, received } = await world({ servers: { hostile: { inProcess: hostile } } });
    inner = await stored(host);
    const $ref = await stored(host, 'mcp__hostile__bait');
    await host.call('mcp__store__import', { rows: { $ref, select: 'items' } });
    expect(received).toEqual([{ rows: [{ $ref: inner }] }]);
  });

  it('a member called __proto__ is filled in as data', async () => {
    const { host, received } = await world();
    const $ref = await stored(host);
    const nested = JSON.parse(
      `{"__proto__":{"$ref":"${$ref}","select":"type(@)"},"constructor":{"prototype":{"$ref":"${$ref}","select":"type(@)"}}}`,
    );
    await host.call('mcp__store__import', { nested });
    expect(JSON.stringify(received)).toBe(
      '[{"nested":{"__proto__":"string","constructor":{"prototype":"string"}}}]',
    );
    expect('string' in {}).toBe(false);
  });

  it('rules about arguments, and the audit log, see the content', async () => {
    const home = mkdtempSync(join(tmpdir(), 'plugboard-stored-'));
    homes.push(home);
    const permissions = { deny: ["mcp__store__put(content~'paragraph number 4711 ')"] };
    writeFileSync(join(home, 'config.json'), JSON.stringify({ permissions }));
    const { host, received } = await world({ home });
    const $ref = await stored(host);
    const line = (at: number): object => ({ content: { $ref, select: `split(@, '</p>')[${at}]` } });
    const { code } = await failure(host.call('mcp__store__put', { ...line(4711) }));
    expect([code, received]).toEqual(['DENIED', []]);
    await host.call('mcp__store__put', { ...line(4712) });
    await host.close();
    const lines = (await readFile(join(host.home, 'audit.jsonl'), 'utf8')).trim().split('\n');
    const calls = lines.map((line) => JSON.parse(line)).filter(({ tool }) => tool === 'put');
    expect(calls.map(({ arguments: shape, outcome }) => [shape, outcome])).toEqual([
      [{ content: 'string(47)' }, 'denied'],
      [{ content: 'string(47)' }, 'ok'],
    ]);
  });
});

describe('CAL-8: access to a stored result', () => {
  it('only the session that called the tool', async () => {
    const { host, received } = await world();
    const one = host.session({ approve: () => 'allow' });
    const other = host.session({ approve: () => 'allow' });
    const $ref = await stored(one);
    const refusals = await Promise.all(
      [other, host].flatMap((caller) => [
        failure(caller.call('result', { id: $ref })),
        failure(caller.call('mcp__store__put', { content: { $ref } })),
      ]),
    );
    expect(new Set(refusals.map(({ message }) => message))).toEqual(
      new Set([`There is no stored result "${$ref}" in this session`]),
    );
    expect(received).toEqual([]);
    await one.call('mcp__store__put', { content: { $ref } });
    expect(received).toEqual([{ content: page }]);
  });

  it('until it expires, its file is deleted or its tool is denied', async () => {
    const clock = fakeClock();
    const { host } = await world({ clock });
    const [first, second] = [await host.call('mcp__pages__fetch'), await host.call('mcp__pages__list')];
    const read = (ref: unknown): Promise<unknown> => host.call('result', { id: String(ref), lines: '1' });
    rmSync(String(second.truncated?.file));
    expect((await failure(read(second.truncated?.ref))).code).toBe('INVALID_ARGUMENTS');
    await read(first.truncated?.ref);
    await clock.advance(25 * 60 * 60 * 1000);
    expect((await failure(read(first.truncated?.ref))).code).toBe('INVALID_ARGUMENTS');
  });

  it('A19: the oldest of more than a hundred are dropped', async () => {
    const { host } = await world();
    const first = await stored(host);
    for (let calls = 0; calls < 100; calls += 1) await host.call('mcp__pages__fetch');
    expect((await failure(host.call('result', { id: first }))).code).toBe('INVALID_ARGUMENTS');
    expect(readdirSync(join(host.home, 'outputs'))).toHaveLength(202);
  });
});

describe('CAL-8: select', () => {
  it('returns a part of structured content, of JSON text and of text', async () => {
    const { host } = await world();
    const ids = await host.call('mcp__pages__list', {}, { select: 'items[:3].id' });
    expect(ids).toMatchObject({ content: [{ type: 'text', text: '[0,1,2]' }], isError: false });
    const total = await host.call('mcp__pages__list', {}, { select: '{count: total}' });
    expect(total.structuredContent).toEqual({ count: 5_000 });
    const paragraphs = await host.call('mcp__pages__fetch', {}, { select: "split(@, '</p>')[0]" });
    expect(shown(paragraphs)).toBe('<p id="0">paragraph number 0 of the page');
  });

  it('an invalid expression is refused before a person is asked', async () => {
    const asked: unknown[] = [];
    const { host } = await world({
      approve: (request) => {
        asked.push(request);
        return 'allow';
      },
    });
    const error = await failure(host.call('mcp__pages__list', {}, { select: 'items[' }));
    expect([error.code, error.message, asked]).toEqual([
      'INVALID_ARGUMENTS',
      'Invalid select: the expression ends at character 7',
      [],
    ]);
  });

  it('one that does not fit the result returns all of it, with the reason', async () => {
    const { host } = await world();
    const result = await host.call('mcp__pages__list', {}, { select: 'sum(items)' });
    expect(result.truncated?.ref).toMatch(/^plugboard:/);
    const saved = await host.call('mcp__store__put', { content: 'x' }, { select: 'keys(@)' });
    expect(shown(saved)).toBe(
      'saved\n[Nothing was selected. Invalid select: keys() at character 1 takes object as argument 1, not string]',
    );
  });
});

describe('CAL-8: repeated results', () => {
  const long = 'word '.repeat(1_000);
  const twice = async (session: Pick<Host, 'call'>): Promise<readonly string[]> => {
    const texts: string[] = [];
    for (let calls = 0; calls < 2; calls += 1) texts.push(shown(await session.call('mcp__s__get')));
    return texts;
  };
  const open = async (): Promise<Host> => {
    const host = await createTestHost({
      servers: { s: { inProcess: scriptedServer({ tools: { get: () => long, small: () => 'small' } }) } },
      approve: () => 'allow',
    });
    hosts.push(host);
    await host.ready();
    return host;
  };

  it('a session that deduplicates gets a reference, which it can read', async () => {
    const session = (await open()).session({ approve: () => 'allow', deduplicate: true });
    const [first, second = ''] = await twice(session);
    expect(first).toBe(long);
    expect(second).toMatch(
      /^\[The same result as before in this session, about 1250 tokens\. It is stored as plugboard:/,
    );
    const id = String(/plugboard:\/\/result\/[\w-]+/.exec(second)?.[0]);
    expect(shown(await session.call('result', { id }))).toBe(long);
    await session.call('mcp__s__small');
    expect(shown(await session.call('mcp__s__small'))).toBe('small');
  });

  it('another session, and one that does not ask for it, get the result again', async () => {
    const host = await open();
    const deduplicating = { approve: (): 'allow' => 'allow', deduplicate: true };
    await host.session(deduplicating).call('mcp__s__get');
    expect(shown(await host.session(deduplicating).call('mcp__s__get'))).toBe(long);
    expect(await twice(host)).toEqual([long, long]);
  });

  it('an adapter of a session sends a repeated result once, one of a host each time', async () => {
    const host = await open();
    const texts = async (adapter: ReturnType<typeof toAnthropic>): Promise<readonly boolean[]> => {
      const answers = [];
      for (const id of ['a', 'b'])
        answers.push(await adapter.execute({ type: 'tool_use', id, name: 'mcp__s__get', input: {} }));
      return answers.map(({ content }) => JSON.stringify(content).includes(long));
    };
    expect(await texts(toAnthropic(host.session({ approve: () => 'allow' })))).toEqual([true, false]);
    expect(await texts(toAnthropic(host))).toEqual([true, true]);
  });
});

it('CAL-8: a text that is also the only member of the structured content is stored as the text', async () => {
  const received: unknown[] = [];
  const files = scriptedServer({
    tools: {
      read: {
        run: () => ({ content: [{ type: 'text', text: page }], structuredContent: { content: page } }),
      },
      write: {
        inputSchema: { type: 'object', properties: { content: text } },
        run: ({ content }: Record<string, unknown>) => {
          received.push(content);
          return 'written';
        },
      },
    },
  });
  const host = await createTestHost({ servers: { files: { inProcess: files } }, approve: () => 'allow' });
  hosts.push(host);
  await host.ready();
  const { truncated } = await host.call('mcp__files__read');
  await host.call('mcp__files__write', { content: { $ref: truncated?.ref } });
  expect([received[0] === page, truncated?.tokens]).toEqual([true, estimateTokens(page)]);
});
