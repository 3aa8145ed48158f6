import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Credentials } from '../../src/auth/credentials.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { JsonRpcRequest } from '../../src/lib/json-rpc.ts';
import type { Transport } from '../../src/transport/contract.ts';
import type { HttpTransportOptions } from '../../src/transport/http-transport.ts';
import { createSseTransport } from '../../src/transport/sse-transport.ts';
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

function make(path: string, options: Partial<HttpTransportOptions> = {}): [Transport, Recorder] {
  const transport = createSseTransport({ url: new URL(path, server.origin), clock: systemClock, ...options });
  transports.push(transport);
  return [transport, new Recorder()];
}

async function open(
  path: string,
  options: Partial<HttpTransportOptions> = {},
): Promise<[Transport, Recorder]> {
  const [transport, recorder] = make(path, options);
  await transport.open(recorder);
  return [transport, recorder];
}

function ask(id: number, method = 'ping'): JsonRpcRequest {
  return { jsonrpc: '2.0', id, method };
}

const noSocketIsLeft = () => until('no socket is left', async () => (await server.connections()) === 0);

describe('CON-4: HTTP+SSE', () => {
  it('messages are posted to the address of the stream, answers arrive on the stream', async () => {
    const [transport, recorder] = await open('/sse');
    transport.negotiated('2024-11-05');
    await Promise.all([transport.send(ask(1)), transport.send(ask(2, 'tools/list'))]);
    await until('the answers', () => recorder.messages.length === 2);
    expect(recorder.messages).toContainEqual({ jsonrpc: '2.0', id: 1, result: {} });
    expect(
      server.log.map(({ method, path, headers }) => [method, path, headers['mcp-protocol-version']]),
    ).toEqual([
      ['GET', '/sse', undefined],
      ['POST', '/messages?sessionId=1', '2024-11-05'],
      ['POST', '/messages?sessionId=1', '2024-11-05'],
    ]);
  });

  it("the opener's signal no longer counts once the stream is open", async () => {
    const controller = new AbortController();
    const [transport, recorder] = make('/sse');
    await transport.open(recorder, controller.signal);
    controller.abort();
    await transport.send(ask(1));
    await until('the answer', () => recorder.messages.length === 1);
    expect(recorder.closes).toEqual([]);
  });

  it.each(['test/end', 'test/reset'])(
    '%s: a stream that ends closes the connection, once, and its sockets',
    async (how) => {
      const [transport, recorder] = await open('/sse');
      await transport.send({ jsonrpc: '2.0', method: how });
      await until('the close', () => recorder.closes.length === 1);
      expect(recorder.closes.map((error) => error?.code)).toEqual(['CONNECTION_LOST']);
      expect((await failure(transport.send(ask(1)))).code).toBe('CONNECTION_LOST');
      await transport.close();
      expect(recorder.closes.length).toBe(1);
      await noSocketIsLeft();
    },
  );

  it('F35: an endless event closes the connection at the cap', async () => {
    const [transport, recorder] = await open('/sse', { limits: { maxEventBytes: 1024 * 1024 } });
    await transport.send({ jsonrpc: '2.0', method: 'test/endless' });
    await until('the close', () => recorder.closes.length === 1);
    expect(recorder.closes.map((error) => error?.code)).toEqual(['LIMIT_EXCEEDED']);
    await noSocketIsLeft();
  });

  it('close ends the stream and reports it once', async () => {
    const [transport, recorder] = await open('/sse');
    await Promise.all([transport.close(), transport.close()]);
    expect(recorder.closes).toEqual([undefined]);
    await noSocketIsLeft();
  });

  it.each([
    ['/sse-away', 'EGRESS_REFUSED'],
    ['/sse-ends', 'NOT_MCP'],
    ['/html', 'NOT_MCP'],
    ['/nowhere', 'NOT_MCP'],
    ['/unauthorized', 'NEEDS_AUTH'],
    ['/busy', 'CONNECT_FAILED'],
    ['/redirect-away?to=http://127.0.0.2:9/', 'EGRESS_REFUSED'],
  ])('opening %s fails with %s and leaves nothing behind', async (path, code) => {
    const [transport, recorder] = make(path);
    expect((await failure(transport.open(recorder))).code).toBe(code);
    expect(recorder.closes).toEqual([]);
    await noSocketIsLeft();
  });

  it('F36: a stream that names no address ends by its limit', async () => {
    const clock = new ManualClock();
    const [transport, recorder] = make('/sse-mute', { clock });
    const opening = failure(transport.open(recorder));
    // The first is the limit for the headers, the second that for the address.
    await until('the stream', () => clock.started === 2);
    clock.advance(30_000);
    expect([(await opening).code, clock.pending]).toEqual(['NOT_MCP', 0]);
    await noSocketIsLeft();
  });

  it('opening can be cancelled', async () => {
    const controller = new AbortController();
    const [transport, recorder] = make('/sse-mute');
    const opening = failure(transport.open(recorder, controller.signal));
    await until('the stream', () => server.log.length === 1);
    controller.abort();
    expect((await opening).code).toBe('CANCELLED');
    await noSocketIsLeft();
  });

  it('F42: the stream and the messages carry the credentials', async () => {
    const credentials: Credentials = {
      headers: async () => ({ authorization: 'Bearer t' }),
      challenged: () => Promise.reject(new Error('not asked')),
    };
    const [transport] = await open('/sse', { credentials });
    await transport.send(ask(1));
    expect(server.log.map(({ headers }) => headers.authorization)).toEqual(['Bearer t', 'Bearer t']);
  });
});
