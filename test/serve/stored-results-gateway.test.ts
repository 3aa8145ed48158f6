/** Stored results through the gateway: which clients can read them, and how. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { serveHttp } from '../../src/serve/index.ts';
import { legacySession, modern, post } from './bare-client.ts';
import { LineClient, MODERN } from './line-client.ts';
import { type SmallHost, smallHost } from './small-host.ts';

type Message = Record<string, unknown>;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const LEGACY = '2025-11-25';
const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at}`);

async function world(options: object = {}): Promise<SmallHost> {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-stored-'));
  const small = await smallHost(
    {
      tools: {
        long: { run: () => lines.join('\n') },
        size: {
          inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          run: ({ text }: Message) => String(String(text).length),
        },
      },
    },
    { home, ...options },
  );
  closers.push(() => rm(home, { recursive: true, force: true }), small.close);
  return small;
}

async function client({ host }: SmallHost, version: string): Promise<LineClient> {
  const made = new LineClient(host, version, {}, () => ({}));
  closers.push(() => made.leave());
  await made.open();
  return made;
}

const textOf = ({ content }: Message): string => (content as { text: string }[])[0]?.text ?? '';
const refOf = ({ _meta }: Message): string =>
  String(((_meta as Message)['plugboard/truncated'] as Message)['ref']);
const call = (to: LineClient, name: string, args: object = {}): Promise<Message> =>
  to.request('tools/call', { name, arguments: args });

it.each([LEGACY, MODERN])(
  'CAL-8: a client of %s reads parts, as a tool and as a resource',
  async (version) => {
    const agent = await client(await world(), version);
    const result = await call(agent, 'small__long');
    const id = refOf(result);
    const link = (result['content'] as Message[]).at(-1);
    expect(link).toMatchObject({ type: 'resource_link', uri: id });
    expect(textOf(await call(agent, 'result', { id, lines: '3' }))).toBe('line 2');
    const part = (await agent.request('resources/read', { uri: `${id}?lines=3-4` })) as {
      contents: Message[];
    };
    expect(part.contents).toEqual([
      { uri: `${id}?lines=3-4`, mimeType: 'text/plain', text: 'line 2\nline 3' },
    ]);
    const whole = (await agent.request('resources/read', { uri: id })) as { contents: Message[] };
    expect(whole.contents[0]?.['text']).toBe(lines.join('\n'));
    expect(textOf(await call(agent, 'small__size', { text: { $ref: id } }))).toBe(
      String(lines.join('\n').length),
    );
  },
);

it('CAL-8: a legacy client is notified that `result` is listed; a modern list stays', async () => {
  const small = await world();
  const listed = async (agent: LineClient): Promise<string[]> => {
    await call(agent, 'small__long');
    const { tools } = (await agent.request('tools/list')) as { tools: { name: string }[] };
    return tools.map(({ name }) => name);
  };
  const legacy = await client(small, LEGACY);
  expect(await listed(legacy)).toEqual(['small__long', 'small__size', 'result']);
  expect(legacy.notifications.some(({ method }) => method === 'notifications/tools/list_changed')).toBe(true);
  expect(await listed(await client(small, MODERN))).toEqual(['small__long', 'small__size']);
});

it('CAL-8: other clients cannot use an address', async () => {
  const small = await world();
  const [one, other] = [await client(small, LEGACY), await client(small, MODERN)];
  const id = refOf(await call(one, 'small__long'));
  expect(await call(other, 'result', { id })).toMatchObject({ isError: true });
  expect(await call(other, 'small__size', { text: { $ref: id } })).toMatchObject({ isError: true });
  await expect(other.request('resources/read', { uri: id })).rejects.toThrow();
});

it('CAL-8: over HTTP without sessions, an address belongs to the principal', async () => {
  const { host } = await world();
  const http = await serveHttp(host, { port: 0 });
  closers.push(http.close);
  const ask = async (id: number, name: string, args: object): Promise<Message> => {
    const { messages } = await modern(http.url, id, 'tools/call', { name, arguments: args });
    return messages[0]?.['result'] as Message;
  };
  const ref = refOf(await ask(1, 'small__long', {}));
  expect(textOf(await ask(2, 'result', { id: ref, lines: '1' }))).toBe('line 0');
  const session = await legacySession(http.url);
  const body = {
    jsonrpc: '2.0',
    id: 3,
    method: 'tools/call',
    params: { name: 'result', arguments: { id: ref } },
  };
  const { messages } = await post(http.url, body, session);
  expect(messages[0]).toMatchObject({ result: { isError: true } });
});

it('CAL-8: call_tool takes `select`, and reaches `result`', async () => {
  const agent = await client(await world({ toolSearch: true }), MODERN);
  const wrapped = (more: object): Promise<Message> =>
    call(agent, 'call_tool', { name: 'small__long', ...more });
  expect(textOf(await wrapped({ select: 'length(@)' }))).toBe(String(lines.join('\n').length));
  expect(textOf(await wrapped({ select: 'a[' }))).toContain(
    'Invalid select: the expression ends at character 3',
  );
  const id = refOf(await wrapped({}));
  const read = { name: 'result', arguments: { id, search: 'line 19999' } };
  expect(textOf(await call(agent, 'call_tool', read))).toBe('20000: line 19999');
});
