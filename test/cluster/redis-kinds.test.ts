/** Every kind of Redis that `--cluster` accepts: TLS, users of its ACL, Sentinel and Redis Cluster. */

import { type ChildProcess, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RedisStore } from '../../src/cluster/redis-store.ts';
import { legacySession, post } from '../serve/bare-client.ts';
import {
  BEARER,
  end,
  freePort,
  type Replica,
  type ReplicaOptions,
  until,
  type World,
  worlds,
} from './replicas.ts';

const world = worlds();
const SLOW_MS = 120_000;
const tls = (name: string): string => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
const SLOTS = 16_384;

/** Starts a Redis; resolves when it answers. */
async function redisAt(made: World, port: number, ...args: readonly string[]): Promise<ChildProcess> {
  const child = made.program('redis-server', ['--port', String(port), '--bind', '127.0.0.1', ...args]);
  await until(() => ask(port, 'PING') !== '', `Redis at ${port}`);
  return child;
}

/** Runs one command with redis-cli, and returns its output; '' if Redis does not answer. */
function ask(port: number, ...command: readonly string[]): string {
  return spawnSync('redis-cli', ['-p', String(port), ...command], { encoding: 'utf8' }).stdout;
}

/** Returns the texts of two calls of one session, on both replicas, the second after the end of its owner. */
async function movedSession(made: World, options: ReplicaOptions = {}): Promise<unknown> {
  const [one, two] = [await made.start(options), await made.start(options)];
  const session = await legacySession(one.url, '2025-11-25', {}, BEARER);
  const forwarded = await written(two, session, 'a');
  await end(one.process, 'SIGTERM');
  return [forwarded, await written(two, session, 'b')];
}

async function written({ url }: Replica, session: Record<string, string>, id: string): Promise<unknown> {
  const params = { name: 'work__write', arguments: { id } };
  const { messages } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session);
  const { result } = (messages.at(-1) ?? {}) as { result?: { content?: { text?: string }[] } };
  return result?.content?.[0]?.text;
}

const MOVED = ['written a', 'written b'];

describe('kinds of Redis', { timeout: SLOW_MS }, () => {
  it('SRV-7: TLS, with the certificate checked', async () => {
    const made = await world();
    const port = await freePort();
    await redisAt(
      made,
      await freePort(),
      ...['--tls-port', String(port), '--tls-auth-clients', 'no', '--tls-ca-cert-file', tls('authority.pem')],
      ...['--tls-cert-file', tls('server.pem'), '--tls-key-file', tls('server-key.pem')],
    );
    made.redisUrl = `rediss://127.0.0.1:${port}`;
    await expect(made.start({ env: { NODE_EXTRA_CA_CERTS: '' } })).rejects.toThrow(
      /Cannot connect to Redis at rediss:\/\/127\.0\.0\.1:\d+: its certificate is not trusted/,
    );
    expect(await movedSession(made, { env: { NODE_EXTRA_CA_CERTS: tls('authority.pem') } })).toEqual(MOVED);
  });

  it('SRV-7: a user of the ACL that may use only the keys and channels of its prefix', async () => {
    const made = await world();
    const port = await freePort();
    const acl = join(made.folder, 'users.acl');
    writeFileSync(
      acl,
      'user default off\nuser board on >se:cret/1 ~{team}:* &{team}:* +@all -@dangerous +info\n',
    );
    made.program('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--aclfile', acl]);
    await until(() => ask(port, 'PING').includes('NOAUTH'), 'Redis');
    made.redisUrl = `redis://board:${encodeURIComponent('wrong')}@127.0.0.1:${port}/0?prefix=team`;
    await expect(made.start()).rejects.toThrow('the user or password was refused');
    made.redisUrl = `redis://board:${encodeURIComponent('se:cret/1')}@127.0.0.1:${port}/0?prefix=team`;
    expect(await movedSession(made)).toEqual(MOVED);
  });

  it('SRV-7: Sentinel, through the promotion of another Redis', async () => {
    const made = await world();
    const [first, second, sentinel] = [await freePort(), await freePort(), await freePort()];
    const master = await redisAt(made, first, '--save', '');
    await redisAt(made, second, '--save', '', '--replicaof', '127.0.0.1', String(first));
    await until(
      () => ask(second, 'INFO', 'replication').includes('master_link_status:up'),
      'the replication',
    );
    const file = join(made.folder, 'sentinel.conf');
    const lines = [
      `port ${sentinel}`,
      'bind 127.0.0.1',
      `sentinel monitor board 127.0.0.1 ${first} 1`,
      'sentinel down-after-milliseconds board 500',
      'sentinel failover-timeout board 2000',
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    made.program('redis-server', [file, '--sentinel']);
    await until(() => ask(sentinel, 'SENTINEL', 'replicas', 'board').includes(String(second)), 'Sentinel');
    made.redisUrl = `redis+sentinel://127.0.0.1:${sentinel}/board`;
    const [one, two] = [await made.start(), await made.start()];
    const session = await legacySession(one.url, '2025-11-25', {}, BEARER);
    await until(() => ask(second, 'KEYS', '*:session:*').includes('session'), 'the copy of the record');
    await end(master);
    await until(() => ask(second, 'INFO', 'replication').includes('role:master'), 'the promotion');
    const during = await written(two, session, 'a');
    await until(
      async () => !(await ready(one)).includes('away') && !(await ready(two)).includes('away'),
      'Redis',
    );
    await end(one.process, 'SIGTERM');
    expect([during, await written(two, session, 'b')]).toEqual(MOVED);
  });

  it('SRV-7: Redis Cluster, with all keys of a prefix in one slot', async () => {
    const made = await world();
    const ports = [await freePort(), await freePort(), await freePort()];
    for (const port of ports)
      await redisAt(
        made,
        port,
        ...['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`, '--save', ''],
        ...['--cluster-port', String(await freePort())],
      );
    const [first = 0, ...others] = ports;
    const share = Math.ceil(SLOTS / ports.length);
    for (const [at, port] of ports.entries())
      ask(
        port,
        'CLUSTER',
        'ADDSLOTSRANGE',
        String(at * share),
        String(Math.min((at + 1) * share, SLOTS) - 1),
      );
    for (const port of others) {
      const bus = /cluster-port\n(\d+)/.exec(ask(port, 'CONFIG', 'GET', 'cluster-port'))?.[1] ?? '';
      ask(first, 'CLUSTER', 'MEET', '127.0.0.1', String(port), bus);
    }
    await until(
      () => ports.every((port) => ask(port, 'CLUSTER', 'INFO').includes('cluster_state:ok')),
      'the slots',
    );
    made.redisUrl = `redis+cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}?prefix=many`;
    expect(await movedSession(made)).toEqual(MOVED);
    const holders = ports.filter((port) => ask(port, 'DBSIZE').trim() !== '0');
    expect(holders).toHaveLength(1);
  });

  it.each([
    ['http://127.0.0.1', '--cluster is not the URL of a Redis'],
    ['redis://127.0.0.1/0?prefx=a', '--cluster has the unknown parameter "prefx"'],
    ['redis://127.0.0.1/0?prefix={a}', 'The prefix of --cluster has characters that keys cannot have'],
    ['redis://127.0.0.1/zero', 'The database of --cluster is not a number'],
  ])('SRV-7: rejects %s', async (url, message) => {
    await expect(RedisStore.open(url)).rejects.toThrow(message);
  });
});

async function ready({ url }: Replica): Promise<string> {
  return (await fetch(url.replace('/mcp', '/readyz'))).text();
}
