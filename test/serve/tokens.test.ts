/** Tokens with names: what a running gateway does when one is added, revoked or expires. */

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseErrorResponse } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { type ServeHttpOptions, serveHttp } from '../../src/serve/index.ts';
import {
  addToken,
  adoptOldToken,
  readTokenFile,
  revokeToken,
  tokenFileOf,
} from '../../src/serve/token-file.ts';
import { fakeClock } from '../../src/testing/index.ts';
import { legacySession, modern, post, send } from './bare-client.ts';
import { smallHost } from './small-host.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const closers: (() => unknown)[] = [];
let home: ReturnType<typeof homeAt>;
beforeEach(() => {
  home = homeAt(mkdtempSync(join(tmpdir(), 'plugboard-tokens-')));
  closers.push(() => rmSync(home.dir, { recursive: true, force: true }));
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function add(name: string, expires?: number): Promise<string> {
  return (await addToken(home, name, { now: 0, expires })).token;
}

async function serve(options: ServeHttpOptions = {}): Promise<string> {
  const small = await smallHost({ tools: { echo: () => 'hi' } });
  const gateway = await serveHttp(small.host, { port: 0, tokensOf: home.dir, ...options });
  closers.push(small.close, gateway.close);
  return gateway.url;
}

// Protocol: 25-authorization-72, 26-auth-security-5
it('A31: stores only a hash, in a file for its owner only', async () => {
  const token = await add('laptop');
  const file = tokenFileOf(home);
  expect({
    isThere: readFileSync(file, 'utf8').includes(token),
    mode: statSync(file).mode & 0o777,
    stored: readTokenFile(file).tokens,
  }).toEqual({
    isThere: false,
    mode: 0o600,
    stored: [{ name: 'laptop', hash: expect.stringMatching(/^[0-9a-f]{64}$/), created: 0 }],
  });
  await expect(add('laptop')).rejects.toMatchObject({ code: 'USAGE' });
  for (const name of ['', '-x', 'a b', 'token', 'local', '../x', '__proto__', 'x'.repeat(65)])
    await expect(add(name)).rejects.toMatchObject({ code: 'USAGE' });
});

it("A31: accepts the name of the scheme in any case, for the caller's token and for named ones", async () => {
  const own = 'a token that the caller chose'.replaceAll(' ', '-');
  const [named, url] = [await add('one'), await serve({ token: own })];
  const status = async (authorization: string): Promise<number> =>
    (await post(url, PING, { authorization })).status;
  const schemes = ['Bearer', 'bearer', 'BEARER', 'Basic'];
  expect(
    await Promise.all(
      [own, named].map((token) => Promise.all(schemes.map((each) => status(`${each} ${token}`)))),
    ),
  ).toEqual([
    [200, 200, 200, 401],
    [200, 200, 200, 401],
  ]);
});

it('A31: accepts tokens that are added while it runs, and a revoked one at once no more', async () => {
  const [one, url] = [await add('one'), await serve()];
  const two = await add('two');
  const status = async (token: string): Promise<number> => (await post(url, PING, bearer(token))).status;
  const before = [
    await status(one),
    await status(two),
    await status('another'),
    (await post(url, PING)).status,
  ];
  await revokeToken(home, 'one');
  expect([before, await status(one), await status(two)]).toEqual([[200, 200, 401, 401], 401, 200]);
});

it('A31: ends open streams, sessions and running calls of a revoked token, and of no other', async () => {
  let [begun, ended] = [0, 0];
  const small = await smallHost({
    tools: {
      wait: (_, { signal, progress }) => {
        signal.addEventListener('abort', () => {
          ended += 1;
        });
        progress(1, 2, 'half');
        begun += 1;
        return new Promise(() => {});
      },
    },
  });
  const [one, two] = [await add('one'), await add('two')];
  const gateway = await serveHttp(small.host, { port: 0, tokensOf: home.dir, legacySse: true });
  closers.push(small.close, gateway.close);
  const { url } = gateway;
  const open = (token: string): Promise<Record<string, string>> =>
    legacySession(url, '2025-11-25', {}, bearer(token));
  const [first, second] = [await open(one), await open(two)];
  const stream = (session: Record<string, string>): Promise<string> =>
    send(url, 'GET', undefined, session).then(
      () => 'ended',
      () => 'ended',
    );
  const streams = [stream(first), stream(second)];
  const sse = fetch(url.replace('/mcp', '/sse'), { headers: bearer(one) }).then(async (answer) => {
    await answer.text();
    return 'ended';
  });
  const call = { name: 'small__wait' };
  const withProgress = { ...call, _meta: { progressToken: 'p' } };
  const asLegacy = (id: number, params: object): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params,
  });
  const calls = [
    modern(url, 1, 'tools/call', call, {}, bearer(one)),
    modern(url, 2, 'tools/call', withProgress, {}, bearer(one)),
    post(url, asLegacy(3, call), first),
    post(url, asLegacy(4, withProgress), first),
    post(url, asLegacy(5, call), { ...first, accept: 'application/json' }),
    post(url, [asLegacy(6, call), PING, asLegacy(7, call)], first),
  ];
  await expect.poll(() => begun).toBe(7);
  await revokeToken(home, 'one');
  const error = {
    code: -32603,
    message:
      'This client no longer has access. Its token was revoked or has expired, or its profile has changed.',
    data: { code: 'CANCELLED' },
  };
  const answers = (await Promise.all(calls)).map(({ status, messages }) => [
    status,
    messages.flatMap(({ id, error: sent }) => (id === undefined ? [] : [[id, sent]])),
  ]);
  expect(answers).toEqual([
    [200, [[1, error]]],
    [200, [[2, error]]],
    [200, [[3, error]]],
    [200, [[4, error]]],
    [200, [[5, error]]],
    [200, [6, 1, 7].map((id) => [id, error])],
  ]);
  expect([await streams[0], await sse]).toEqual(['ended', 'ended']);
  await expect.poll(() => ended).toBe(7);
  const statuses = [(await post(url, PING, first)).status, (await post(url, PING, second)).status];
  expect([statuses, await Promise.race([streams[1], 'open'])]).toEqual([[401, 200], 'open']);
});

it('A31: answers the running call of a revoked token over HTTP+SSE', async () => {
  const begun: string[] = [];
  const small = await smallHost({
    tools: {
      wait: () => {
        begun.push('call');
        return new Promise(() => {});
      },
    },
  });
  const token = await add('one');
  const gateway = await serveHttp(small.host, { port: 0, tokensOf: home.dir, legacySse: true });
  closers.push(small.close, gateway.close);
  const streamed = await fetch(new URL('/sse', gateway.url), { headers: bearer(token) });
  const reader = streamed.body?.pipeThrough(new TextDecoderStream()).getReader();
  const { value: first = '' } = (await reader?.read()) ?? {};
  const messages = new URL(/^data: (.+)$/m.exec(first)?.[1] ?? '', gateway.url).href;
  const params = {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'old', version: '1' },
  };
  const say = (message: object): Promise<unknown> =>
    fetch(messages, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(token) },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  await say({ id: 0, method: 'initialize', params });
  await say({ id: 1, method: 'tools/call', params: { name: 'small__wait' } });
  await expect.poll(() => begun).toEqual(['call']);
  await revokeToken(home, 'one');
  let rest = '';
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) rest += read.value;
  expect(rest).toContain('"id":1,"error":{"code":-32603,"message":"This client no longer has access.');
});

it('A31: refuses a token with a body in the form of OAuth errors, which the SDK parses', async () => {
  const url = await serve();
  const parsed = await parseErrorResponse(
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }),
  );
  expect([parsed.code, parsed.message]).toEqual([
    'invalid_token',
    expect.stringContaining('A token that calls tools is needed'),
  ]);
  const refused = await Promise.all([post(url, PING, bearer('wrong')), post(url, PING)]);
  expect(
    refused.map(({ status, headers, messages }) => [status, headers['www-authenticate'], messages]),
  ).toEqual(
    refused.map(() => [
      401,
      'Bearer',
      [{ error: 'invalid_token', error_description: expect.stringContaining('plugboard token add <name>') }],
    ]),
  );
});

it('A31: a new token of the same name does not continue the sessions of the revoked one', async () => {
  const [old, url] = [await add('one'), await serve()];
  const session = await legacySession(url, '2025-11-25', {}, bearer(old));
  await revokeToken(home, 'one');
  const renewed = { ...session, ...bearer(await add('one')) };
  expect((await post(url, PING, renewed)).status).toBe(404);
});

it('A31: the session of one token is unknown to another', async () => {
  const [one, two] = [await add('one'), await add('two')];
  const url = await serve();
  const session = await legacySession(url, '2025-11-25', {}, bearer(one));
  const stolen = { ...session, ...bearer(two) };
  const statuses = [
    (await post(url, PING, stolen)).status,
    (await send(url, 'DELETE', undefined, stolen)).status,
    (await post(url, PING, session)).status,
  ];
  expect(statuses).toEqual([404, 404, 200]);
});

it('A31: an expired token stops at its time, its open streams too', async () => {
  const clock = fakeClock();
  const token = await add('short', clock.now() + 60_000);
  const url = await serve({ clock });
  const session = await legacySession(url, '2025-11-25', {}, bearer(token));
  const stream = send(url, 'GET', undefined, session).then(
    () => 'ended',
    () => 'ended',
  );
  const before = (await post(url, PING, session)).status;
  await clock.advance(60_000);
  expect([before, await stream, (await post(url, PING, session)).status]).toEqual([200, 'ended', 401]);
});

it('A31: a token that was given to the gateway is refused once it is revoked, or if it was before', async () => {
  const token = await add('one');
  const url = await serve({ token, manage: false });
  const before = (await post(url, PING, bearer(token))).status;
  await revokeToken(home, 'one');
  expect([before, (await post(url, PING, bearer(token))).status]).toEqual([200, 401]);
  await expect(serve({ token, manage: false })).rejects.toMatchObject({ code: 'USAGE' });
});

it('A31: a file that cannot be read has no valid tokens', async () => {
  const token = await add('one', Date.now() + 60_000);
  const url = await serve();
  const file = tokenFileOf(home);
  const text = readFileSync(file, 'utf8');
  const statuses: number[] = [];
  for (const broken of ['{', text.replace(/"expires": "[^"]*"/, '"expires": "never"'), text]) {
    writeFileSync(file, broken);
    statuses.push((await post(url, PING, bearer(token))).status);
  }
  expect(statuses).toEqual([401, 401, 200]);
});

it('A31: management does not start with the token of MCP clients', async () => {
  const same = { token: 'one-token-for-both', manage: { token: 'one-token-for-both' } };
  await expect(serve(same)).rejects.toMatchObject({ code: 'USAGE' });
});

it('takes over the token of 0.1.0 once, and deletes its file when it is revoked', async () => {
  const file = join(home.dir, 'gateway-token');
  const token = 'GptT9ZamU8AuzP2S3iotNI_eSGyWUKOZsozhvP2odRE';
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  const adopted = [await adoptOldToken(home, 0), await adoptOldToken(home, 0)];
  const url = await serve();
  const before = (await post(url, PING, bearer(token))).status;
  await revokeToken(home, 'default');
  const after = (await post(url, PING, bearer(token))).status;
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  expect([adopted, before, after, await adoptOldToken(home, 0)]).toEqual([[true, false], 200, 401, false]);
});
