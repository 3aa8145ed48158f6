import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { serveHttp, serveStdio } from '../../src/serve/index.ts';
import { createGate, fakeClock, type ScriptedServer, scriptedServer } from '../../src/testing/index.ts';
import { type Bare, legacySession, modern, post } from './bare-client.ts';
import { servedHosts } from './served-host.ts';
import { smallHost } from './small-host.ts';

const LARGE = 17 * 1024 * 1024;
const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const { serve, opened } = servedHosts();

it('A7: arguments that are nested without end are refused before they are read', async () => {
  const { url } = await serve({ tools: { echo: () => 'never' } });
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"small__echo","arguments":{"a":${DEEP}}}}`;
  const { status, messages } = await post(url, body);
  expect([status, messages]).toMatchObject([400, [{ id: null, error: { code: -32700 } }]]);
});

it('A7: a line on stdio that is nested without end is refused, and the next one is read', async () => {
  const small = await smallHost({});
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = serveStdio(small.host, { input, output });
  opened.push(async () => {
    await served.close();
    await small.close();
  });
  input.write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${DEEP}}}\n`);
  input.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
  let text = '';
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.includes('"id":2')) break;
  }
  const answers = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(answers).toMatchObject([
    { id: 1, error: { code: -32700 } },
    { id: 2, result: {} },
  ]);
});

it.each(['1e999', '{"a":1}', '[1]', 'true'])('an id of %s is no id', async (id) => {
  const { url } = await serve();
  const { status, messages } = await post(url, `{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
  expect([status, messages]).toMatchObject([400, [{ id: null, error: { code: -32600 } }]]);
});

it('SRV-1: one message may be larger than what may pile up, also on a stream', async () => {
  const { url, server } = await serve({ eras: 'legacy', capabilities: { resources: {}, logging: {} } });
  server.on('resources/list', () => ({ resources: [{ uri: 'test://large', name: 'large' }] }));
  server.on('resources/read', () => {
    server.notify('notifications/message', { level: 'error', data: 'this makes it a stream' });
    return { contents: [{ uri: 'test://large', text: 'x'.repeat(LARGE) }] };
  });
  const session = await legacySession(url);
  const read = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'test://large' } };
  const { headers, messages } = await post(url, read, session);
  const result = messages.at(-1)?.['result'] as { contents: { text: string }[] } | undefined;
  expect([headers['content-type'], messages.length, result?.contents[0]?.text.length]).toEqual([
    'text/event-stream',
    2,
    LARGE,
  ]);
});

it('SRV-1: a resource that no server lists is read from the server that its address names, and from no other', async () => {
  const talks = (read: (uri: string) => unknown): ScriptedServer => {
    const server = scriptedServer({ eras: 'legacy', capabilities: { resources: {} } });
    server.on('resources/list', () => ({ resources: [{ uri: 'test://listed', name: 'listed' }] }));
    server.on('resources/read', ({ params }) => read(String(params['uri'])));
    return server;
  };
  const servers: Record<string, ScriptedServer> = {
    broken: talks(() => {
      throw Object.assign(new Error('out of order'), { code: -32000 });
    }),
    silent: talks(() => new Promise(() => {})),
    small: talks((uri) => ({ contents: [{ uri, text: 'here' }] })),
  };
  const entry = { command: 'scripted', lifecycle: 'eager' } as const;
  const small = await smallHost(
    {},
    {
      servers: { broken: entry, silent: entry, small: entry },
      replaceTransport: (name) => servers[name]?.transport(),
    },
  );
  const served = await serveHttp(small.host, { port: 0 });
  opened.push(async () => {
    await served.close();
    await small.close();
  });
  const read = (uri: string): Promise<Bare> => modern(served.url, 1, 'resources/read', { uri });
  expect((await read('test://other')).messages).toMatchObject([{ error: { code: -32602 } }]);
  const other = `plugboard://server/small/${encodeURIComponent('test://other')}`;
  expect((await read(other)).messages).toMatchObject([
    { result: { contents: [{ uri: other, text: 'here' }] } },
  ]);
  const whole = encodeURIComponent('test://listed');
  expect((await read(`plugboard://server/broken/${whole}`)).messages).toMatchObject([
    { error: { code: -32603, message: 'out of order' } },
  ]);
  expect((await read('plugboard://server/%/x')).messages).toMatchObject([{ error: { code: -32602 } }]);
});

it.each(['legacy', 'modern'] as const)(
  'SRV-1: a call that does not end in time when the gateway closes is answered with the reason (%s)',
  async (era) => {
    const clock = fakeClock();
    const begun = createGate();
    const cancelled = createGate();
    const { url, served } = await serve(
      {
        tools: {
          wait: (_, { signal }) => {
            begun.open();
            signal.addEventListener('abort', () => cancelled.open());
            return new Promise(() => {});
          },
        },
      },
      { clock },
    );
    const params = { name: 'small__wait' };
    const call =
      era === 'modern'
        ? modern(url, 1, 'tools/call', params)
        : post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, await legacySession(url));
    await begun.opened;
    const closing = served.close();
    await clock.advance(5_000);
    const { messages } = await call;
    await cancelled.opened;
    await closing;
    expect(messages).toMatchObject([{ id: 1, error: { code: -32603, message: 'The gateway is closing' } }]);
  },
);
