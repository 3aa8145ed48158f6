/** Rules of the specification about tokens and registration that no other test shows. */

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { resourceIndicator } from '../../src/auth/stored-login.ts';
import { serveHttp } from '../../src/serve/index.ts';
import { startAuthServer } from '../fixtures/auth-server.mjs';
import { modern, post } from '../serve/bare-client.ts';
import { smallHost } from '../serve/small-host.ts';
import { failure } from '../world/failure.ts';
import { call, openLoginWorld } from '../world/login-world.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function setUp(): Promise<{
  as: Awaited<ReturnType<typeof startAuthServer>>;
  world: Awaited<ReturnType<typeof openLoginWorld>>;
}> {
  const [as, world] = [await startAuthServer(), await openLoginWorld()];
  closers.push(as.close, world.close);
  return { as, world };
}

/** A server on a port of its own; resolves to its address. */
async function listen(
  answer: (body: string, headers: IncomingHttpHeaders) => [number, unknown],
): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const [status, given] = answer(body, request.headers);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(given));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

// Protocol: 25-authorization-46, 25-authorization-50, 25-authorization-51, 25-authorization-52, 26-authorization-32,
// 26-authorization-36, 26-authorization-37, 26-authorization-38
it('a token is in the header of every request and in no address; the scheme of an address has no case', async () => {
  const { as, world } = await setUp();
  const url = as.url.replace('http:', 'HTTP:');
  const auth = world.auth({ url });
  await auth.login();
  expect([await call(auth, url), await call(auth, url)]).toEqual([200, 200]);
  const requests = as.log.filter(({ to, rpc }) => to === 'mcp' && rpc === 'tools/call');
  expect(requests.map(({ headers }) => headers['authorization']?.slice(0, 7))).toEqual([
    'Bearer ',
    'Bearer ',
  ]);
  const addresses = as.log.map(({ path, query }) => JSON.stringify([path, query]));
  expect([...as.secrets].filter((secret) => addresses.some((each) => each.includes(secret)))).toEqual([]);
});

// Protocol: 25-authorization-44, 25-authorization-45, 25-authorization-46, 25-authorization-47, 26-authorization-30,
// 26-authorization-31, 26-authorization-32, 26-authorization-33
it.each([
  ['HTTPS://MCP.Example.com', 'https://mcp.example.com'],
  ['https://mcp.example.com/', 'https://mcp.example.com'],
  ['https://mcp.example.com/team/mcp', 'https://mcp.example.com/team/mcp'],
  ['https://mcp.example.com/mcp/', 'https://mcp.example.com/mcp/'],
])('the resource of a token for %s is %s', (url, resource) => {
  expect(resourceIndicator(url)).toBe(resource);
});

// Protocol: 25-authorization-46, 26-authorization-32
it('the gateway accepts a Host in any case', async () => {
  const small = await smallHost({});
  const { url, close } = await serveHttp(small.host, { port: 0 });
  closers.push(small.close, close);
  const host = `LOCALHOST:${new URL(url).port}`;
  expect((await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' }, { host })).status).toBe(200);
});

// Protocol: 26-registration-19, 26-registration-20
it('a registration that is refused is an error that states it, and no browser opens', async () => {
  const { as, world } = await setUp();
  const refusing = await listen(() => [
    400,
    { error: 'invalid_redirect_uri', error_description: 'not a native app' },
  ]);
  as.rules['metadata'] = { registration_endpoint: `${refusing}/register` };
  const opened: string[] = [];
  const auth = world.auth({ url: as.url }, { openUrl: async (url) => void opened.push(url) });
  const error = await failure(auth.login());
  expect(error).toMatchObject({ code: 'NEEDS_CLIENT_REGISTRATION', hint: expect.stringMatching(/\S/) });
  expect(opened).toEqual([]);
});

// Protocol: 26-authorization-26
it('an error that comes with another issuer is neither shown nor used', async () => {
  const { as, world } = await setUp();
  Object.assign(as.rules, { denies: 'access_denied', issuerInAnswer: 'wrong' });
  const error = await failure(world.auth({ url: as.url }).login());
  expect(error.message).toContain('another authorization server');
  expect(JSON.stringify(error)).not.toContain('access_denied');
});

// Protocol: 25-authorization-59, 25-authorization-100, 25-elicitation-26, 26-auth-security-33, 26-authorization-45,
// 26-elicitation-19
it('the token of a client of the gateway reaches no server behind it', async () => {
  const seen: string[] = [];
  const upstream = await listen((body, headers) => {
    seen.push(JSON.stringify([headers, body]));
    const { id, method } = JSON.parse(body);
    const common = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    const tools = [{ name: 'echo', inputSchema: { type: 'object' } }];
    const results: Record<string, unknown> = {
      'server/discover': { ...common, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
      'tools/list': { ...common, tools },
      'tools/call': { resultType: 'complete', content: [{ type: 'text', text: 'done' }] },
    };
    return [200, { jsonrpc: '2.0', id, result: results[method] ?? {} }];
  });
  const servers = { far: { type: 'http', url: `${upstream}/mcp`, lifecycle: 'eager' } } as const;
  const small = await smallHost({}, { servers, replaceTransport: undefined });
  const { url, close } = await serveHttp(small.host, { port: 0, token: 'token-of-the-client' });
  closers.push(small.close, close);
  const authorization = 'Bearer token-of-the-client';
  const answer = await modern(url, 1, 'tools/call', { name: 'far__echo' }, {}, { authorization });
  expect(answer.messages[0]).toMatchObject({ result: { content: [{ text: 'done' }] } });
  expect(seen.length).toBeGreaterThanOrEqual(3);
  expect(seen.filter((each) => each.includes('token-of-the-client'))).toEqual([]);
});
