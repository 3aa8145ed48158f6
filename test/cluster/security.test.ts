/** Attacks on a cluster: forged and foreign ids, peers without the key, and a Redis that an outsider reads or changes. */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { ClusterKeys } from '../../src/cluster/cluster-keys.ts';
import { FRAME, frameOf, withHead } from '../../src/cluster/link-frames.ts';
import { LINK_TLS, ReplicaLinks } from '../../src/cluster/replica-links.ts';
import { newReplicaId, SealedHandles } from '../../src/cluster/sealed-handles.ts';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { type Bare, legacySession, modern, post } from '../serve/bare-client.ts';
import { BEARER, end, KEY, type Replica, TOKEN, type World, worlds } from './replicas.ts';

const world = worlds();
const SLOW_MS = 120_000;
const DAY_MS = 86_400_000;
const OTHER_KEY = 'another-key-that-an-attacker-has-made-up';
const ELICITS = { elicitation: { form: {} } };
const opened: (() => unknown)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

type Headers = Record<string, string>;

function redisOf({ redisUrl }: World): Redis {
  const redis = new Redis(redisUrl);
  opened.push(() => redis.disconnect());
  return redis;
}

/** The addresses of replicas in Redis, by id. */
async function addresses(redis: Redis): Promise<ReadonlyMap<string, string>> {
  const all = Object.entries(await redis.hgetall('{plugboard}:replicas'));
  return new Map(all.map(([id, text]) => [id, (JSON.parse(text) as { address: string }).address]));
}

function write({ url }: Replica, headers: Headers, id = 'x'): Promise<Bare> {
  const params = { name: 'work__write', arguments: { id } };
  return post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers);
}

const textOf = ({ messages }: Bare): unknown =>
  (messages.at(-1) as { result?: { content?: { text?: string }[] } } | undefined)?.result?.content?.[0]?.text;

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const ADA = { authorization: 'Bearer the-token-of-ada' };
const BOB = { authorization: 'Bearer the-token-of-bob' };
const CLIENTS = { ada: { token: hashOf('the-token-of-ada') }, bob: { token: hashOf('the-token-of-bob') } };

describe('ids of clients', { timeout: SLOW_MS }, () => {
  it('A7: forged, foreign and replayed ids find nothing, on the replica that issued them and on others', async () => {
    const made = await world();
    const config = { clients: CLIENTS };
    const [one, two] = [await made.start({ config }), await made.start({ config })];
    const ada = await legacySession(one.url, '2025-11-25', ELICITS, ADA);
    const { 'mcp-session-id': id = '' } = ada;
    const attacker = new SealedHandles(new ClusterKeys(OTHER_KEY, undefined), newReplicaId(), fakeClock());
    const asked = await modern(
      one.url,
      1,
      'tools/call',
      { name: 'work__ask', arguments: { id: 'q' } },
      ELICITS,
      ADA,
    );
    const { requestState } = (asked.messages[0] as { result: { requestState: string } }).result;
    const flipped = `${id.slice(0, 30)}${id[30] === 'A' ? 'B' : 'A'}${id.slice(31)}`;
    const ids = [flipped, id.slice(0, -1), `${id}A`, '', '../x', 'A'.repeat(4_000), requestState];
    const forged = [...ids, attacker.issue('session', '["ada",""]')].filter((each) => each !== '');
    const statuses = new Set<number>();
    for (const replica of [one, two]) {
      for (const each of forged)
        statuses.add((await write(replica, { ...ada, 'mcp-session-id': each })).status);
      // Bob with the id of Ada's session, and with the state of her question.
      statuses.add((await write(replica, { ...ada, ...BOB })).status);
      const params = {
        name: 'work__ask',
        arguments: { id: 'q' },
        requestState,
        inputResponses: { a: { action: 'accept', content: { color: 'stolen' } } },
      };
      const stolen = await modern(replica.url, 2, 'tools/call', params, ELICITS, BOB);
      expect(JSON.stringify(stolen.messages)).not.toContain('stolen');
    }
    expect([...statuses]).toEqual([404]);
    expect(existsSync(made.calls)).toBe(false);
    expect(textOf(await write(two, ada, 'own'))).toBe('written own');
  });

  it('A7: an id expires after 30 days, also one that is kept in memory', async () => {
    const clock = fakeClock();
    const handles = new SealedHandles(new ClusterKeys(KEY, undefined), newReplicaId(), clock);
    const id = handles.issue('session', 'ada');
    const before = handles.replicaOf('session', id, 'ada');
    await clock.advance(31 * DAY_MS);
    expect([before, handles.replicaOf('session', id, 'ada')]).toEqual([expect.any(String), undefined]);
  });
});

describe('peers', { timeout: SLOW_MS }, () => {
  /** Connects as a replica would; false if the other side refuses. */
  async function accepted(address: string, identity: string, psk: Buffer): Promise<TLSSocket | false> {
    const [host = '', port] = address.split(':');
    const socket = connect({
      ...LINK_TLS,
      host,
      port: Number(port),
      pskCallback: () => ({ psk, identity }),
      checkServerIdentity: () => undefined,
    });
    opened.push(() => socket.destroy());
    socket.on('error', () => {});
    return new Promise((resolve) => {
      socket.once('secureConnect', () => resolve(socket));
      socket.once('close', () => resolve(false));
    });
  }

  it('A7: the inner address accepts only peers that have the key and mean this replica', async () => {
    const made = await world();
    const one = await made.start();
    const [[id = '', address = ''] = []] = await addresses(redisOf(made));
    const [right] = new ClusterKeys(KEY, undefined).linkKeys;
    const [wrong] = new ClusterKeys(OTHER_KEY, undefined).linkKeys;
    if (right === undefined || wrong === undefined) throw new Error('no keys');
    expect([
      await accepted(address, `${wrong.id}:${id}`, wrong.key),
      await accepted(address, `${right.id}:${id}`, wrong.key),
      await accepted(address, `${right.id}:${newReplicaId()}`, right.key),
      await accepted(address, '', right.key),
    ]).toEqual([false, false, false, false]);
    // Without TLS, and with a valid peer that sends garbage: the replica closes the connection and serves on.
    const plain = connectPlain(Number(address.split(':')[1]), '127.0.0.1').resume();
    plain.on('error', () => {});
    plain.write('POST /mcp HTTP/1.1\r\nhost: a\r\n\r\n');
    await once(plain, 'close');
    const garbage = await accepted(address, `${right.id}:${id}`, right.key);
    if (garbage === false) throw new Error('refused');
    garbage.resume().write(frameOf(FRAME.open, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 1])));
    await once(garbage, 'close');
    const odd = await accepted(address, `${right.id}:${id}`, right.key);
    if (odd === false) throw new Error('refused');
    odd.write(frameOf(FRAME.open, 1, withHead({ no: 'request' }, Buffer.from('x'))));
    await once(odd, 'data');
    const session = await legacySession(one.url, '2025-11-25', {}, BEARER);
    expect(textOf(await write(one, session))).toBe('written x');
  });

  it('A7: an address that an outsider wrote into Redis gets no request', async () => {
    let received = '';
    const rogue = createServer((socket) => {
      socket
        .on('error', () => {})
        .on('data', (chunk: Buffer) => {
          received += chunk.toString('latin1');
          socket.end('\u0015\u0003\u0003');
        });
    }).listen(0, '127.0.0.1');
    opened.push(() => rogue.close());
    await once(rogue, 'listening');
    const { port } = rogue.address() as AddressInfo;
    const links = new ReplicaLinks(new ClusterKeys(KEY, undefined));
    opened.push(() => links.close());
    const request = { method: 'POST', headers: {}, principal: 'ada', body: Buffer.from('a-secret-argument') };
    const outcome = await new Promise((resolve) => {
      const ended = (name: string) => () => resolve(name);
      links.send({ id: newReplicaId(), address: `127.0.0.1:${port}` }, request, {
        head: ended('head'),
        data: ended('data'),
        end: ended('end'),
        unsent: ended('unsent'),
        lost: ended('lost'),
      });
    });
    expect([outcome, received.includes('secret')]).toEqual(['unsent', false]);
    expect(received).not.toBe('');
  });
});

describe('Redis in the hands of others', { timeout: SLOW_MS }, () => {
  it('A7: has nothing readable about clients, calls and sessions', async () => {
    const made = await world();
    const one = await made.start();
    const session = await legacySession(one.url, '2025-11-25', {}, BEARER);
    await write(one, session, 'an-argument');
    const redis = redisOf(made);
    const keys = await redis.keys('*');
    const all: unknown[] = [];
    for (const key of keys)
      all.push(key, (await redis.type(key)) === 'hash' ? await redis.hgetall(key) : await redis.get(key));
    const text = JSON.stringify(all);
    const { 'mcp-session-id': id = '' } = session;
    expect(keys.some((key) => key.includes(':session:'))).toBe(true);
    for (const secret of [TOKEN, KEY, id, 'an-argument', '"bare"', 'work__write'])
      expect(text).not.toContain(secret);
  });

  it('A7: changed and exchanged records continue no session of another client', async () => {
    const made = await world();
    const config = { clients: CLIENTS };
    const [one, two] = [await made.start({ config }), await made.start({ config })];
    const ada = await legacySession(one.url, '2025-11-25', {}, ADA);
    const bob = await legacySession(one.url, '2025-11-25', {}, BOB);
    const third = await legacySession(one.url, '2025-11-25', {}, ADA);
    const redis = redisOf(made);
    const keyOf = ({ 'mcp-session-id': id = '' }: Headers): string => `{plugboard}:session:${hashOf(id)}`;
    await redis.hset(keyOf(ada), 'r', (await redis.hget(keyOf(bob), 'r')) ?? '');
    const record = (await redis.hget(keyOf(third), 'r')) ?? '';
    await redis.hset(
      keyOf(third),
      'r',
      `${record.slice(0, 40)}${record[40] === 'A' ? 'B' : 'A'}${record.slice(41)}`,
    );
    await redis.hset('{plugboard}:replicas', 'odd', 'not json');
    await redis.hset('{plugboard}:replicas', 'odder', '{"address":7,"keys":"all"}');
    await redis.publish('{plugboard}:replicas', '\u0000');
    await end(one.process);
    const statuses = [await write(two, ada), await write(two, third)].map(({ status }) => status);
    expect({ statuses, bob: textOf(await write(two, bob, 'own')) }).toEqual({
      statuses: [404, 404],
      bob: 'written own',
    });
  });
});
