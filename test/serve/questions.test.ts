import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { createGate, type Gate } from '../../src/testing/index.ts';
import type { Mode } from '../testing/referee.ts';
import { legacySession, modern, post, send } from './bare-client.ts';
import { servedHosts } from './served-host.ts';

const { serve, opened } = servedHosts();

/** A client whose person has this name, and is asked for it. */
async function person(url: string, mode: Mode, name: string): Promise<Client> {
  const options = { versionNegotiation: { mode }, capabilities: { elicitation: {} } };
  const client = new Client({ name, version: '1.0.0' }, options);
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  opened.push(() => client.close());
  return client;
}

const CAPABILITIES = { tools: {}, resources: {}, prompts: {}, logging: {} };
const FORM = {
  mode: 'form',
  message: 'Who are you?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};

/** A server that asks before it allows a read, and before it returns its prompt. */
async function asking(eras: 'legacy' | 'modern', gate?: Gate): Promise<{ url: string; begun: Gate }> {
  const begun = createGate();
  const { url, server } = await serve({ eras, capabilities: CAPABILITIES });
  server.on('resources/list', () => ({ resources: [{ uri: 'test://secret', name: 'secret' }] }));
  server.on('prompts/list', () => ({ prompts: [{ name: 'greet' }] }));
  const ask = async (exchange: Parameters<Parameters<typeof server.on>[1]>[0]): Promise<string | object> => {
    begun.open();
    await gate?.opened;
    if (eras === 'modern') {
      const given = exchange.params['inputResponses'] as { who?: { content: { name: string } } } | undefined;
      const inputRequests = { who: { method: 'elicitation/create', params: FORM } };
      return given?.who?.content.name ?? { resultType: 'input_required', inputRequests, requestState: 's' };
    }
    const answer = (await exchange.request('elicitation/create', FORM)) as { content?: { name: string } };
    return answer.content?.name ?? 'nobody';
  };
  server.on('resources/read', async (exchange) => {
    const said = await ask(exchange);
    return typeof said === 'string' ? { contents: [{ uri: 'test://secret', text: `for ${said}` }] } : said;
  });
  server.on('prompts/get', async (exchange) => {
    const said = await ask(exchange);
    return typeof said === 'string'
      ? { messages: [{ role: 'user', content: { type: 'text', text: `Hello ${said}` } }] }
      : said;
  });
  return { url, begun };
}

it.each([
  ['legacy', 'legacy'],
  ['legacy', 'modern'],
  ['auto', 'legacy'],
  ['auto', 'modern'],
] as const)(
  'SRV-1: a question during a read or a prompt is asked of the client whose request it was (client %s, server %s)',
  async (mode, eras) => {
    const { url } = await asking(eras);
    // Another client is connected too, and is asked nothing.
    await person(url, mode, 'bob');
    const ann = await person(url, mode, 'ann');
    const { contents } = await ann.readResource({ uri: 'test://secret' });
    const { messages } = await ann.getPrompt({ name: 'small__greet' });
    expect([contents, messages]).toMatchObject([
      [{ uri: 'test://secret', text: 'for ann' }],
      [{ role: 'user', content: { type: 'text', text: 'Hello ann' } }],
    ]);
  },
);

// Protocol: 25-elicitation-31, 26-elicitation-24
it('A7: while a legacy server reads for two clients, each is asked about its own', async () => {
  const gate = createGate();
  const { url, begun } = await asking('legacy', gate);
  const [ann, bob] = await Promise.all([person(url, 'legacy', 'ann'), person(url, 'legacy', 'bob')]);
  const reads = Promise.all([ann, bob].map((client) => client.readResource({ uri: 'test://secret' })));
  await begun.opened;
  // The second read is on its way as well once the server answers something that was sent after it.
  await bob.listPrompts();
  gate.open();
  expect((await reads).map(({ contents }) => contents)).toMatchObject([
    [{ text: 'for ann' }],
    [{ text: 'for bob' }],
  ]);
});

it('SRV-1: a question keeps the name that its server gave it', async () => {
  const { url } = await asking('modern');
  const asked = await modern(url, 1, 'resources/read', { uri: 'test://secret' }, { elicitation: {} });
  expect(asked.messages).toMatchObject([
    { result: { resultType: 'input_required', inputRequests: { who: { method: 'elicitation/create' } } } },
  ]);
});

// Protocol: 25-logging-5c, 26-logging-9c
it('A7: an unsolicited message of a server reaches only the one client it has worked for', async () => {
  const { url, server, served } = await serve({
    capabilities: CAPABILITIES,
    eras: 'legacy',
    tools: { work: () => 'done' },
  });
  const say = (data: string): void => server.notify('notifications/message', { level: 'error', data });
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'small__work' } };
  const ann = await legacySession(url);
  const annHears = send(url, 'GET', undefined, ann);
  await post(url, call, ann);
  const bob = await legacySession(url);
  const bobHears = send(url, 'GET', undefined, bob);
  say('about ann');
  await post(url, { ...call, id: 2 }, ann);
  await post(url, call, bob);
  say('about either');
  await post(url, call, bob);
  await served.close();
  const heard = async (stream: typeof annHears): Promise<unknown[]> =>
    (await stream).messages
      .filter(({ method }) => method === 'notifications/message')
      .map(({ params }) => (params as { data: unknown }).data);
  expect([await heard(annHears), await heard(bobHears)]).toEqual([['about ann'], []]);
});
