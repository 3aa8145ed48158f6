/** Replicas that do not agree: a network that separates two of them, and clocks that differ. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bare, legacySession, modern, post } from '../serve/bare-client.ts';
import { BEARER, end, freePort, type Replica, until, type World, worlds } from './replicas.ts';

const world = worlds();
const SLOW_MS = 180_000;
const HOUR_MS = 3_600_000;
const SKEWED = fileURLToPath(new URL('../fixtures/skewed-clock.cjs', import.meta.url));
const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0).reverse()) close();
});

type Headers = Record<string, string>;

function write({ url }: Replica, session: Headers, id: string): Promise<Bare> {
  const params = { name: 'work__write', arguments: { id } };
  return post(url, { jsonrpc: '2.0', id, method: 'tools/call', params }, session);
}

const textOf = ({ messages }: Bare): unknown => {
  const { result, error } = (messages.at(-1) ?? {}) as {
    result?: { content?: { text?: string }[] };
    error?: { message?: string };
  };
  return result?.content?.[0]?.text ?? error?.message;
};

const linesOf = ({ calls }: World): readonly string[] =>
  existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];

function ip(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
}

interface Net {
  readonly gateway: string;
  readonly addresses: readonly [string, string];
  /** Runs a program in the network of a replica. */
  under(at: 0 | 1): readonly string[];
  split(): void;
  heal(): void;
}

/** Two networks, each with an address, that reach each other and this machine through a bridge. */
function network(): Net {
  const own = process.pid % 4_000;
  const subnet = `10.${64 + Math.floor(own / 250)}.${own % 250}`;
  const bridge = `pb${own}`;
  ip('link', 'add', bridge, 'type', 'bridge');
  opened.push(() => ip('link', 'del', bridge));
  ip('addr', 'add', `${subnet}.1/24`, 'dev', bridge);
  ip('link', 'set', bridge, 'up');
  for (const at of [0, 1]) {
    const [name, outer] = [`pb${own}n${at}`, `pb${own}v${at}`];
    ip('netns', 'add', name);
    opened.push(() => ip('netns', 'del', name));
    ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', outer, 'master', bridge, 'up');
    ip('-n', name, 'addr', 'add', `${subnet}.${at + 2}/24`, 'dev', 'eth0');
    ip('-n', name, 'link', 'set', 'eth0', 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
  }
  const route = (action: string): void => {
    for (const at of [0, 1])
      ip('-n', `pb${own}n${at}`, 'route', action, 'blackhole', `${subnet}.${3 - at}/32`);
  };
  return {
    gateway: `${subnet}.1`,
    addresses: [`${subnet}.2`, `${subnet}.3`],
    under: (at) => ['ip', 'netns', 'exec', `pb${own}n${at}`],
    split: () => route('add'),
    heal: () => route('del'),
  };
}

describe('replicas apart', { timeout: SLOW_MS }, () => {
  it('SRV-7, F68: a network that separates two replicas leaves each session in one place', async () => {
    const made = await world();
    const net = network();
    const port = await freePort();
    const args = ['--port', String(port), '--bind', net.gateway, '--protected-mode', 'no', '--save', ''];
    made.program('redis-server', args);
    const ping = (): string =>
      spawnSync('redis-cli', ['-h', net.gateway, '-p', String(port), 'PING'], { encoding: 'utf8' }).stdout;
    await until(() => ping().includes('PONG'), 'Redis');
    made.redisUrl = `redis://${net.gateway}:${port}`;
    const [one, two] = [
      await made.start({ host: net.addresses[0], under: net.under(0) }),
      await made.start({ host: net.addresses[1], under: net.under(1) }),
    ];
    const session = await legacySession(one.url, '2025-11-25', {}, BEARER);
    const before = textOf(await write(two, session, 'before'));
    net.split();
    // The first request may be on its way when the connection is found to be dead; later ones are refused.
    const lost = await write(two, session, 'lost');
    const refused = await write(two, session, 'refused');
    const owner = textOf(await write(one, session, 'owner'));
    const other = await legacySession(two.url, '2025-11-25', {}, BEARER);
    const own = textOf(await write(two, other, 'own'));
    net.heal();
    await until(async () => textOf(await write(two, session, 'after')) === 'written after', 'the recovery');
    expect({ before, lost: textOf(lost), refused: refused.status, owner, own }).toEqual({
      before: 'written before',
      lost: 'The replica that ran this request stopped before its answer. It may have run. Check before you send it again.',
      refused: 503,
      owner: 'written owner',
      own: 'written own',
    });
    expect(refused.headers['retry-after']).toBe('1');
    expect(linesOf(made)).toEqual(['before', 'owner', 'own', 'after']);
  });

  it('SRV-7, F68: clocks that differ by hours change neither sessions nor budgets nor leases', async () => {
    const made = await world();
    const config = { budgets: [{ calls: 5, per: 'day', tool: 'steps' }] };
    const skewed = (ms: number): Promise<Replica> =>
      made.start({ config, env: { NODE_OPTIONS: `--require ${SKEWED}`, TEST_SKEW_MS: String(ms) } });
    const replicas = [await skewed(-3 * HOUR_MS), await skewed(0), await skewed(3 * HOUR_MS)];
    const [past, , future] = replicas as [Replica, Replica, Replica];
    const sessions = [
      await legacySession(past.url, '2025-11-25', {}, BEARER),
      await legacySession(future.url, '2025-11-25', {}, BEARER),
    ];
    const texts: unknown[] = [];
    for (const [at, session] of sessions.entries())
      for (const [place, replica] of replicas.entries())
        texts.push(textOf(await write(replica, session, `${at}${place}`)));
    const limited = await Promise.all(
      Array.from({ length: 12 }, (_, at) => {
        const params = { name: 'work__steps', arguments: { id: 'a' } };
        return modern(replicas[at % 3]?.url ?? '', at, 'tools/call', params, {}, BEARER);
      }),
    );
    await end(past.process);
    const [first = {}] = sessions;
    texts.push(textOf(await write(future, first, 'moved')));
    expect({
      texts,
      allowed: limited.filter((answer) => textOf(answer) === 'stepped a').length,
    }).toEqual({
      texts: ['00', '01', '02', '10', '11', '12', 'moved'].map((id) => `written ${id}`),
      allowed: 5,
    });
  });
});
