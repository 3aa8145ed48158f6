import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { serveHttp } from '../../src/serve/index.ts';
import { createGate, fakeClock, NO_ANSWER } from '../../src/testing/index.ts';
import { refereeOnHttp } from '../testing/referee.ts';
import { legacySession, modern, post, send } from './bare-client.ts';
import { servedHosts } from './served-host.ts';
import { smallHost } from './small-host.ts';

const { serve, opened } = servedHosts();
const MINUTE_MS = 60_000;

describe('serveHttp', () => {
  it.each(['legacy', 'auto'] as const)(
    'SRV-1: a client in mode %s lists and calls what the host has',
    async (mode) => {
      const { url } = await serve({ tools: { echo: ({ message }) => String(message) } });
      const client = await refereeOnHttp(url, mode);
      const era = client.getProtocolEra();
      const server = client.getServerVersion()?.name;
      const { tools } = await client.listTools();
      const { content } = await client.callTool({ name: 'small__echo', arguments: { message: 'hi' } });
      await client.close();
      expect({ era, server, tools, content }).toEqual({
        era: mode === 'auto' ? 'modern' : 'legacy',
        server: 'plugboard',
        tools: [{ name: 'small__echo', description: 'The tool echo.', inputSchema: { type: 'object' } }],
        content: [{ type: 'text', text: 'hi' }],
      });
    },
  );

  it.each(['legacy', 'auto'] as const)('SRV-1: progress reaches a client in mode %s', async (mode) => {
    const { url } = await serve({
      tools: {
        work: (_, exchange) => {
          exchange.progress(1, 2, 'half');
          return 'done';
        },
      },
    });
    const client = await refereeOnHttp(url, mode);
    const seen: unknown[] = [];
    await client.callTool({ name: 'small__work' }, { onprogress: (progress) => seen.push(progress) });
    await client.close();
    expect(seen).toEqual([{ progress: 1, total: 2, message: 'half' }]);
  });

  // Protocol: 25-tools-16, 26-tools-34
  it('SRV-1: a failed call is a result for the model; an unknown tool is an error of the protocol', async () => {
    const { url } = await serve({
      tools: {
        away: (_, { crash }) => {
          crash(3);
          return NO_ANSWER;
        },
      },
    });
    const client = await refereeOnHttp(url, 'auto');
    const away = await client.callTool({ name: 'small__away' });
    expect([away.isError, away._meta?.['plugboard/code']]).toEqual([true, 'CONNECTION_LOST']);
    await expect(client.callTool({ name: 'small__nothing' })).rejects.toMatchObject({ code: -32602 });
    await client.close();
  });

  // Protocol: 26-cancellation-4
  it.each(['legacy', 'auto'] as const)(
    'F55: a client in mode %s that disappears during a call cancels it upstream',
    async (mode) => {
      const begun = createGate();
      const cancelled = createGate();
      const clock = fakeClock();
      const script = {
        tools: {
          wait: (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
            begun.open();
            signal.addEventListener('abort', () => cancelled.open());
            return new Promise<never>(() => {});
          },
        },
      };
      const { url } = await serve(script, { clock });
      const client = await refereeOnHttp(url, mode);
      const call = client.callTool({ name: 'small__wait' }).catch(() => 'given up');
      await begun.opened;
      await client.close();
      // A legacy client that drops a request has not cancelled it: it may come back.
      let isCancelled = false;
      void cancelled.opened.then(() => {
        isCancelled = true;
      });
      while (mode === 'legacy' && !isCancelled) await clock.advance(MINUTE_MS);
      await cancelled.opened;
      expect(await call).toBe('given up');
    },
  );

  // Protocol: 25-transports-8, 25-transports-9, 26-http-2, 26-http-3
  it('A8: a foreign Host or Origin gets 403, whatever else it brings', async () => {
    const { url } = await serve({}, { token: 'secret' });
    const { host, port } = new URL(url);
    const authorization = 'Bearer secret';
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const answers = await Promise.all([
      post(url, ping, { host: `evil.example:${port}`, authorization }),
      post(url, ping, { host: '127.0.0.1:1', authorization }),
      post(url, ping, { host, origin: 'https://evil.example', authorization }),
      post(url, ping, { host, origin: 'http://127.0.0.1:1', authorization }),
      post(url, ping, { host, origin: 'null', authorization }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  });

  // Protocol: 25-authorization-53, 25-authorization-56, 25-authorization-96, 25-base-13, 25-transports-11,
  // 26-auth-security-29, 26-authorization-39, 26-authorization-42, 26-base-30, 26-http-5
  it('A8: with a token, a request without it gets 401 and one with it is served', async () => {
    const { url } = await serve({}, { token: 'secret' });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const answers = await Promise.all([
      post(url, ping),
      post(url, ping, { authorization: 'Bearer wrong!' }),
      post(url, ping, { authorization: 'secret' }),
      send(url, 'GET', undefined),
      send(url, 'DELETE', undefined),
    ]);
    expect(answers.map(({ status, headers }) => [status, headers['www-authenticate']])).toEqual(
      Array(5).fill([401, 'Bearer']),
    );
    const client = await refereeOnHttp(url, 'auto', { authorization: 'Bearer secret' });
    expect(await client.listTools()).toMatchObject({ tools: [] });
    await client.close();
  });

  it('A8: our own origin may ask, by any of our names', async () => {
    const { url } = await serve();
    const { port } = new URL(url);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const asked = await Promise.all(
      ['127.0.0.1', 'localhost', '[::1]'].map((name) =>
        post(url, ping, { host: `${name}:${port}`, origin: `http://${name}:${port}` }),
      ),
    );
    expect(asked.map(({ status, messages }) => [status, messages])).toEqual(
      Array(3).fill([200, [{ jsonrpc: '2.0', id: 1, result: {} }]]),
    );
  });

  // Protocol: 25-overview-10c, 25-transports-10, 26-http-4, 26-overview-10c
  it('A8: will not listen beyond this machine without a token', async () => {
    const small = await smallHost({});
    opened.push(small.close);
    await expect(serveHttp(small.host, { host: '0.0.0.0', port: 0 })).rejects.toMatchObject({
      code: 'USAGE',
    });
  });

  it('A8: beyond this machine, whatever name it is called by, only the token opens it', async () => {
    const { url } = await serve({}, { host: '0.0.0.0', token: 'secret' });
    const { port } = new URL(url);
    const address = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    const reached = `http://${address ?? '127.0.0.1'}:${port}/mcp`;
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const authorization = 'Bearer secret';
    const host = `gateway.example:${port}`;
    const answers = await Promise.all([
      post(reached, ping),
      post(reached, ping, { authorization: 'Bearer guess' }),
      post(reached, ping, { authorization }),
      post(reached, ping, { authorization, host }),
      post(reached, ping, { authorization, host, origin: `https://${host}` }),
      post(reached, ping, { authorization, host, origin: 'https://evil.example' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 200, 200, 200, 403]);
  });

  // Protocol: 25-transports-45
  it('A7: a session belongs to one client: unknown and ended ones are 404', async () => {
    const { url } = await serve();
    const session = await legacySession(url);
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const invented = { ...session, 'mcp-session-id': 'c0ffee00-0000-4000-8000-000000000000' };
    const before = [await post(url, ping, session), await post(url, ping, invented)];
    const ended = await send(url, 'DELETE', undefined, session);
    const after = await post(url, ping, session);
    expect([...before, ended, after].map(({ status }) => status)).toEqual([200, 404, 200, 404]);
  });

  // Protocol: 25-base-6, 25-progress-5, 25-transports-25, 26-base-6, 26-base-26, 26-http-16, 26-progress-5
  it('A7: many clients with equal ids each get their own answer, in both eras', async () => {
    const { url } = await serve({
      tools: {
        later: async ({ message }, exchange) => {
          exchange.progress(1, 1, String(message));
          await new Promise(setImmediate);
          return String(message);
        },
      },
    });
    const clients = Array.from({ length: 40 }, (_, n) => `client ${n}`);
    const answers = await Promise.all(
      clients.map(async (message, n) => {
        const params = {
          name: 'small__later',
          arguments: { message },
          _meta: { progressToken: 'same' },
        };
        const { messages } =
          n % 2 === 0
            ? await modern(url, 7, 'tools/call', params)
            : await post(
                url,
                { jsonrpc: '2.0', id: 7, method: 'tools/call', params },
                await legacySession(url),
              );
        return messages.map(({ id, params: told, result }) => ({ id, told, content: contentOf(result) }));
      }),
    );
    expect(answers).toEqual(
      clients.map((message) => [
        {
          id: undefined,
          told: { progressToken: 'same', progress: 1, total: 1, message },
          content: undefined,
        },
        { id: 7, told: undefined, content: [{ type: 'text', text: message }] },
      ]),
    );
  });

  // Protocol: 25-authorization-60, 25-transports-7, 25-transports-17, 25-transports-30, 25-transports-51,
  // 26-authorization-50, 26-http-13
  it('refuses what is too large, not JSON, not a message or not for it', async () => {
    const { url } = await serve();
    const tooLarge = await new Promise<number>((resolve, reject) => {
      const sent = request(
        url,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'content-length': String(17 * 1024 * 1024) },
        },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
          sent.destroy();
        },
      );
      sent.on('error', reject);
      sent.flushHeaders();
    });
    const answers = await Promise.all([
      post(url, '{"jsonrpc":'),
      post(url, { hello: 1 }),
      post(url, []),
      post(url, '{}', { 'content-type': 'text/plain' }),
      send(url, 'PUT', '{}'),
      send(url, 'GET', undefined),
      post(url.replace('/mcp', '/other'), {}),
      post(url, { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-protocol-version': '1999-01-01' }),
    ]);
    expect([tooLarge, ...answers.map(({ status }) => status)]).toEqual([
      413, 400, 400, 400, 415, 405, 405, 404, 400,
    ]);
  });

  // Protocol: 26-http-25, 26-http-27, 26-http-65, 26-http-67, 26-http-68
  it('SRV-1: a modern request whose headers disagree with its body is refused with −32020', async () => {
    const { url } = await serve();
    const answers = await Promise.all([
      modern(url, 1, 'tools/list', {}, {}, { 'mcp-method': 'tools/call' }),
      modern(url, 2, 'tools/call', { name: 'a' }, {}, { 'mcp-name': 'b' }),
      modern(url, 3, 'tools/list', {}, {}, { 'mcp-protocol-version': '2025-11-25' }),
      modern(url, 4, 'no/such/method'),
    ]);
    expect(answers.map(({ status, messages }) => [status, messages[0]?.['error']])).toMatchObject([
      [400, { code: -32020 }],
      [400, { code: -32020 }],
      [400, { code: -32020 }],
      [404, { code: -32601 }],
    ]);
  });

  it('a batch of an old client is answered as one', async () => {
    const { url } = await serve({ tools: { echo: ({ message }) => String(message) } });
    const session = await legacySession(url, '2025-03-26');
    const call = (id: number): object => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'small__echo', arguments: { message: id } },
    });
    const { messages } = await post(
      url,
      [call(1), { jsonrpc: '2.0', method: 'notifications/initialized' }, call(2)],
      session,
    );
    expect(messages.map(({ id, result }) => [id, contentOf(result)])).toEqual([
      [1, [{ type: 'text', text: '1' }]],
      [2, [{ type: 'text', text: '2' }]],
    ]);
  });

  it('reports that a port is in use', async () => {
    const { url, host } = await serve();
    const port = Number(new URL(url).port);
    await expect(serveHttp(host, { port })).rejects.toMatchObject({
      code: 'START_FAILED',
      message: `Port ${port} is taken.`,
    });
  });

  it('close() lets a running call end, ends open streams, and may be called twice', async () => {
    const begun = createGate();
    const finish = createGate();
    const { url, served } = await serve({
      tools: {
        wait: async () => {
          begun.open();
          await finish.opened;
          return 'done';
        },
      },
    });
    const session = await legacySession(url);
    const stream = send(url, 'GET', undefined, session);
    const listening = modern(url, 1, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    const call = modern(url, 2, 'tools/call', { name: 'small__wait' });
    await begun.opened;
    const closing = Promise.all([served.close(), served.close()]);
    finish.open();
    const answer = await call;
    await closing;
    await served.closed;
    expect(contentOf(answer.messages.at(-1)?.['result'])).toEqual([{ type: 'text', text: 'done' }]);
    expect((await stream).messages).toEqual([]);
    expect((await listening).messages.map(({ id, method }) => id ?? method)).toEqual([
      'notifications/subscriptions/acknowledged',
      1,
    ]);
  });
});

function contentOf(result: unknown): unknown {
  return (result as { content?: unknown } | undefined)?.content;
}
