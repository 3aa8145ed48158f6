import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { legacySession, modern, post, send } from '../serve/bare-client.ts';
import { openStream } from '../serve/stream-client.ts';
import { BEARER, end, KEY, until, type World, worlds } from './replicas.ts';

const world = worlds();
const SLOW_MS = 60_000;

function call(id: number, name: string, text: string): object {
  return {
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: `work__${name}`, arguments: { id: text }, _meta: { progressToken: text } },
  };
}

function lines({ calls }: World): string[] {
  return existsSync(calls)
    ? readFileSync(calls, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
}

/** The text of the last message, or its error. */
function textOf({ messages }: { readonly messages: readonly Record<string, unknown>[] }): unknown {
  const { result, error } = (messages.at(-1) ?? {}) as {
    result?: { content?: { text?: string }[] };
    error?: { message?: string };
  };
  return result?.content?.[0]?.text ?? error?.message;
}

function resultOf([first = {}]: readonly Record<string, unknown>[]): unknown {
  return first['result'];
}

const ELICITS = { elicitation: { form: {} } };

describe('serve --cluster', { timeout: SLOW_MS }, () => {
  it('SRV-7: needs a key of 32 bytes, and a Redis that answers', async () => {
    const made = await world();
    await expect(made.start({ env: { PLUGBOARD_CLUSTER_KEY: '' } })).rejects.toThrow(
      '--cluster needs a key in PLUGBOARD_CLUSTER_KEY',
    );
    await expect(made.start({ env: { PLUGBOARD_CLUSTER_KEY: 'short' } })).rejects.toThrow(
      'The key in PLUGBOARD_CLUSTER_KEY is shorter than 32 bytes',
    );
    await end(made.redis);
    await expect(made.start()).rejects.toThrow('Cannot connect to Redis at redis://127.0.0.1');
  });

  it('SRV-7: a legacy session works on every replica, with streams, progress and questions', async () => {
    const made = await world();
    const [one, two] = [await made.start(), await made.start()];
    const session = await legacySession(one.url, '2025-11-25', ELICITS, BEARER);
    const local = await post(one.url, call(1, 'write', 'a'), session);
    const foreign = await post(two.url, call(2, 'write', 'b'), session);
    const stepped = await post(two.url, call(3, 'steps', 'c'), session);
    const asked = await openStream(two.url, session, call(4, 'ask', 'd'));
    const [question] = await asked.events(1);
    const answer = {
      jsonrpc: '2.0',
      id: question?.['id'],
      result: { action: 'accept', content: { color: 'red' } },
    };
    const accepted = await post(one.url, answer, session);
    const [, answered] = await asked.events(2);
    expect({
      calls: [local, foreign, stepped].map(textOf),
      progress: stepped.messages.filter(({ method }) => method === 'notifications/progress').length,
      accepted: accepted.status,
      answered: textOf({ messages: [answered ?? {}] }),
      lines: lines(made),
    }).toEqual({
      calls: ['written a', 'written b', 'stepped c'],
      progress: 2,
      accepted: 202,
      answered: 'accept red',
      lines: ['a', 'b'],
    });
  });

  it('A7: a session id is not valid for another principal, and a changed one not at all', async () => {
    const made = await world();
    const [one, two] = [
      await made.start(),
      await made.start({ env: { PLUGBOARD_TOKEN: 'another-token-of-another-client' } }),
    ];
    const session = await legacySession(one.url, '2025-11-25', {}, BEARER);
    const other = { ...session, authorization: 'Bearer another-token-of-another-client' };
    const { 'mcp-session-id': id = '' } = session;
    const changed = { ...session, 'mcp-session-id': `${id.slice(0, -2)}AA` };
    const statuses = [
      (await post(two.url, call(1, 'write', 'a'), other)).status,
      (await post(one.url, call(2, 'write', 'a'), changed)).status,
    ];
    expect({ statuses, lines: lines(made) }).toEqual({ statuses: [404, 404], lines: [] });
  });

  it('SRV-7: a session that is deleted on one replica is unknown on all', async () => {
    const made = await world();
    const [one, two] = [await made.start(), await made.start()];
    const session = await legacySession(one.url, '2025-11-25', {}, BEARER);
    const deleted = await send(two.url, 'DELETE', undefined, session);
    const after = [
      await post(one.url, call(1, 'write', 'a'), session),
      await post(two.url, call(2, 'write', 'b'), session),
    ];
    expect([deleted.status, ...after.map(({ status }) => status)]).toEqual([200, 404, 404]);
  });

  it('SRV-7: the retry of a modern call finds the replica that holds its question', async () => {
    const made = await world();
    const [one, two] = [await made.start(), await made.start()];
    const params = { name: 'work__ask', arguments: { id: 'x' } };
    const first = await modern(one.url, 1, 'tools/call', params, ELICITS, BEARER);
    const { requestState, inputRequests } = resultOf(first.messages) as {
      requestState: string;
      inputRequests: Record<string, unknown>;
    };
    const [key = ''] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: 'accept', content: { color: 'blue' } } };
    const second = await modern(
      two.url,
      2,
      'tools/call',
      { ...params, requestState, inputResponses },
      ELICITS,
      BEARER,
    );
    expect(textOf(second)).toBe('accept blue');
  });

  it('SRV-7, F68: after SIGKILL, only the running call fails, and its session continues on another replica', async () => {
    const made = await world();
    const [one, two, three] = [await made.start(), await made.start(), await made.start()];
    const session = await legacySession(one.url, '2025-11-25', {}, BEARER);
    const other = await legacySession(two.url, '2025-11-25', {}, BEARER);
    const held = post(two.url, call(1, 'hold', 'held'), session);
    await until(() => lines(made).includes('held'), 'the call');
    await end(one.process);
    const lost = await held;
    const undisturbed = await post(three.url, call(2, 'write', 'other'), other);
    const continued = await post(two.url, call(3, 'write', 'again'), session);
    const moved = await post(three.url, call(4, 'write', 'moved'), session);
    const notified = continued.messages.filter(
      ({ method }) => method === 'notifications/tools/list_changed',
    ).length;
    expect({
      lost: textOf(lost),
      texts: [undisturbed, continued, moved].map(textOf),
      notified,
      lines: lines(made),
    }).toEqual({
      lost: 'The replica that ran this request stopped before its answer. It may have run. Check before you send it again.',
      texts: ['written other', 'written again', 'written moved'],
      notified: 1,
      lines: ['held', 'other', 'again', 'moved'],
    });
  });

  it('SRV-7: SIGTERM hands sessions over while a running call ends', async () => {
    const made = await world();
    const [one, two] = [await made.start(), await made.start()];
    const session = await legacySession(one.url, '2025-11-25', {}, BEARER);
    const held = post(two.url, call(1, 'hold', 'held'), session);
    await until(() => lines(made).includes('held'), 'the call');
    one.process.kill('SIGTERM');
    const next = await post(two.url, call(2, 'write', 'next'), session);
    writeFileSync(`${made.calls}.held`, '');
    expect([textOf(next), textOf(await held)]).toEqual(['written next', 'held held']);
  });

  it('SRV-7, F68: calls go on without Redis, and sessions survive its restart with empty memory', async () => {
    const made = await world();
    const [one, two] = [await made.start(), await made.start()];
    const session = await legacySession(one.url, '2025-11-25', {}, BEARER);
    const ready = async (url: string): Promise<string> => {
      const response = await fetch(url.replace('/mcp', '/readyz'));
      return `${response.status} ${(await response.text()).split('\n')[1]?.split(';')[0] ?? ''}`;
    };
    await end(made.redis);
    const without = [
      await post(one.url, call(1, 'write', 'a'), session),
      await post(two.url, call(2, 'write', 'b'), session),
    ];
    await until(async () => (await ready(two.url)) === '200 redis: away', 'the loss of Redis');
    await made.startRedis();
    await until(
      async () => (await ready(one.url)) === '200 ' && (await ready(two.url)) === '200 ',
      'the recovery',
    );
    await until(async () => (await sessionsIn(made)) === 1, 'the record');
    await end(one.process);
    // A list is sent again if the link to the ended replica breaks under it; a write would be reported as lost.
    await post(two.url, { jsonrpc: '2.0', id: 4, method: 'tools/list', params: {} }, session);
    const after = await post(two.url, call(3, 'write', 'c'), session);
    expect([...without, after].map(textOf)).toEqual(['written a', 'written b', 'written c']);
  });

  it('SRV-7: keys are rotated by a rolling restart, without losing a session', async () => {
    const made = await world();
    const rotated = { env: { PLUGBOARD_CLUSTER_KEY: `${KEY}-new`, PLUGBOARD_CLUSTER_KEY_OLD: KEY } };
    const [one, two] = [await made.start(), await made.start(rotated)];
    const old = await legacySession(one.url, '2025-11-25', {}, BEARER);
    const young = await legacySession(two.url, '2025-11-25', {}, BEARER);
    const crossed = [
      await post(two.url, call(1, 'write', 'a'), old),
      await post(one.url, call(2, 'write', 'b'), young),
    ];
    const three = await made.start(rotated);
    await end(one.process, 'SIGTERM');
    const after = [
      await post(three.url, call(3, 'write', 'c'), old),
      await post(three.url, call(4, 'write', 'd'), young),
    ];
    expect([...crossed, ...after].map(textOf)).toEqual(['written a', 'written b', 'written c', 'written d']);
  });
});

describe('budgets of replicas', { timeout: SLOW_MS }, () => {
  async function limited(onLost: string): Promise<{ made: World; urls: string[] }> {
    const made = await world();
    const config = { budgets: [{ calls: 5, per: 'day', tool: 'write' }], cluster: { onLost } };
    const [one, two] = [await made.start({ config }), await made.start({ config })];
    return { made, urls: [one.url, two.url] };
  }

  async function calls(urls: readonly string[], count: number): Promise<unknown[]> {
    const params = (id: string): object => ({ name: 'work__write', arguments: { id } });
    const answers = await Promise.all(
      Array.from({ length: count }, (_, at) =>
        modern(urls[at % urls.length] ?? '', at, 'tools/call', { ...params(String(at)) }, {}, BEARER),
      ),
    );
    return answers.map(({ messages: [first = {}] }) => ('error' in first ? 'refused' : 'written'));
  }

  const written = (outcomes: readonly unknown[]): number =>
    outcomes.filter((outcome) => outcome === 'written').length;

  it('CAL-1: parallel calls on two replicas never exceed a budget', async () => {
    const { made, urls } = await limited('local');
    const outcomes = await calls(urls, 20);
    expect([written(outcomes), lines(made).length]).toEqual([5, 5]);
  });

  it('F68: while Redis is frozen, each replica has its share, or refuses; calls without a budget go on', async () => {
    for (const [onLost, expected] of [
      ['local', 6],
      ['refuse', 0],
    ] as const) {
      const { made, urls } = await limited(onLost);
      made.redis.kill('SIGSTOP');
      const outcomes = await calls(urls, 20);
      const params = { name: 'work__steps', arguments: { id: 'free' } };
      const free = await modern(urls[0] ?? '', 99, 'tools/call', params, {}, BEARER);
      made.redis.kill('SIGCONT');
      expect([written(outcomes), textOf(free)]).toEqual([expected, 'stepped free']);
    }
  });
});

/** The number of session records in Redis. */
async function sessionsIn(made: World): Promise<number> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(made.redisUrl);
  try {
    return (await redis.keys('*:session:*')).length;
  } finally {
    redis.disconnect();
  }
}
