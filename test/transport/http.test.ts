import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import type { JsonRpcRequest } from '../../src/lib/json-rpc.ts';
import type { Transport } from '../../src/transport/contract.ts';
import { opensLegacySse } from '../../src/transport/http-errors.ts';
import { createHttpTransport, type HttpTransportOptions } from '../../src/transport/http-transport.ts';
import { type HttpServer, startHttpServer } from '../fixtures/http-server.mjs';
import { failure } from '../world/failure.ts';
import { until } from '../world/until.ts';
import { ManualClock, Recorder } from './http-recorder.ts';

let server: HttpServer;
let transports: Transport[] = [];

beforeEach(async () => {
  server = await startHttpServer();
});

afterEach(async () => {
  await Promise.all(transports.map((transport) => transport.close()));
  transports = [];
  await server.close();
});

async function open(
  path: string,
  options: Partial<HttpTransportOptions> = {},
): Promise<[Transport, Recorder]> {
  const transport = createHttpTransport({
    url: new URL(path, server.origin),
    clock: systemClock,
    ...options,
  });
  const recorder = new Recorder();
  transports.push(transport);
  await transport.open(recorder);
  return [transport, recorder];
}

function ask(id: number, method = 'ping', params?: Record<string, unknown>): JsonRpcRequest {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

const initialize = ask(0, 'initialize', { protocolVersion: '2025-11-25' });
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' } as const;

async function handshake(transport: Transport): Promise<void> {
  await transport.send(initialize);
  transport.negotiated('2025-11-25');
  await transport.send(initialized);
}

const note = (data: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data },
});

describe('CON-4: Streamable HTTP', () => {
  // Protocol: 25-transports-12, 25-transports-13, 25-transports-14, 25-transports-15, 26-http-6, 26-http-7,
  // 26-http-8, 26-http-10
  it('opening sends nothing, and the first message does', async () => {
    const [transport, recorder] = await open('/mcp');
    expect([server.log.length, await server.connections()]).toEqual([0, 0]);
    await transport.send(ask(1));
    expect(recorder.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    expect(server.log.map(({ method, headers, message }) => ({ method, headers, message }))).toEqual([
      {
        method: 'POST',
        message: ask(1),
        headers: {
          accept: 'application/json, text/event-stream',
          'accept-encoding': 'identity',
          connection: 'keep-alive',
          'content-length': String(JSON.stringify(ask(1)).length),
          'content-type': 'application/json',
          host: new URL(server.origin).host,
          'user-agent': 'plugboard',
        },
      },
    ]);
  });

  // Protocol: 25-transports-19, 26-http-15
  it('an answer on a stream arrives after the messages that preceded it', async () => {
    const [transport, recorder] = await open('/events');
    await transport.send(ask(1));
    await until('the answer', () => recorder.messages.length === 2);
    expect(recorder.messages).toEqual([note(1), { jsonrpc: '2.0', id: 1, result: {} }]);
    expect(recorder.losses).toEqual([]);
  });

  it('a batch of the older kind is taken apart', async () => {
    const [transport, recorder] = await open('/batch');
    await transport.send(ask(1));
    expect(recorder.messages).toEqual([note(1), { jsonrpc: '2.0', id: 1, result: {} }]);
  });

  // Protocol: 25-transports-12, 26-http-6
  it('200 requests at once each get their own answer', async () => {
    const [transport, recorder] = await open('/mcp');
    const ids = Array.from({ length: 200 }, (_, id) => id);
    await Promise.all(ids.map((id) => transport.send(ask(id))));
    const answered = recorder.messages.map((message) => ('id' in message ? Number(message.id) : -1));
    expect(answered.sort((a, b) => a - b)).toEqual(ids);
    expect(await server.connections()).toBeLessThanOrEqual(128);
  });

  // Protocol: 25-base-12, 25-lifecycle-13, 25-transports-29, 25-transports-43, 25-transports-47, 25-transports-48,
  // 25-transports-49, 26-base-24
  it('a legacy session is kept, its version and id sent, its stream listened to, and ended at close', async () => {
    const [transport, recorder] = await open('/legacy');
    await handshake(transport);
    await until('the stream', () => (server.state('/legacy').listeners?.size ?? 0) === 1);
    const [session] = server.state('/legacy').sessions ?? [];
    for (const res of server.state('/legacy').listeners ?? [])
      res.write(`data: ${JSON.stringify(note('own'))}\n\n`);
    await until('the message', () => recorder.messages.length === 2);
    expect(recorder.messages[1]).toEqual(note('own'));
    await transport.close();
    expect(server.state('/legacy').sessions?.size).toBe(0);
    expect(
      server.log.map(({ method, headers }) => [
        method,
        headers['mcp-session-id'],
        headers['mcp-protocol-version'],
      ]),
    ).toEqual([
      ['POST', undefined, undefined],
      ['POST', session, '2025-11-25'],
      ['GET', session, '2025-11-25'],
      ['DELETE', session, '2025-11-25'],
    ]);
    expect(recorder.closes).toEqual([undefined]);
  });

  it('a server without a stream of its own (405) is no error', async () => {
    const [transport, recorder] = await open('/mcp');
    await handshake(transport);
    await until('the refusal', () => recorder.notices.length === 1);
    await transport.send(ask(1));
    expect(recorder.notices.map((notice) => notice.level)).toEqual(['debug']);
    expect([recorder.losses, recorder.closes]).toEqual([[], []]);
  });

  it("a dropped stream of the server's own messages is reopened, after a growing pause", async () => {
    const clock = new ManualClock();
    const [transport, recorder] = await open('/legacy', { clock });
    await handshake(transport);
    await until('the stream', () => (server.state('/legacy').listeners?.size ?? 0) === 1);
    for (const res of server.state('/legacy').listeners ?? [])
      res.write(`data: ${JSON.stringify(note(1))}\n\n`);
    await until('the message', () => recorder.messages.length === 2);
    for (const res of server.state('/legacy').listeners ?? []) res.destroy();
    await until('the pause', () => clock.pending === 1);
    clock.advance(500);
    await until('the new stream', () => (server.state('/legacy').listeners?.size ?? 0) === 1);
    expect(server.log.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET', 'GET']);
    expect([recorder.notices, recorder.closes]).toEqual([[], []]);
  });

  // Protocol: 26-http-9, 26-http-23, 26-http-24, 26-http-29, 26-http-30
  it('a modern request mirrors its method and name, has no session and opens no stream', async () => {
    const [transport, recorder] = await open('/mcp');
    transport.negotiated('2026-07-28');
    expect(transport.streamPerRequest).toBe(true);
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    await transport.send(ask(1, 'tools/call', { name: 'écho\r\nx: y', _meta }), {
      headers: { 'Mcp-Param-Region': 'a\r\nb', 'mcp-method': 'forged', authorization: 'Bearer t' },
    });
    await transport.send(ask(2, 'resources/read', { uri: 'file:///a b', _meta }));
    await transport.send(ask(3, 'server/discover', { _meta }));
    await transport.send(initialized);
    const mirrored = server.log.map(({ method, headers }) => ({
      method,
      session: headers['mcp-session-id'],
      version: headers['mcp-protocol-version'],
      rpc: headers['mcp-method'],
      name: headers['mcp-name'],
      param: headers['mcp-param-region'],
      authorization: headers.authorization,
    }));
    const none = { session: undefined, name: undefined, param: undefined, authorization: undefined };
    expect(mirrored).toEqual([
      {
        method: 'POST',
        session: undefined,
        version: '2026-07-28',
        rpc: 'tools/call',
        name: `=?base64?${Buffer.from('écho\r\nx: y').toString('base64')}?=`,
        param: `=?base64?${Buffer.from('a\r\nb').toString('base64')}?=`,
        authorization: 'Bearer t',
      },
      { ...none, method: 'POST', version: '2026-07-28', rpc: 'resources/read', name: 'file:///a b' },
      { ...none, method: 'POST', version: '2026-07-28', rpc: 'server/discover' },
      { ...none, method: 'POST', version: '2026-07-28', rpc: undefined },
    ]);
    expect(recorder.closes).toEqual([]);
  });

  it('a JSON-RPC error with a 4xx is the answer when its id is ours', async () => {
    const [transport, recorder] = await open('/error-404');
    await transport.send(ask(7));
    expect(recorder.messages).toEqual([
      { jsonrpc: '2.0', id: 7, error: { code: -32601, message: 'Method not found' } },
    ]);
  });

  it('a JSON-RPC error without our id is the reason of the failure', async () => {
    const [transport, recorder] = await open('/error-null');
    const error = await failure(transport.send(ask(7)));
    const host = new URL(server.origin).host;
    expect([error.code, error.message, error.detail, recorder.messages]).toEqual([
      'CONNECT_FAILED',
      `${host} refused the request (HTTP 400): Bad Request`,
      { httpStatus: 400, rpcCode: -32000 },
      [],
    ]);
  });

  it.each([
    ['/not-json', {}],
    ['/scalar', {}],
    ['/accepts-only', {}],
    ['/other-id', { rpcCode: -32600 }],
  ])('a request to %s that got no answer fails at once', async (path, detail) => {
    const [transport] = await open(path);
    const error = await failure(transport.send(ask(1)));
    expect([error.code, error.detail]).toEqual(['PROTOCOL_ERROR', detail]);
  });

  it('a body with a byte-order mark is understood', async () => {
    const [transport, recorder] = await open('/bom');
    await transport.send(ask(1));
    expect(recorder.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('headers that come twice do no harm', async () => {
    const [transport] = await open('/twice-typed');
    expect((await failure(transport.send(ask(1)))).code).toBe('NOT_MCP');
  });

  it('a cancelled request does not wait for its credentials', async () => {
    const controller = new AbortController();
    const credentials = { headers: () => new Promise<never>(() => {}), challenged: () => Promise.resolve() };
    const [transport] = await open('/mcp', { credentials });
    const sent = failure(transport.send(ask(1), { signal: controller.signal }));
    controller.abort();
    expect([(await sent).code, server.log]).toEqual(['CANCELLED', []]);
  });

  it('a stream that stays open after the answer loses its socket after a while', async () => {
    const clock = new ManualClock();
    const [transport, recorder] = await open('/stays-open', { clock });
    await transport.send(ask(1));
    await until('the answer', () => recorder.messages.length === 1);
    await until('the timer', () => clock.pending === 1);
    expect(server.log[0]?.closed).toBe(false);
    clock.advance(5_000);
    await until('the close', () => server.log[0]?.closed === true);
    expect([recorder.losses, clock.pending]).toEqual([[], 0]);
  });

  it('a cancelled request closes its socket at once, and its answer is ignored', async () => {
    const [transport, recorder] = await open('/silent');
    const controller = new AbortController();
    const sent = failure(transport.send(ask(1, 'tools/call'), { signal: controller.signal }));
    await until('the request', () => server.log.length === 1);
    controller.abort();
    expect((await sent).code).toBe('CANCELLED');
    await until('the close', () => server.log[0]?.closed === true);
    await transport.send(ask(2));
    expect(recorder.messages).toEqual([{ jsonrpc: '2.0', id: 2, result: {} }]);
  });

  // Protocol: 26-cancellation-7
  it('a cancelled stream closes its socket at once, without reporting a loss', async () => {
    const [transport, recorder] = await open('/silent-events');
    const controller = new AbortController();
    await transport.send(ask(1, 'tools/call'), { signal: controller.signal });
    expect(server.log[0]?.closed).toBe(false);
    controller.abort();
    await until('the close', () => server.log[0]?.closed === true);
    expect([recorder.messages, recorder.losses]).toEqual([[], []]);
  });

  it('a request cancelled before it was sent never leaves', async () => {
    const [transport] = await open('/mcp');
    expect((await failure(transport.send(ask(1), { signal: AbortSignal.abort() }))).code).toBe('CANCELLED');
    expect(server.log).toEqual([]);
  });

  it('close ends all requests and sockets, twice does no harm, and nothing can be sent after', async () => {
    const [transport, recorder] = await open('/silent');
    const waiting = failure(transport.send(ask(1, 'tools/call')));
    await until('the request', () => server.log.length === 1);
    await Promise.all([transport.close(), transport.close()]);
    expect((await waiting).code).toBe('CONNECTION_LOST');
    expect((await failure(transport.send(ask(2)))).code).toBe('CONNECTION_LOST');
    await until('no socket is left', async () => (await server.connections()) === 0);
    expect(recorder.closes).toEqual([undefined]);
  });

  it('close waits only so long for a server that does not answer the end of its session', async () => {
    const clock = new ManualClock();
    const [transport, recorder] = await open('/legacy-stuck', { clock });
    await transport.send(initialize);
    const closing = transport.close();
    await until('the end of the session', () => server.log.at(-1)?.method === 'DELETE');
    expect(recorder.closes).toEqual([]);
    clock.advance(1_000);
    await closing;
    expect([recorder.closes, clock.pending]).toEqual([[undefined], 0]);
    await until('no socket is left', async () => (await server.connections()) === 0);
  });

  it('a refused connection is reported, with the fact that nothing was sent', async () => {
    await server.close();
    const [transport] = await open('/mcp');
    const error = await failure(transport.send(ask(1)));
    const host = new URL(server.origin).host;
    expect([error.code, error.message, error.hint, error.detail]).toEqual([
      'CONNECT_FAILED',
      `Cannot reach ${host}. Nothing is listening there (ECONNREFUSED).`,
      'Check that the server is running and that the port is right.',
      { notSent: true },
    ]);
  });

  it('TLS to a server without TLS is reported as such', async () => {
    const url = new URL(server.origin.replace('http:', 'https:'));
    const [transport] = await open('/mcp', { url });
    const error = await failure(transport.send(ask(1)));
    expect([error.code, error.hint, error.detail]).toEqual([
      'CONNECT_FAILED',
      'Try the url with http:// if the server has no TLS.',
      { notSent: true },
    ]);
  });

  it('a header value that HTTP does not allow is named as such, without the value', async () => {
    const credentials = {
      headers: () => ({ authorization: 'Bearer secret\n' }),
      challenged: () => Promise.reject(new Error('not asked')),
    };
    const [transport] = await open('/mcp', { credentials });
    const error = await failure(transport.send(ask(1)));
    expect([error.code, error.detail, `${error.message}${error.hint}`.includes('secret')]).toEqual([
      'CONFIG_INVALID',
      { notSent: true, permanent: true },
      false,
    ]);
  });

  it.each([
    ['/method', true],
    ['/nowhere', true],
    ['/error-null', true],
    ['/unauthorized', false],
    ['/forbidden', false],
    ['/busy', false],
    ['/broken', false],
    ['/html', false],
  ])('whether %s may be a server of the older transport: %s', async (path, older) => {
    const [transport] = await open(path);
    expect(opensLegacySse(await failure(transport.send(initialize)))).toBe(older);
  });
});
