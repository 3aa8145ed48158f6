/** Logins that replicas share through a real Redis: sealed, copied from a home, renewed once. */

import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { ClusterKeys } from '../../src/cluster/cluster-keys.ts';
import { RedisCredentials } from '../../src/cluster/redis-credentials.ts';
import { RedisStore } from '../../src/cluster/redis-store.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import { type FakeClock, fakeClock } from '../../src/testing/fake-clock.ts';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { KEY, type World, worlds } from './replicas.ts';

const world = worlds();
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function credentials(made: World, local?: string, key = KEY): Promise<RedisCredentials> {
  const store = await RedisStore.open(made.redisUrl);
  opened.push(() => store.close());
  return new RedisCredentials(store, new ClusterKeys(key, undefined), async () => local);
}

function redis(made: World, ...command: readonly string[]): string {
  const port = new URL(made.redisUrl).port;
  return spawnSync('redis-cli', ['-p', port, ...command], { encoding: 'utf8' }).stdout.trim();
}

async function authServer(): Promise<AuthServer> {
  const server = await startAuthServer({ webRedirects: true });
  opened.push(() => server.close());
  return server;
}

async function hostOf(store: RedisCredentials, url: string, clock: FakeClock): Promise<Host> {
  const host = await createHost({
    home: false,
    configuration: false,
    env: {},
    connect: 'none',
    approve: () => 'allow',
    credentials: store,
    clock,
    servers: { docs: { url, lifecycle: 'keep-alive' } },
  });
  opened.push(() => host.close());
  return host;
}

const echo = async (host: Host): Promise<unknown> =>
  (await host.call('mcp__docs__echo', { text: 'a' })).content;

describe('logins of replicas', () => {
  it('SRV-7: a login of one replica is that of all, and its renewal happens once', async () => {
    const made = await world();
    const server = await authServer();
    const clock = fakeClock();
    const hosts = [
      await hostOf(await credentials(made), server.url, clock),
      await hostOf(await credentials(made), server.url, clock),
      await hostOf(await credentials(made), server.url, clock),
    ];
    const [first = hosts[0] as Host] = hosts;
    const { authorizationUrl } = await first.login('docs', { redirectUrl: 'https://app.example/callback' });
    const back = (await fetch(authorizationUrl, { redirect: 'manual' })).headers.get('location') ?? '';
    const answer = new URL(back).searchParams;
    const part = (name: string): string => answer.get(name) ?? '';
    await first.finishLogin('docs', { code: part('code'), state: part('state'), iss: part('iss') });
    const before = await Promise.all(hosts.map(echo));
    server.expire();
    const after = await Promise.all(hosts.map(echo));
    expect([...before, ...after]).toEqual(Array(6).fill([{ type: 'text', text: 'a' }]));
    expect(server.grants().filter((grant) => grant === 'refresh_token')).toHaveLength(1);
  });

  it('SRV-7: Redis has no value in the clear, and a value is not valid under another key or name', async () => {
    const made = await world();
    const store = await credentials(made);
    await store.set('login:a', 'a-secret-refresh-token');
    const dumped = redis(made, 'GET', '{plugboard}:credential:login:a');
    expect(dumped).not.toContain('secret');
    redis(made, 'SET', '{plugboard}:credential:login:b', dumped);
    redis(made, 'SET', '{plugboard}:credential:login:c', `${dumped.slice(0, -4)}AAAA`);
    const other = await credentials(made, undefined, `${KEY}-of-others`);
    expect([
      await store.get('login:a'),
      await store.get('login:b'),
      await store.get('login:c'),
      await other.get('login:a'),
    ]).toEqual(['a-secret-refresh-token', undefined, undefined, undefined]);
  });

  it('SRV-7: the login of a home is copied once, and not again after it was deleted', async () => {
    const made = await world();
    const [one, two] = [await credentials(made, 'from one'), await credentials(made, 'from two')];
    const first = await Promise.all([one.get('login:a'), two.get('login:a')]);
    await two.delete('login:a');
    expect([new Set(first).size, await one.get('login:a'), await two.get('login:a')]).toEqual([
      1,
      undefined,
      undefined,
    ]);
  });

  it('SRV-7: a replica that lost its lock does not replace the value of the next holder', async () => {
    const made = await world();
    const [one, two] = [await credentials(made), await credentials(made)];
    const stale = one.lock('lock:a', async () => {
      // As after a suspension that was longer than the lock.
      redis(made, 'DEL', '{plugboard}:lock:lock:a');
      await two.lock('lock:a', async () => two.set('login:a', 'newer'));
      await one.set('login:a', 'older');
    });
    await expect(stale).rejects.toThrow('the lock of login:a has expired');
    expect(await one.get('login:a')).toBe('newer');
  });
});
