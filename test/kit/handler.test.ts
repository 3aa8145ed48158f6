/** A server of the kit inside other programs: as a function from request to response, and as middleware of Node. */

import { once } from 'node:events';
import { createServer, type Server as NodeServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { defineServer, http, tool, type WebOptions } from '../../src/kit/index.ts';
import { createGate } from '../../src/testing/index.ts';
import { deployable } from './deployable.ts';
import { BOTH_ERAS, bothEras, resultOf, WebClient } from './web-client.ts';

const URL_OF = 'http://localhost/mcp';
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(listener: RequestListener): Promise<string> {
  const server: NodeServer = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function mounted(options: WebOptions = {}): ReturnType<ReturnType<typeof deployable>['handler']> {
  const handler = deployable().handler(options);
  closers.push(() => handler.close());
  return handler;
}

/** Sends one request to a handler. */
function ask(
  handler: { readonly fetch: (request: Request) => Promise<Response> },
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  return handler.fetch(new Request(new URL(path, URL_OF), init));
}

it('KIT-4: a fetch handler serves both eras, with streams, sessions and questions', async () => {
  expect(await bothEras(URL_OF, mounted().fetch)).toEqual(BOTH_ERAS);
});

it('KIT-4: a handler of Node serves both eras, and passes on what is not its own', async () => {
  const handler = mounted({ path: '/api/mcp' });
  const url = await listen((request, response) =>
    handler.node(request, response, () => response.writeHead(418).end()),
  );
  expect(await bothEras(`${url}/api/mcp`)).toEqual(BOTH_ERAS);
  expect((await fetch(`${url}/other`)).status).toBe(418);
  const alone = await listen((request, response) => handler.node(request, response));
  expect((await fetch(`${alone}/other`)).status).toBe(404);
});

it('KIT-4: a body that was parsed before is taken as it is', async () => {
  const handler = mounted();
  const url = await listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      Object.assign(request, { body: text === '' ? undefined : JSON.parse(text) });
      setImmediate(() => handler.node(request, response));
    });
  });
  expect(await bothEras(`${url}/mcp`)).toEqual(BOTH_ERAS);
});

it('KIT-4: without sessions, legacy clients are served request by request', async () => {
  expect(await bothEras(URL_OF, mounted({ maxSessions: 0 }).fetch)).toEqual({
    ...BOTH_ERAS,
    hasSession: false,
  });
});

it('KIT-4: the limit of sessions closes the least recently used, and that of bodies answers 413', async () => {
  const handler = mounted({ maxSessions: 1, maxBodyBytes: 400 });
  const client = new WebClient(URL_OF, handler.fetch);
  const [first, second] = [await client.initialize(), await client.initialize()];
  const sessionOf = ({ headers }: typeof first): string => headers.get('mcp-session-id') ?? '';
  expect((await client.legacy('tools/list', {}, sessionOf(first))).status).toBe(404);
  expect((await client.legacy('tools/list', {}, sessionOf(second))).status).toBe(200);
  const large = { name: 'count', arguments: { to: 'x'.repeat(400) } };
  expect((await client.legacy('tools/call', large)).status).toBe(413);
  const url = await listen((request, response) => handler.node(request, response));
  expect((await new WebClient(`${url}/mcp`).legacy('tools/call', large)).status).toBe(413);
});

it('KIT-4: a client that disconnects cancels its modern call', async () => {
  const [begun, cancelled] = [createGate(), createGate()];
  const wait = tool({
    name: 'wait',
    run: async (_args, { signal, progress }) => {
      progress(1);
      begun.open();
      await once(signal, 'abort');
      cancelled.open();
    },
  });
  const handler = defineServer({ name: 'slow', tools: [wait] }).handler();
  closers.push(() => handler.close());
  const client = new WebClient(URL_OF, async (request) => {
    const response = await handler.fetch(request);
    await begun.opened;
    await response.body?.cancel();
    return new Response(null);
  });
  await client.modern('tools/call', { name: 'wait' });
  await cancelled.opened;
});

// Protocol: 25-transports-8, 26-http-2
it('A8: without a token only loopback names and configured hosts are served', async () => {
  const initialize = async (url: string, options: WebOptions): Promise<number> =>
    (await new WebClient(url, mounted(options).fetch).initialize()).status;
  expect(await initialize('http://127.0.0.1:8080/mcp', {})).toBe(200);
  expect(await initialize('http://evil.example/mcp', {})).toBe(403);
  expect(await initialize('https://mcp.example/mcp', { hosts: ['mcp.example'] })).toBe(200);
  expect(await initialize('https://mcp.example/mcp', { url: 'https://mcp.example/mcp' })).toBe(200);
  expect(await initialize('http://evil.example/mcp', { token: 'secret' })).toBe(401);
});

it('KIT-4: CORS admits the listed origins, with their preflights; others are refused', async () => {
  const handler = mounted({
    cors: { origins: ['https://app.example'] },
    routes: { '/v': () => new Response('1') },
  });
  const preflight = (origin: string): Promise<Response> =>
    ask(handler, '/mcp', {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'mcp-param-region',
      },
    });
  const allowed = await preflight('https://app.example');
  expect([allowed.status, Object.fromEntries(allowed.headers)]).toEqual([
    204,
    {
      'access-control-allow-headers': 'mcp-param-region',
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-origin': 'https://app.example',
      'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate',
      'access-control-max-age': '86400',
      vary: 'Origin',
    },
  ]);
  expect((await preflight('https://evil.example')).status).toBe(403);
  const opened = (origin: string): ReturnType<WebClient['initialize']> =>
    new WebClient(URL_OF, handler.fetch, { origin }).initialize();
  expect((await opened('https://app.example')).headers.get('access-control-allow-origin')).toBe(
    'https://app.example',
  );
  expect((await opened('https://evil.example')).status).toBe(403);
  const route = await ask(handler, '/v', { headers: { origin: 'https://app.example' } });
  expect([await route.text(), route.headers.get('access-control-allow-origin')]).toEqual([
    '1',
    'https://app.example',
  ]);
});

it('KIT-4: health and custom routes are served without a token, on every kind of server', async () => {
  const routes = {
    'GET /version': () => Response.json({ version: 3 }),
    'POST /echo': async (request: Request) => new Response(await request.text(), { status: 201 }),
    '/broken': () => Promise.reject(new Error('secret detail')),
  };
  const options = { token: 'secret', health: true, routes } as const;
  const handler = mounted(options);
  const node = await listen((request, response) => handler.node(request, response));
  const served = await deployable().serve(http({ ...options, port: 0, path: '/rpc' }));
  closers.push(() => served.close());
  expect(new URL(served.url).pathname).toBe('/rpc');
  for (const base of [node, new URL(served.url).origin]) {
    const got = async (path: string, init?: RequestInit): Promise<unknown> => {
      const response = await fetch(base + path, init);
      return [response.status, await response.text()];
    };
    expect(await got('/health')).toEqual([200, '{"status":"ok"}']);
    expect(await got('/version')).toEqual([200, '{"version":3}']);
    expect(await got('/echo', { method: 'POST', body: 'hi' })).toEqual([201, 'hi']);
    expect(await got('/broken')).toMatchObject([500, expect.not.stringContaining('secret')]);
    expect(await got('/echo')).toMatchObject([401, expect.any(String)]);
  }
  expect(await (await ask(handler, '/version')).json()).toEqual({ version: 3 });
  expect(await bothEras(served.url, fetch, { authorization: 'Bearer secret' })).toEqual(BOTH_ERAS);
});

it('KIT-4: close() lets a running call finish, and refuses new requests', async () => {
  const [begun, gate] = [createGate(), createGate()];
  const wait = tool({
    name: 'wait',
    run: async () => {
      begun.open();
      await gate.opened;
      return 'done';
    },
  });
  const handler = defineServer({ name: 'slow', tools: [wait] }).handler({ health: '/up' });
  const client = new WebClient(URL_OF, handler.fetch);
  const running = client.modern('tools/call', { name: 'wait' });
  await begun.opened;
  const closing = handler.close();
  expect((await client.modern('tools/list')).status).toBe(503);
  expect((await ask(handler, '/up')).status).toBe(503);
  gate.open();
  expect(resultOf(await running)['content']).toEqual([{ type: 'text', text: 'done' }]);
  await closing;
  await handler.closed;
});

it('KIT-4: options that cannot work are errors with a hint', () => {
  const bad: readonly WebOptions[] = [
    { path: 'mcp' },
    { url: 'example.com' },
    { cors: { origins: '*', credentials: true } },
    { routes: { 'get /x': () => new Response() } },
    { maxBodyBytes: -1 },
  ];
  for (const options of bad)
    expect(() => deployable().handler(options)).toThrow(expect.objectContaining({ code: 'USAGE' }));
});
