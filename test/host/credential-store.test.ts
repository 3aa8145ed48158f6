/** A credential store or a server that fails or does not answer: every wait ends, and no failure is taken for a missing login. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toAnthropic } from '../../src/adapters/anthropic.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import type { CredentialStore, HostEvents, HostOptions } from '../../src/index.ts';
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { failure } from '../world/failure.ts';
import { SOON } from '../world/login-world.ts';

const REDIRECT = 'https://app.example/callback';
const RAW = 'connect ECONNREFUSED postgres://app:hunter2@db';

type Method = 'get' | 'set' | 'delete' | 'lock';

/** Rows in memory; each method can be made to fail, or never to answer. */
class Store implements CredentialStore {
  readonly rows = new Map<string, string>();
  readonly fails = new Set<Method>();
  readonly hangs = new Set<Method>();
  readonly asked: Method[] = [];

  async get(key: string): Promise<string | undefined> {
    await this.#ask('get');
    return this.rows.get(key);
  }

  async set(key: string, value: string): Promise<void> {
    await this.#ask('set');
    this.rows.set(key, value);
  }

  async delete(key: string): Promise<void> {
    await this.#ask('delete');
    this.rows.delete(key);
  }

  async lock<T>(_key: string, work: () => Promise<T>): Promise<T> {
    await this.#ask('lock');
    return work();
  }

  #ask(method: Method): Promise<void> {
    this.asked.push(method);
    if (this.hangs.has(method)) return new Promise(() => {});
    return this.fails.has(method) ? Promise.reject(new Error(RAW)) : Promise.resolve();
  }
}

let as: AuthServer;
let clock: FakeClock;
let store: Store;
const hosts: Host[] = [];
const logged: HostEvents['log'][] = [];

beforeEach(async () => {
  as = await startAuthServer({ webRedirects: true });
  clock = fakeClock();
  store = new Store();
  logged.length = 0;
});
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  await as.close();
});

async function hostOf(more: HostOptions = {}): Promise<Host> {
  const host = await createHost({
    home: false,
    configuration: false,
    env: {},
    connect: 'none',
    approve: () => 'allow',
    credentials: store,
    clock,
    log: (event) => logged.push(event),
    servers: { docs: { url: as.url, lifecycle: 'keep-alive' } },
    ...more,
  });
  hosts.push(host);
  return host;
}

async function answerOf(host: Host): Promise<{ code: string; state: string; iss: string }> {
  const { authorizationUrl } = await host.login('docs', { redirectUrl: REDIRECT });
  const back = (await fetch(authorizationUrl, { redirect: 'manual' })).headers.get('location') ?? '';
  const params = new URL(back).searchParams;
  return { code: params.get('code') ?? '', state: params.get('state') ?? '', iss: params.get('iss') ?? '' };
}

async function loggedIn(): Promise<Host> {
  const host = await hostOf();
  await host.finishLogin('docs', await answerOf(host));
  return host;
}

const echo = async (host: Host): Promise<unknown> =>
  (await host.call('mcp__docs__echo', { text: 'a' })).content;
const ECHOED = [{ type: 'text', text: 'a' }];
const status = (host: Host): string | undefined => host.servers()[0]?.status;

/** Lets time pass once the store was asked for this. */
async function passAfter(method: Method, count: number, ms: number): Promise<void> {
  await vi.waitFor(
    () => expect(store.asked.filter((each) => each === method).length).toBeGreaterThan(count),
    SOON,
  );
  await clock.advance(ms);
}

describe('a store that does not answer', () => {
  it('is not read by the creation of a host without a home', async () => {
    store.hangs.add('get');
    await hostOf();
    expect(store.asked).toEqual([]);
  });

  it('fails logins and calls after 10 s', async () => {
    store.hangs.add('get');
    const host = await hostOf();
    for (const work of [
      () => host.login('docs', { redirectUrl: REDIRECT }),
      () => host.connect('docs'),
      () => host.credentialPlace('docs'),
    ]) {
      const before = store.asked.length;
      const failing = failure(work());
      await passAfter('get', before, 10_000);
      expect(await failing).toMatchObject({
        code: 'STORE_FAILED',
        message: 'The credential store could not be read.',
        cause: 'no answer within 10 s',
      });
    }
    // It is tried again by itself.
    expect(['failed', 'connecting']).toContain(status(host));
  });

  it('fails the end of a login whose lock is not given, and the work is not done later', async () => {
    const host = await hostOf({ servers: { docs: { url: as.url, startupTimeoutMs: 3_000 } } });
    const answer = await answerOf(host);
    let give = (): void => {};
    const locked = vi.spyOn(store, 'lock').mockImplementation(async (_key, work) => {
      await new Promise<void>((resolve) => {
        give = resolve;
      });
      return work();
    });
    const failing = failure(host.finishLogin('docs', answer));
    await vi.waitFor(() => expect(locked).toHaveBeenCalled(), SOON);
    await clock.advance(3_000);
    expect(await failing).toMatchObject({
      code: 'TIMEOUT',
      message: 'The login to "docs" took longer than 3 s',
    });
    give();
    expect([...store.rows.keys()].some((key) => key.startsWith('login:'))).toBe(false);
  });

  it('keeps no one from closing the host', async () => {
    const host = await loggedIn();
    const answer = await answerOf(host);
    store.hangs.add('get').add('lock');
    const before = store.asked.length;
    const waiting = [
      failure(host.login('docs', { redirectUrl: REDIRECT })),
      failure(host.finishLogin('docs', answer)),
      failure(host.connect('docs')),
      failure(host.logout('docs')),
    ];
    await vi.waitFor(() => expect(store.asked.length).toBeGreaterThan(before + 1), SOON);
    await host.close();
    expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual(waiting.map(() => 'CANCELLED'));
  });
});

describe('a server that accepts and does not answer', () => {
  let silent: Server;
  beforeEach(async () => {
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    silent.closeAllConnections();
    silent.close();
  });

  it('ends a login after startupTimeoutMs, or with the host', async () => {
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`;
    const host = await hostOf({ servers: { docs: { url, startupTimeoutMs: 2_000 } } });
    const arrived = new Promise((resolve) => silent.once('request', resolve));
    const failing = failure(host.login('docs', { redirectUrl: REDIRECT }));
    await arrived;
    await clock.advance(2_000);
    expect(await failing).toMatchObject({ code: 'TIMEOUT', server: 'docs' });

    const again = new Promise((resolve) => silent.once('request', resolve));
    const begun = failure(host.login('docs', { redirectUrl: REDIRECT }));
    const local = failure(host.login('docs', { noBrowser: true }));
    await again;
    await host.close();
    expect((await Promise.all([begun, local])).map(({ code }) => code)).toEqual(['CANCELLED', 'CANCELLED']);
  });
});

describe('a store that fails', () => {
  it('is not mistaken for a missing login, and its message reaches the log and the cause only', async () => {
    const host = await loggedIn();
    store.fails.add('get');
    const error = await failure(host.connect('docs'));
    expect(error).toMatchObject({ code: 'STORE_FAILED', server: 'docs', cause: new Error(RAW) });
    expect(`${error.message} ${error.hint}`).not.toContain('hunter2');
    expect(status(host)).toBe('failed');
    expect(logged.some(({ message }) => message.includes('get(): Error: connect ECONNREFUSED'))).toBe(true);
    expect(await failure(host.login('docs', { redirectUrl: REDIRECT }))).toMatchObject({
      code: 'STORE_FAILED',
    });
    expect(await failure(host.logout('docs'))).toMatchObject({ code: 'STORE_FAILED' });
    store.fails.clear();
    await host.connect('docs');
    expect(await echo(host)).toEqual(ECHOED);
  });

  it('fails one call and not those after it, also if a renewed token could not be written before', async () => {
    const host = await loggedIn();
    expect(await echo(host)).toEqual(ECHOED);
    await clock.advance(3_600_000);
    store.fails.add('set');
    expect(await echo(host)).toEqual(ECHOED);
    store.fails.clear();
    await clock.advance(3_600_000);
    store.fails.add('get');
    expect(await failure(echo(host))).toMatchObject({ code: 'STORE_FAILED' });
    store.fails.clear();
    expect([await echo(host), status(host)]).toEqual([ECHOED, 'connected']);
  });

  it('and takes back what was written under its lock loses no login', async () => {
    const host = await loggedIn();
    expect(await echo(host)).toEqual(ECHOED);
    await clock.advance(3_600_000);
    const commit = vi.spyOn(store, 'lock').mockImplementation(async (_key, work) => {
      const before = new Map(store.rows);
      await work();
      for (const [key, value] of before) store.rows.set(key, value);
      throw new Error('could not serialize access');
    });
    expect(await echo(host)).toEqual(ECHOED);
    expect(logged.some(({ message }) => message.includes('could not be saved'))).toBe(true);
    commit.mockRestore();
    await clock.advance(3_600_000);
    expect([await echo(host), status(host)]).toEqual([ECHOED, 'connected']);
    const kept = [...store.rows.values()].map((value) => JSON.parse(value).tokens?.obtainedAt);
    expect(kept).toContain(clock.now());
  });

  it('stops no call while its token is valid', async () => {
    const host = await loggedIn();
    expect(await echo(host)).toEqual(ECHOED);
    for (const method of ['get', 'set', 'delete', 'lock'] as const) store.fails.add(method);
    expect(await echo(host)).toEqual(ECHOED);
  });

  it('or does not run the work of its lock fails the login', async () => {
    const host = await hostOf();
    vi.spyOn(store, 'lock').mockResolvedValue(undefined);
    expect(await failure(host.login('docs', { redirectUrl: REDIRECT }))).toMatchObject({
      code: 'STORE_FAILED',
      message: 'The lock of the credential store failed.',
      cause: 'it settled without running the work',
    });
  });
});

describe('a host that connects when it is needed', () => {
  it('connects the server of a call whose tools are not known, and reads logins of other processes', async () => {
    const host = await hostOf();
    expect(await failure(echo(host))).toMatchObject({ code: 'NEEDS_AUTH' });
    const requests = as.log.length;
    expect(await failure(echo(host))).toMatchObject({ code: 'NEEDS_AUTH' });
    expect(as.log.length).toBe(requests);
    await loggedIn();
    expect(await echo(host)).toEqual(ECHOED);
  });

  it('connects for calls of sessions and adapters too', async () => {
    await loggedIn();
    const session = (await hostOf()).session({ approve: () => 'allow' });
    expect((await session.call('docs__echo', { text: 'a' })).content).toEqual(ECHOED);
    const adapter = toAnthropic(await hostOf());
    const call = { type: 'tool_use', id: '1', name: 'mcp__docs__echo', input: { text: 'a' } } as const;
    expect(JSON.stringify(await adapter.execute(call))).toContain('"text":"a"');
  });

  it('does not connect a server for a session that may not use it', async () => {
    const host = await hostOf();
    const session = host.session({ tools: { servers: ['other'] } });
    expect(await failure(session.call('mcp__docs__echo', { text: 'a' }))).toMatchObject({
      code: 'UNKNOWN_TOOL',
    });
    expect([as.log.length, status(host)]).toEqual([0, 'idle']);
  });

  it('reports that a tool is unknown once the server is connected', async () => {
    const host = await loggedIn();
    expect(await failure(host.call('mcp__docs__nothing'))).toMatchObject({ code: 'UNKNOWN_TOOL' });
    expect(status(host)).toBe('connected');
  });
});

describe('a host whose user logs out in another process', () => {
  it('notices it with a call after a minute, and a store that hangs keeps that call waiting for a second', async () => {
    const [host, other] = [await loggedIn(), await hostOf()];
    expect(await echo(host)).toEqual(ECHOED);
    expect(await other.logout('docs')).toBe(true);
    expect(await echo(host)).toEqual(ECHOED);
    await clock.advance(60_000);
    store.hangs.add('get');
    const before = store.asked.filter((each) => each === 'get').length;
    const calls = [echo(host), echo(host)];
    await passAfter('get', before, 1_000);
    expect(await Promise.all(calls)).toEqual([ECHOED, ECHOED]);
    expect(store.asked.filter((each) => each === 'get')).toHaveLength(before + 1);
    store.hangs.clear();
    await clock.advance(60_000);
    expect(await failure(echo(host))).toMatchObject({ code: 'NEEDS_AUTH' });
    expect(status(host)).toBe('needs_auth');
  });
});
