import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HeadersRequest, HostOptions, ServerEntry } from '../../src/index.ts';
import { type HttpServer, startHttpServer } from '../fixtures/http-server.mjs';
import { failure } from '../world/failure.ts';

let server: HttpServer;
let home: string;
beforeAll(async () => {
  server = await startHttpServer();
  home = await mkdtemp(join(tmpdir(), 'plugboard-headers-'));
});
afterAll(async () => {
  await server.close();
  await rm(home, { recursive: true, force: true });
});

async function hostWith(headers: ServerEntry, more: HostOptions = {}): Promise<Host> {
  const env = { PATH: process.env['PATH'], PLUGBOARD_CREDENTIALS: 'file' };
  const approve = () => 'allow' as const;
  return createHost({ home, cwd: home, env, connect: 'none', approve, servers: { api: headers }, ...more });
}

it('headers of a function are asked for with each request, and once more after a 401', async () => {
  const asked: HeadersRequest[] = [];
  const url = `${server.origin}/token`;
  let token = 'old';
  await using host = await hostWith({
    url,
    headers: async (request) => {
      asked.push(request);
      if (request.refused) token = 'good';
      return { Authorization: `Bearer ${token}`, 'X-Trace': undefined };
    },
  });
  await host.connect('api');
  expect(asked.slice(0, 2)).toEqual([
    { server: 'api', url, refused: false },
    { server: 'api', url, refused: true },
  ]);
  const before = asked.length;
  await host.call('mcp__api__echo', {});
  expect(asked.slice(before)).toEqual([{ server: 'api', url, refused: false }]);
  // Whose list it is, only the function knows: nothing of it is kept for the next host.
  expect(await readdir(join(home, 'cache', 'tools')).catch(() => [])).toEqual([]);
});

it('a function that gives the same headers again is refused with its name, and one that throws with its reason', async () => {
  const url = `${server.origin}/token`;
  await using stuck = await hostWith({ url, headers: () => ({ authorization: 'Bearer bad-token' }) });
  expect((await failure(stuck.connect('api'))).toJSON()).toEqual({
    code: 'NEEDS_AUTH',
    server: 'api',
    message: 'The server "api" refused the credentials from the headers function of its entry (401)',
    hint: 'Put a valid value into the headers function of its entry.',
  });
  await using broken = await hostWith({
    url,
    headers: () => {
      throw new Error('the vault is sealed');
    },
  });
  expect(await failure(broken.connect('api'))).toMatchObject({
    code: 'AUTH_FAILED',
    message: 'The headers function of "api" failed: the vault is sealed',
  });
  await using odd = await hostWith({ url, headers: (() => 'Bearer x') as never });
  expect(await failure(odd.connect('api'))).toMatchObject({
    code: 'CONFIG_INVALID',
    message: 'The headers function of "api" did not return an object of strings',
  });
});

it('entries in code take undefined values and process.env, and no function goes to a file', async () => {
  const token: string | undefined = process.env['NOT_SET_ANYWHERE'];
  const entries: Record<string, ServerEntry> = {
    remote: {
      type: undefined,
      url: `${server.origin}/mcp`,
      headers: token === undefined ? undefined : { authorization: token },
      oauth: { clientId: token, scopes: undefined },
    },
    maybe: { url: `${server.origin}/mcp`, headers: { 'x-token': token } },
    local: { command: 'node', args: undefined, env: process.env },
    more: { command: 'node', env: { ...process.env, EXTRA: '1' }, cwd: undefined },
  };
  process.env['PLUGBOARD_TEST_TEXT'] = 'costs ${AMOUNT:?}';
  try {
    await using host = await hostWith({ url: `${server.origin}/mcp` }, { servers: entries });
    expect(host.problems()).toEqual([]);
    expect(host.servers().map(({ name }) => name)).toEqual(['remote', 'maybe', 'local', 'more']);
    await host.connect('maybe');
    expect(await failure(host.save('fn', { url: 'https://a.example', headers: () => ({}) }))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'The headers of "fn" are a function, which no file can hold',
    });
  } finally {
    delete process.env['PLUGBOARD_TEST_TEXT'];
  }
});
