/** Tokens with names: what a running gateway does when one is added, revoked or expires. */

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  let ended = 0;
  let begin = (): void => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const small = await smallHost({
    tools: {
      wait: (_, { signal }) => {
        signal.addEventListener('abort', () => {
          ended += 1;
        });
        begin();
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
  const sse = send(url.replace('/mcp', '/sse'), 'GET', undefined, bearer(one)).then(
    () => 'ended',
    () => 'ended',
  );
  const call = modern(url, 1, 'tools/call', { name: 'small__wait' }, {}, bearer(one)).catch(
    () => 'broken off',
  );
  await begun;
  await revokeToken(home, 'one');
  expect([await streams[0], await sse, await call]).toEqual(['ended', 'ended', 'broken off']);
  await expect.poll(() => ended).toBe(1);
  const statuses = [(await post(url, PING, first)).status, (await post(url, PING, second)).status];
  expect([statuses, await Promise.race([streams[1], 'open'])]).toEqual([[401, 200], 'open']);
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
