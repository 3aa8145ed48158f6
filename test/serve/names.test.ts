import { afterEach, describe, expect, it } from 'vitest';
import type { HostOptions } from '../../src/host/host-options.ts';
import { serveHttp } from '../../src/serve/index.ts';
import type { ScriptedServerOptions } from '../../src/testing/index.ts';
import { legacySession, modern, post } from './bare-client.ts';
import { LineClient, MODERN } from './line-client.ts';
import { smallHost } from './small-host.ts';

type Message = Record<string, unknown>;
/** One request of one client, whatever carries it; rejects with the protocol's error. */
type Request = (method: string, params?: Message) => Promise<Message>;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const SCRIPT: ScriptedServerOptions = {
  capabilities: { tools: {}, prompts: {} },
  tools: { echo: ({ message }) => String(message) },
};

/** A gateway in front of one server with a tool and a prompt. */
async function served(options: Partial<HostOptions> = {}): Promise<Record<string, Request>> {
  const { host, server, close } = await smallHost(SCRIPT, options);
  closers.push(close);
  server.on('prompts/list', () => ({ prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }] }));
  server.on('prompts/get', () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }],
  }));
  const http = await serveHttp(host, { port: 0 });
  closers.push(http.close);
  const session = await legacySession(http.url);
  let id = 0;
  const resultOf = ({ messages }: { messages: readonly Message[] }): Message => {
    const { result, error } = messages.at(-1) ?? {};
    if (error !== undefined) throw error;
    return result as Message;
  };
  const lines = async (version: string): Promise<Request> => {
    const client = new LineClient(host, version, {}, () => ({}));
    closers.push(() => client.leave());
    await client.open();
    return (method, params) => client.request(method, params);
  };
  return {
    'stdio, legacy': await lines('2025-11-25'),
    'stdio, modern': await lines(MODERN),
    'HTTP, legacy': async (method, params = {}) => {
      id += 1;
      return resultOf(await post(http.url, { jsonrpc: '2.0', id, method, params }, session));
    },
    'HTTP, modern': async (method, params = {}) => {
      id += 1;
      return resultOf(await modern(http.url, id, method, params));
    },
  };
}

const namesIn = (list: unknown): string[] => (list as { name: string }[]).map(({ name }) => name);

/** What one client lists, and what becomes of calls and prompts under these names. */
async function used(request: Request, names: readonly string[]): Promise<Message> {
  const { tools } = await request('tools/list');
  const { prompts } = await request('prompts/list');
  const calls = await Promise.all(
    names.map(async (server) => {
      const { content } = await request('tools/call', {
        name: `${server}echo`,
        arguments: { message: server },
      });
      const { messages } = await request('prompts/get', { name: `${server}greet` });
      return [(content as { text: string }[])[0]?.text, (messages as unknown[]).length];
    }),
  );
  return { tools: namesIn(tools), prompts: namesIn(prompts), calls };
}

const WAYS = ['stdio, legacy', 'stdio, modern', 'HTTP, legacy', 'HTTP, modern'];

describe('SRV-1: names through the gateway', () => {
  // Protocol: 26-tools-17, 26-tools-18
  it('are server__tool and server__prompt for every client; the long spelling of 0.1.0 is accepted', async () => {
    const clients = await served();
    const seen: Message = {};
    for (const way of WAYS) {
      const request = clients[way];
      if (request !== undefined) seen[way] = await used(request, ['small__', 'mcp__small__']);
    }
    const expected = {
      tools: ['small__echo'],
      prompts: ['small__greet'],
      calls: [
        ['small__', 1],
        ['mcp__small__', 1],
      ],
    };
    expect(seen).toEqual(Object.fromEntries(WAYS.map((way) => [way, expected])));
  });

  it('keep the form that `naming` chooses, and the others are accepted', async () => {
    const clients = [
      await served({ naming: 'mcp__' }),
      await served({ naming: 'short' }),
      await served({ naming: 'plain' }),
    ];
    const seen = await Promise.all(
      clients.map(({ 'stdio, legacy': request }) => request && used(request, ['small__', 'mcp__small__'])),
    );
    const calls = [
      ['small__', 1],
      ['mcp__small__', 1],
    ];
    expect(seen).toEqual([
      { tools: ['mcp__small__echo'], prompts: ['mcp__small__greet'], calls },
      { tools: ['small_echo'], prompts: ['small:greet'], calls },
      { tools: ['echo'], prompts: ['greet'], calls },
    ]);
    const plain = clients[2]?.['HTTP, modern'];
    expect(await (plain === undefined ? undefined : used(plain, ['']))).toMatchObject({ calls: [['', 1]] });
  });

  it('an unknown name is answered with names that this client can use', async () => {
    const { 'stdio, legacy': request = () => Promise.resolve({}) } = await served();
    const failures = await Promise.all(
      ['small__ehco', 'mcp__small__ehco', 'mcp__plugboard__small__echo', 'echo', 'nothing'].map((name) =>
        request('tools/call', { name }).catch(({ message }) => message),
      ),
    );
    const meant = 'Did you mean small__echo?';
    expect(failures).toEqual([
      `There is no tool called "small__ehco". ${meant}`,
      `There is no tool called "mcp__small__ehco". ${meant}`,
      `There is no tool called "mcp__plugboard__small__echo". ${meant}`,
      `There is no tool called "echo". ${meant}`,
      'There is no tool called "nothing". List the tools again: they change as servers start and stop.',
    ]);
  });
});
