import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Challenge, Credentials } from '../../src/auth/credentials.ts';
import { PlugboardError } from '../../src/errors.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { JsonRpcMessage, JsonRpcRequest } from '../../src/lib/json-rpc.ts';
import type { Transport } from '../../src/transport/contract.ts';
import { createHttpTransport, type HttpTransportOptions } from '../../src/transport/http-transport.ts';
import { type HttpProxy, startHttpProxy } from '../fixtures/http-proxy.mjs';
import { type HttpServer, startHttpServer } from '../fixtures/http-server.mjs';
import { failure } from '../world/failure.ts';
import { until } from '../world/until.ts';
import { ManualClock, Recorder } from './http-recorder.ts';

const MIB = 1024 * 1024;

let server: HttpServer;
let cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  server = await startHttpServer();
});

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
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
  cleanups.push(() => transport.close());
  await transport.open(recorder);
  return [transport, recorder];
}

function ask(id: number, method = 'ping', params?: Record<string, unknown>): JsonRpcRequest {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

const call = (id: number) => ask(id, 'tools/call', { name: 'echo', arguments: { id } });
const answerTo = (id: number) => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text: JSON.stringify({ id }) }] },
});
const note = (data: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data },
});
const initialize = ask(0, 'initialize', { protocolVersion: '2025-11-25' });

/** Another request on the same transport still works. */
async function livesOn(transport: Transport, recorder: Recorder): Promise<void> {
  await transport.send(ask(99));
  expect(recorder.messages.at(-1)).toEqual({ jsonrpc: '2.0', id: 99, result: {} });
}

describe('F35: endless bodies', () => {
  it('F35: an endless JSON body ends at the cap, its socket is closed, others live', async () => {
    const [transport, recorder] = await open('/endless-json', { limits: { maxBodyBytes: MIB } });
    const error = await failure(transport.send(call(1)));
    expect([error.code, error.message]).toEqual([
      'LIMIT_EXCEEDED',
      "The server's answer is over the limit of 1048576 bytes",
    ]);
    await until('the close', () => server.log[0]?.closed === true);
    await livesOn(transport, recorder);
  });

  it('F35: one endless event ends at the cap of an event', async () => {
    const [transport, recorder] = await open('/endless-event', { limits: { maxEventBytes: MIB } });
    await transport.send(call(1));
    await until('the loss', () => recorder.losses.length === 1);
    expect(recorder.losses.map(({ id, error }) => [id, error.code])).toEqual([[1, 'LIMIT_EXCEEDED']]);
    await until('the close', () => server.log[0]?.closed === true);
    await livesOn(transport, recorder);
  });

  it('F35: endless events end at the cap of a stream', async () => {
    const [transport, recorder] = await open('/endless-events', { limits: { maxStreamBytes: MIB } });
    await transport.send(call(1));
    await until('the loss', () => recorder.losses.length === 1);
    expect(recorder.losses.map(({ id, error }) => [id, error.code])).toEqual([[1, 'LIMIT_EXCEEDED']]);
    expect(recorder.messages.length).toBeLessThan(17);
    await until('the close', () => server.log[0]?.closed === true);
    await livesOn(transport, recorder);
  });

  it('F35: many small events on one stream are fine', async () => {
    const [transport, recorder] = await open('/many-events', { limits: { maxEventBytes: 4096 } });
    await transport.send(call(1));
    await until('the answer', () => recorder.messages.length === 5001);
    expect(recorder.messages.slice(0, 5000)).toEqual(Array.from({ length: 5000 }, (_, n) => note(n)));
    expect([recorder.messages[5000], recorder.losses]).toEqual([answerTo(1), []]);
  });
});

describe('F36 and F37: silence and trickles', () => {
  let proxy: HttpProxy;

  beforeEach(async () => {
    proxy = await startHttpProxy('127.0.0.1', Number(new URL(server.origin).port));
    cleanups.push(() => proxy.close());
  });

  it("F36: on a half-open line the caller's signal ends a request and its socket", async () => {
    const [transport, recorder] = await open('/mcp', { url: new URL('/mcp', proxy.origin) });
    await transport.send(call(1));
    proxy.freeze();
    const controller = new AbortController();
    const late = new PlugboardError('TIMEOUT', 'too late');
    const sent = failure(transport.send(call(2), { signal: controller.signal }));
    await until('the request', () => server.log.length === 2);
    controller.abort(late);
    expect(await sent).toBe(late);
    await until('the close', () => proxy.connections() === 0);
    proxy.thaw();
    expect(recorder.messages).toEqual([answerTo(1)]);
    await livesOn(transport, recorder);
  });

  it('F36: on a half-open line a notification does not wait for ever', async () => {
    const clock = new ManualClock();
    const [transport] = await open('/mcp', { url: new URL('/mcp', proxy.origin), clock });
    proxy.freeze();
    const sent = failure(transport.send({ jsonrpc: '2.0', method: 'notifications/progress' }));
    await until('the timer', () => clock.pending === 1);
    clock.advance(30_000);
    expect([(await sent).code, clock.pending]).toEqual(['TIMEOUT', 0]);
  });

  it('F36: a JSON body that stops ends by the idle limit', async () => {
    const clock = new ManualClock();
    const [transport, recorder] = await open('/slow-body', { clock });
    const sent = failure(transport.send(call(1)));
    await until('the body', () => clock.pending === 1);
    clock.advance(60_000);
    expect((await sent).code).toBe('TIMEOUT');
    await until('the close', () => server.log[0]?.closed === true);
    await livesOn(transport, recorder);
  });

  it('F36: a TLS handshake that never comes ends by the connect limit', async () => {
    const mute: Server = createServer(() => {});
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => mute.close());
    const address = mute.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const [transport] = await open('/mcp', {
      url: new URL(`https://127.0.0.1:${port}/mcp`),
      limits: { connectMs: 200 },
    });
    const error = await failure(transport.send(call(1)));
    expect([error.code, error.detail]).toEqual(['CONNECT_FAILED', { notSent: true }]);
  });

  it('F37: headers that come a byte at a time end by their own limit', async () => {
    const clock = new ManualClock();
    const [transport, recorder] = await open('/slow-headers', { clock });
    const sent = failure(transport.send(call(1)));
    await until('the first byte', () => clock.pending === 1);
    clock.advance(29_999);
    expect(clock.pending).toBe(1);
    clock.advance(1);
    expect((await sent).code).toBe('TIMEOUT');
    await until('the close', () => server.log[0]?.closed === true);
    await livesOn(transport, recorder);
  });

  it('F37: a request that is silent before its first byte, or on its stream, is not cut by us', async () => {
    const clock = new ManualClock();
    const [silent] = await open('/silent', { clock });
    const [events, recorder] = await open('/silent-events', { clock });
    const controller = new AbortController();
    const { signal } = controller;
    const sent = failure(silent.send(call(1), { signal }));
    await events.send(call(2), { signal });
    await until('both requests', () => server.log.length === 2);
    clock.advance(24 * 3600 * 1000);
    expect(server.log.map(({ closed }) => closed)).toEqual([false, false]);
    controller.abort();
    expect([(await sent).code, recorder.losses]).toEqual(['CANCELLED', []]);
    await until('the closes', () => server.log.every(({ closed }) => closed));
  });
});

describe('F38: broken streams', () => {
  it.each(['/reset-events', '/ends-early'])('F38: %s without event ids is lost at once', async (path) => {
    const [transport, recorder] = await open(path);
    await transport.send(call(1));
    await until('the loss', () => recorder.losses.length === 1);
    expect(recorder.messages).toEqual([note(1)]);
    expect(recorder.losses.map(({ id, error }) => [id, error.code])).toEqual([[1, 'CONNECTION_LOST']]);
    await livesOn(transport, recorder);
  });

  it.each(['/reset-before', '/half-body'])(
    'F38: %s fails the request at once, and may have been done',
    async (path) => {
      const [transport, recorder] = await open(path);
      const error = await failure(transport.send(call(1)));
      expect([error.code, error.detail]).toEqual(['CONNECTION_LOST', {}]);
      await livesOn(transport, recorder);
    },
  );

  // Protocol: 25-transports-21, 25-transports-38
  it('F38 F39: a legacy stream with event ids is resumed from the last one, and nothing comes twice', async () => {
    const [transport, recorder] = await open('/resumes');
    await transport.send(initialize);
    transport.negotiated('2025-11-25');
    await transport.send(call(1));
    await until('the answer', () => recorder.messages.length === 4);
    expect(recorder.messages.slice(1)).toEqual([note(1), note(2), answerTo(1)]);
    expect(server.log.slice(2).map(({ method, headers }) => [method, headers['last-event-id']])).toEqual([
      ['GET', 'e1'],
      ['GET', 'e7'],
    ]);
    expect(recorder.losses).toEqual([]);
  });

  // Protocol: 26-changelog-6
  it('F38: a modern stream is never resumed', async () => {
    const [transport, recorder] = await open('/resumes');
    transport.negotiated('2026-07-28');
    await transport.send(call(1));
    await until('the loss', () => recorder.losses.length === 1);
    expect(recorder.losses.map(({ id, error }) => [id, error.code])).toEqual([[1, 'CONNECTION_LOST']]);
    expect(server.log.map(({ method }) => method)).toEqual(['POST']);
  });

  it('F38: a stream that cannot be resumed is lost after a bounded number of tries', async () => {
    const [transport, recorder] = await open('/never-resumes', { limits: { maxResumes: 3 } });
    transport.negotiated('2025-11-25');
    await transport.send(call(1));
    await until('the loss', () => recorder.losses.length === 1);
    expect(recorder.losses.map(({ id, error }) => [id, error.code, error.detail])).toEqual([
      [1, 'CONNECTION_LOST', {}],
    ]);
    expect(server.log.filter(({ method }) => method === 'GET').length).toBe(3);
  });
});

describe('F38: the error of a lost answer', () => {
  it('F38: a server that is gone at the resume does not make its request look unsent', async () => {
    const [transport, recorder] = await open('/never-resumes', { limits: { maxResumes: 2 } });
    const proxy = await startHttpProxy('127.0.0.1', Number(new URL(server.origin).port));
    const [through, seen] = await open('/mcp', {
      url: new URL('/resumes-late', proxy.origin),
      limits: { maxResumes: 2 },
    });
    await through.send(call(1));
    await until('the first event', () => seen.messages.length === 1);
    await proxy.close();
    await until('the loss', () => seen.losses.length === 1);
    expect(seen.losses.map(({ id, error }) => [id, error.code, error.detail])).toEqual([
      [1, 'CONNECTION_LOST', {}],
    ]);
    await livesOn(transport, recorder);
  });
});

describe('F39 and F40: odd events', () => {
  it('F39: repeated events are delivered once, gaps and older ids do no harm', async () => {
    const [transport, recorder] = await open('/repeats');
    await transport.send(call(1));
    await until('the answer', () => recorder.messages.length === 5);
    expect(recorder.messages).toEqual([note(1), note(5), note(3), note('other'), answerTo(1)]);
  });

  it('F40: comments, keep-alives, a byte-order mark, CR, CRLF and characters split at every byte', async () => {
    const [transport, recorder] = await open('/odd-events');
    await transport.send(call(1));
    await until('the answer', () => recorder.messages.length === 2);
    expect(recorder.messages).toEqual([note('é'), { jsonrpc: '2.0', id: 1, result: {} }]);
    expect([recorder.losses, recorder.notices]).toEqual([[], []]);
  });

  it('F40: an event that is no JSON is noted and dropped', async () => {
    const [transport, recorder] = await open('/no-json-event');
    await transport.send(call(1));
    await until('the answer', () => recorder.messages.length === 1);
    expect(recorder.messages).toEqual([answerTo(1)]);
    expect(recorder.notices).toEqual([
      { level: 'warning', message: 'Dropped an event that is not a JSON-RPC message.' },
    ]);
  });
});

describe('F41: expired sessions', () => {
  it.each([
    ['/legacy', 404, -32001],
    ['/legacy-400', 400, -32000],
  ])('F41: %s: a session that the server forgot (%i) is distinguished', async (path, httpStatus, rpcCode) => {
    const [transport, recorder] = await open(path);
    await transport.send(initialize);
    await transport.send(ask(1));
    await transport.send(ask(2, 'test/forget'));
    const error = await failure(transport.send(call(3)));
    expect([error.code, error.detail]).toEqual([
      'CONNECTION_LOST',
      { httpStatus, rpcCode, sessionExpired: true, notSent: true },
    ]);
    expect(recorder.closes).toEqual([]);
  });

  it('F41: without a session a 404 is no expired one', async () => {
    const [transport] = await open('/nowhere');
    const error = await failure(transport.send(call(1)));
    expect([error.code, error.detail]).toEqual(['NOT_MCP', { httpStatus: 404 }]);
  });
});

describe('F42: access', () => {
  function counting(onChallenge: () => void = () => {}): [Credentials, Challenge[]] {
    const challenges: Challenge[] = [];
    let token = 'old';
    const credentials: Credentials = {
      headers: () => ({ Authorization: `Bearer ${token}` }),
      challenged: async (challenge) => {
        challenges.push(challenge);
        onChallenge();
        token = 'good';
      },
    };
    return [credentials, challenges];
  }

  // Protocol: 25-authorization-19, 25-authorization-51, 26-auth-discovery-8, 26-authorization-37
  it('F42: a challenge is handed on once and the request repeated with fresh headers', async () => {
    const [credentials, challenges] = counting();
    const [transport, recorder] = await open('/token', { credentials });
    await transport.send(call(1));
    expect(recorder.messages).toEqual([answerTo(1)]);
    expect(challenges).toEqual([
      { status: 401, wwwAuthenticate: 'Bearer realm="test"', refused: 'Bearer old' },
    ]);
    expect(server.log.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer good']);
  });

  it.each([
    ['/unauthorized', 401, 2],
    ['/scope', 403, 2],
    ['/forbidden', 403, 1],
  ])(
    'F42: %s for ever ends as NEEDS_AUTH after a bounded number of requests',
    async (path, httpStatus, requests) => {
      const [credentials, challenges] = counting();
      const [transport] = await open(path, { credentials });
      const error = await failure(transport.send(call(1)));
      expect([error.code, error.detail, server.log.length, challenges.length]).toEqual([
        'NEEDS_AUTH',
        { httpStatus },
        requests,
        requests - 1,
      ]);
    },
  );

  it('F42: without credentials a 401 is NEEDS_AUTH at once', async () => {
    const [transport] = await open('/unauthorized');
    const error = await failure(transport.send(call(1)));
    expect([error.code, server.log.length]).toEqual(['NEEDS_AUTH', 1]);
  });

  it('F42: a request rejects with the error of its credentials', async () => {
    const wanted = new PlugboardError('NEEDS_CLIENT_REGISTRATION', 'register first');
    const [credentials] = counting(() => {
      throw wanted;
    });
    const [transport] = await open('/unauthorized', { credentials });
    expect(await failure(transport.send(call(1)))).toBe(wanted);
  });
});

describe('F43: a server that asks for time', () => {
  it.each([
    ['/busy', { httpStatus: 429, retryAfterMs: 7_000 }],
    ['/down', { httpStatus: 503, retryAfterMs: 60_000 }],
    ['/broken', { httpStatus: 500 }],
  ])('F43: %s reports how long to wait and is not repeated by us', async (path, detail) => {
    const [transport] = await open(path, { clock: new ManualClock() });
    const error = await failure(transport.send(call(1)));
    expect([error.code, error.detail, server.log.length]).toEqual(['CONNECT_FAILED', detail, 1]);
  });
});

describe('F44: something else lives there', () => {
  it.each([
    ['/html', 'it answered with text/html', 200],
    ['/plain', 'it answered with text/plain', 200],
    ['/untyped', 'its answer has no type', 200],
    ['/nowhere', 'it answered HTTP 404', 404],
    ['/method', 'it answered HTTP 405', 405],
  ])('F44: %s does not speak MCP', async (path, because, httpStatus) => {
    const [transport] = await open(path);
    const error = await failure(transport.send(call(1)));
    expect([error.code, error.message, error.hint, error.detail]).toEqual([
      'NOT_MCP',
      `This url does not speak MCP: ${because} (${new URL(server.origin).host})`,
      'Check the path of the url, often /mcp or /sse; a sign-in page or proxy may be in between.',
      { httpStatus },
    ]);
  });
});

describe('F44: no HTTP at all', () => {
  it('F44: a port that answers with something else does not speak MCP', async () => {
    const [transport] = await open('/no-http');
    const error = await failure(transport.send(call(1)));
    expect([error.code, error.detail]).toEqual(['NOT_MCP', {}]);
  });
});

describe('F15: answers without bottom', () => {
  it('F15: JSON nested 200,000 deep is a typed error, as it is over stdio', async () => {
    const [transport, recorder] = await open('/deep');
    expect((await failure(transport.send(call(1)))).code).toBe('PROTOCOL_ERROR');
    await transport.send(ask(2));
    expect(recorder.messages).toEqual([{ jsonrpc: '2.0', id: 2, result: {} }]);
  });
});

describe('F45: compression', () => {
  it('F45: the cap counts what comes out of a gzip bomb', async () => {
    const [transport, recorder] = await open('/bomb', { limits: { maxBodyBytes: 8 * MIB } });
    expect((await failure(transport.send(call(1)))).code).toBe('LIMIT_EXCEEDED');
    await until('the close', () => server.log[0]?.closed === true);
    await livesOn(transport, recorder);
  });

  it.each(['/gzip', '/deflate', '/br'])('%s that was not asked for is understood', async (path) => {
    const [transport, recorder] = await open(path);
    await transport.send(call(1));
    expect(recorder.messages).toEqual([answerTo(1)]);
  });

  it.each(['/broken-gzip', '/zstd'])('%s fails that request only', async (path) => {
    const [transport, recorder] = await open(path);
    expect((await failure(transport.send(call(1)))).code).toBe('PROTOCOL_ERROR');
    expect(recorder.closes).toEqual([]);
  });
});

describe('F46 A5: redirects', () => {
  // Protocol: 25-authorization-57, 25-transports-42, 26-authorization-43
  it('POL-5, F46, A5: to another origin nothing leaves: no header, no body, no token', async () => {
    const elsewhere = await startHttpServer();
    cleanups.push(() => elsewhere.close());
    const credentials: Credentials = {
      headers: () => ({ authorization: 'Bearer secret', 'x-api-key': 'secret' }),
      challenged: () => Promise.reject(new Error('not asked')),
    };
    const [transport] = await open(`/redirect-away?to=${elsewhere.origin}/mcp?key=1`, { credentials });
    const error = await failure(transport.send(call(1)));
    expect([error.code, error.message, error.hint, error.detail]).toEqual([
      'EGRESS_REFUSED',
      `${new URL(server.origin).host} redirects to another origin, ${elsewhere.origin}`,
      `If you trust it, set the url of this server to ${elsewhere.origin}/mcp.`,
      { httpStatus: 307, permanent: true },
    ]);
    expect([elsewhere.log, await elsewhere.connections()]).toEqual([[], 0]);
  });

  it('F46: within the origin a 307 is followed with its method and body', async () => {
    const [transport, recorder] = await open('/redirect');
    await transport.send(call(1));
    expect(recorder.messages).toEqual([answerTo(1)]);
    expect(server.log.map(({ method, path, message }): unknown[] => [method, path, message])).toEqual([
      ['POST', '/redirect', call(1)],
      ['POST', '/mcp', call(1)],
    ]);
  });

  it.each([
    ['/redirect-loop', 6],
    ['/redirect-found', 1],
    ['/redirect-nowhere', 1],
  ])('F46: %s ends after a bounded number of requests', async (path, requests) => {
    const [transport] = await open(path);
    const error = await failure(transport.send(call(1)));
    expect([error.code, server.log.length]).toEqual(['CONNECT_FAILED', requests]);
  });
});

describe('nothing is left behind', () => {
  it('requests leave no listener on a signal that they share, and transports no socket', async () => {
    const { signal } = new AbortController();
    for (let cycle = 0; cycle < 30; cycle++) {
      const [transport] = await open('/events');
      await Promise.all([transport.send(call(1), { signal }), transport.send(call(2), { signal })]);
      await transport.close();
    }
    expect(getEventListeners(signal, 'abort').length).toBe(0);
    await until('no socket is left', async () => (await server.connections()) === 0);
  });

  it('a process that waits for a resumed answer stays until it comes', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'plugboard-http-'));
    cleanups.push(() => rm(dir, { recursive: true }));
    const outfile = join(dir, 'wait.cjs');
    const contents = `
      import { systemClock } from './src/lib/clock.ts';
      import { createHttpTransport } from './src/transport/http-transport.ts';
      const transport = createHttpTransport({ url: new URL(process.argv[2]), clock: systemClock });
      const message = (message) => {
        if (message.id === 1) transport.close().then(() => console.log('answered'));
      };
      transport.open({ message, lost: console.error, closed() {}, notice() {} })
        .then(() => transport.send(${JSON.stringify(call(1))}));`;
    await build({
      stdin: { contents, resolveDir: process.cwd() },
      outfile,
      bundle: true,
      platform: 'node',
      logLevel: 'error',
    });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile, `${server.origin}/resumes`]);
    expect(stdout).toBe('answered\n');
  });
});

describe('answers that come too late', () => {
  it('an answer after the abort is ignored, also when both are in one packet', async () => {
    const controller = new AbortController();
    const [transport] = await open('/many-events');
    const seen: JsonRpcMessage[] = [];
    const other = createHttpTransport({ url: new URL('/many-events', server.origin), clock: systemClock });
    cleanups.push(() => other.close());
    await other.open({
      message: (message) => {
        seen.push(message);
        controller.abort();
      },
      lost: () => seen.push(call(-1)),
      closed: () => {},
      notice: () => {},
    });
    await other.send(call(1), { signal: controller.signal });
    await until('the close', () => server.log[0]?.closed === true);
    await transport.send(ask(2));
    expect(seen).toEqual([note(0)]);
  });
});
