/** SRV-1: legacy HTTP sessions go on in another gateway of the same home. */

import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TokenVerifier } from '../../src/endpoint/guard.ts';
import { listenHttp } from '../../src/endpoint/listen-http.ts';
import { SessionRecords, type SessionStorage } from '../../src/endpoint/session-records.ts';
import type { HostOptions } from '../../src/host/host-options.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Gateway } from '../../src/serve/gateway.ts';
import { type ServedHttp, type ServeHttpOptions, serveHttp } from '../../src/serve/index.ts';
import { openSessionFiles } from '../../src/serve/session-files.ts';
import { fakeClock, RpcError } from '../../src/testing/index.ts';
import { legacySession, post, send } from './bare-client.ts';
import { type SmallHost, smallHost } from './small-host.ts';
import { openStream } from './stream-client.ts';

const URI = 'test://watched';
const DAY_MS = 24 * 60 * 60 * 1000;
const CHANGED = ['tools', 'resources', 'prompts'].map((kind) => `notifications/${kind}/list_changed`);
const CALL = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'small__echo' } };

let home = '';
const opened: (() => unknown)[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'plugboard-sessions-'));
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  await rm(home, { recursive: true, force: true });
});

interface Running extends SmallHost {
  readonly url: string;
  /** Ends the gateway and its host. */
  stop(): Promise<void>;
}

async function run(
  listen: (small: SmallHost) => Promise<ServedHttp>,
  options: Partial<HostOptions> = {},
): Promise<Running> {
  const script = { tools: { echo: () => 'hi' }, capabilities: { tools: {}, resources: { subscribe: true } } };
  const small = await smallHost({ eras: 'legacy', ...script }, { home, ...options });
  small.server.on('resources/list', () => ({ resources: [{ uri: URI, name: 'watched' }] }));
  small.server.on('resources/subscribe', () => ({}));
  const served = await listen(small);
  const stop = async (): Promise<void> => {
    await served.close();
    await small.close();
  };
  opened.push(stop);
  return { ...small, url: served.url, stop };
}

const gateway = (options: ServeHttpOptions = {}): Promise<Running> =>
  run(({ host }) => serveHttp(host, { port: 0, ...options }));

const files = (): Promise<string[]> => readdir(join(home, 'sessions'));

/** A session of a gateway that has ended. */
async function leftSession(options: ServeHttpOptions = {}): Promise<Record<string, string>> {
  const first = await gateway(options);
  const auth = options.token === undefined ? undefined : { authorization: `Bearer ${options.token}` };
  const session = await legacySession(first.url, '2025-06-18', { elicitation: {} }, auth);
  await first.stop();
  return session;
}

const methods = (messages: readonly Record<string, unknown>[]): unknown[] =>
  messages.map(({ method, result, error }) => method ?? (result === undefined ? error : 'result'));

describe('a session of a gateway that ended', () => {
  it('SRV-1, F66: goes on in the next one: calls, streams, log level and subscriptions; lists are announced once', async () => {
    const first = await gateway();
    const session = await legacySession(first.url, '2025-06-18', { elicitation: {} });
    const ask = (method: string, params: object): object => ({ jsonrpc: '2.0', id: 1, method, params });
    await post(first.url, ask('logging/setLevel', { level: 'error' }), session);
    await post(first.url, ask('resources/subscribe', { uri: URI }), session);
    await first.stop();

    const next = await gateway();
    const called = await post(next.url, CALL, session);
    const again = await post(next.url, CALL, session);
    const stream = await openStream(next.url, { ...session, 'last-event-id': '99' });
    const heard = new Promise<void>((resolve) => next.host.on('log', () => resolve()));
    next.server.notify('notifications/message', { level: 'warning', data: 'not severe enough' });
    next.server.notify('notifications/message', { level: 'error', data: 'severe' });
    next.server.notify('notifications/resources/updated', { uri: URI });
    await heard;
    const events = await stream.events(2);
    stream.cut();
    expect({
      called: [called.status, methods(called.messages)],
      again: [again.status, methods(again.messages)],
      events: events.map(({ method, params }) => [method, params]),
    }).toEqual({
      called: [200, [...CHANGED, 'result']],
      again: [200, ['result']],
      events: [
        [
          'notifications/message',
          { level: 'error', logger: 'small', data: 'severe', _meta: { 'plugboard/server': 'small' } },
        ],
        ['notifications/resources/updated', { uri: URI }],
      ],
    });
  });

  it('SRV-1: subscribes again when a server that starts late lists the resource', async () => {
    const first = await gateway();
    const session = await legacySession(first.url);
    const subscribe = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } };
    await post(first.url, subscribe, session);
    await first.stop();
    const next = await gateway();
    next.server.on('resources/list', () => ({ resources: [] }));
    const refused = new Promise<void>((resolve) => {
      next.server.on('resources/subscribe', () => {
        resolve();
        throw new RpcError(-32002, 'not yet');
      });
    });
    await post(next.url, CALL, session);
    await refused;
    const subscribed = new Promise((resolve) => {
      next.server.on('resources/subscribe', ({ params }) => {
        resolve(params);
        return {};
      });
    });
    next.server.on('resources/list', () => ({ resources: [{ uri: URI, name: 'watched' }] }));
    next.server.notify('notifications/resources/list_changed');
    expect(await subscribed).toMatchObject({ uri: URI });
  });

  // Protocol: 25-elicitation-22, 26-elicitation-15
  it('SRV-1: keeps its client’s protocol version, name and capabilities; files are for their owner only', async () => {
    await leftSession();
    const [name = ''] = await files();
    const record = join(home, 'sessions', name);
    expect({
      record: JSON.parse(await readFile(record, 'utf8')),
      modes: await Promise.all(
        [record, join(home, 'sessions'), join(home, 'session-key')].map(
          async (path) => (await stat(path)).mode & 0o777,
        ),
      ),
    }).toEqual({
      record: {
        version: 1,
        principal: 'local',
        client: {
          protocolVersion: '2025-06-18',
          capabilities: { elicitation: {} },
          clientInfo: { name: 'bare', version: '1' },
          logLevel: 'info',
          subscriptions: [],
        },
      },
      modes: [0o600, 0o700, 0o600],
    });
  });

  // Protocol: 25-lifecycle-14b
  it('SRV-1: can be asked by a server in the next one', async () => {
    const session = await leftSession();
    const next = await gateway();
    next.server.on('tools/call', async ({ request }) => {
      const answer = await request('elicitation/create', {
        message: 'Really?',
        requestedSchema: { type: 'object', properties: {} },
      });
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    });
    const stream = await openStream(next.url, session, CALL);
    const asked = (await stream.events(4))[3];
    const answer = { jsonrpc: '2.0', id: asked?.['id'], result: { action: 'accept', content: {} } };
    expect((await post(next.url, answer, session)).status).toBe(202);
    expect((await stream.events(5))[4]).toMatchObject({
      id: 7,
      result: { content: [{ text: '{"action":"accept","content":{}}' }] },
    });
  });

  it('SRV-1: opens once, however many requests arrive at the same moment', async () => {
    const session = await leftSession();
    const next = await gateway();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(next.url, CALL, session)));
    const kinds = answers.map(({ messages }) => methods(messages).length).sort();
    expect([answers.map(({ status }) => status), kinds]).toEqual([
      Array.from({ length: 20 }, () => 200),
      [...Array.from({ length: 19 }, () => 1), 4],
    ]);
  });

  it('SRV-1: stays ended when its client ended it, in the same gateway and in the next', async () => {
    const session = await leftSession();
    const next = await gateway();
    const ended = await send(next.url, 'DELETE', undefined, session);
    const after = await Promise.all([
      post(next.url, CALL, session),
      send(next.url, 'DELETE', undefined, session),
      send(next.url, 'GET', undefined, session),
    ]);
    await next.stop();
    const last = await gateway();
    expect({
      ended: ended.status,
      after: after.map(({ status }) => status),
      next: (await post(last.url, CALL, session)).status,
      files: await files(),
    }).toEqual({ ended: 200, after: [404, 404, 404], next: 404, files: [] });
  });

  it('SRV-1: a call whose connection broke is answered with an error when its client comes back for it', async () => {
    const first = await gateway();
    const session = await legacySession(first.url);
    first.server.on('tools/call', async ({ progress }) => {
      progress(1);
      await new Promise(() => {});
    });
    const params = { name: 'small__echo', _meta: { progressToken: 1 } };
    const call = await openStream(first.url, session, { ...CALL, id: 'c-1', params });
    await call.events(1);
    const [last = ''] = call.ids();
    call.cut();
    await first.stop();
    const next = await gateway();
    const { status, messages } = await send(next.url, 'GET', undefined, {
      ...session,
      'last-event-id': last,
    });
    expect({ status, messages }).toEqual({
      status: 200,
      messages: [
        {
          jsonrpc: '2.0',
          id: 'c-1',
          error: expect.objectContaining({
            message: expect.stringContaining('The connection of this request ended before its answer'),
          }),
        },
      ],
    });
  });

  it('SRV-1: keepSessions: false leaves nothing on disk, and the next gateway does not find the session', async () => {
    const session = await leftSession({ keepSessions: false });
    const next = await gateway();
    expect((await post(next.url, CALL, session)).status).toBe(404);
    expect(await files()).toEqual([]);
  });
});

describe('ids and records that are not what they seem', () => {
  // Protocol: 25-elicitation-21, 25-transports-40, 25-transports-41
  it('A7: a forged, changed or shortened id is not known', async () => {
    const session = await leftSession();
    const id = session['mcp-session-id'] ?? '';
    const next = await gateway();
    const [nonce = '', seal = ''] = id.split('.');
    const other = (text: string): string =>
      text.startsWith('A') ? `B${text.slice(1)}` : `A${text.slice(1)}`;
    const forged = [
      'nobody',
      nonce,
      `${nonce}.`,
      `${other(nonce)}.${seal}`,
      `${nonce}.${other(seal)}`,
      `${nonce}.${seal.slice(0, -2)}`,
      `${nonce}.${seal}AA`,
      `../${nonce}.${seal}`,
    ];
    const statuses = await Promise.all(
      forged.map(async (each) => (await post(next.url, CALL, { ...session, 'mcp-session-id': each })).status),
    );
    expect(statuses).toEqual(forged.map(() => 404));
    expect((await post(next.url, CALL, session)).status).toBe(200);
  });

  it('A7: an id of another home is not known, although its record was copied', async () => {
    const session = await leftSession();
    const [name = ''] = await files();
    const text = await readFile(join(home, 'sessions', name), 'utf8');
    await rm(join(home, 'session-key'));
    const next = await gateway();
    await writeFile(join(home, 'sessions', name), text);
    expect((await post(next.url, CALL, session)).status).toBe(404);
  });

  it('A7: an id that was issued under another token is not known', async () => {
    const session = await leftSession({ token: 'the-first-token-of-this-home' });
    const next = await gateway({ token: 'another-token-of-this-home' });
    const now = { ...session, authorization: 'Bearer another-token-of-this-home' };
    const statuses = [(await post(next.url, CALL, session)).status, (await post(next.url, CALL, now)).status];
    expect(statuses).toEqual([401, 404]);
  });

  // Protocol: 25-elicitation-20, 26-elicitation-14
  it('A7: an id of another principal is not known, neither to read, nor to end, nor with its record renamed', async () => {
    const verifier: TokenVerifier = {
      principalOf: async (token) => token,
      metadataPath: '/none',
      metadata: {},
    };
    const storage = await openSessionFiles({ dir: home, run: join(home, 'run') }, systemClock);
    const start = (): Promise<Running> =>
      run(({ host }) => listenHttp(new Gateway(host), { port: 0, verifier, sessionStorage: storage }));
    const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` });
    const first = await start();
    const ada = await legacySession(first.url, '2025-06-18', {}, as('ada'));
    const [adas = ''] = await files();
    const bob = await legacySession(first.url, '2025-06-18', {}, as('bob'));
    const bobs = (await files()).find((name) => name !== adas) ?? '';
    await first.stop();
    const next = await start();
    const foreign = { ...ada, ...as('bob') };
    const statuses = await Promise.all([
      post(next.url, CALL, foreign),
      send(next.url, 'GET', undefined, foreign),
      send(next.url, 'DELETE', undefined, foreign),
    ]);
    await writeFile(join(home, 'sessions', bobs), await readFile(join(home, 'sessions', adas)));
    expect({
      foreign: statuses.map(({ status }) => status),
      renamed: (await post(next.url, CALL, bob)).status,
      own: (await post(next.url, CALL, ada)).status,
    }).toEqual({ foreign: [404, 404, 404], renamed: 404, own: 200 });
  });

  it.each([
    ['truncated', (file: string) => truncate(file, 40)],
    ['empty', (file: string) => truncate(file, 0)],
    [
      'of another version',
      (file: string) => writeFile(file, '{"version":0,"principal":"local","client":{}}'),
    ],
    ['without a client', (file: string) => writeFile(file, '{"version":1,"principal":"local"}')],
    [
      'of an unknown protocol version',
      async (file: string) =>
        writeFile(file, (await readFile(file, 'utf8')).replace('2025-06-18', '1999-01-01')),
    ],
  ])('SRV-1: a record that is %s is ignored: the client has to begin a new session', async (_, damage) => {
    const session = await leftSession();
    const [name = ''] = await files();
    await damage(join(home, 'sessions', name));
    const next = await gateway();
    expect((await post(next.url, CALL, session)).status).toBe(404);
    expect((await post(next.url, CALL, await legacySession(next.url))).status).toBe(200);
  });

  it('SRV-1: a damaged key ends the sessions that it sealed, and is replaced', async () => {
    const session = await leftSession();
    await writeFile(join(home, 'session-key'), 'short\n');
    const next = await gateway();
    expect((await post(next.url, CALL, session)).status).toBe(404);
    const fresh = await legacySession(next.url);
    await next.stop();
    expect((await post((await gateway()).url, CALL, fresh)).status).toBe(200);
  });
});

describe('the store', () => {
  it('SRV-1: a session works in memory when the disk is full', async () => {
    const full = (): Promise<never> =>
      Promise.reject(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
    const store = { read: full, write: full, touch: full, remove: full };
    const sessionStorage: SessionStorage = { store, key: Buffer.alloc(32, 1) };
    const { url } = await run(({ host }) => listenHttp(new Gateway(host), { port: 0, sessionStorage }));
    const session = await legacySession(url);
    const subscribe = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } };
    expect([
      (await post(url, subscribe, session)).messages,
      (await post(url, CALL, session)).status,
      (await send(url, 'DELETE', undefined, session)).status,
      (await post(url, CALL, session)).status,
    ]).toEqual([[{ jsonrpc: '2.0', id: 1, result: {} }], 200, 200, 404]);
  });

  it('SRV-1: a home that cannot be written keeps no client from being served', async () => {
    await writeFile(join(home, 'sessions'), 'a file where the folder should be');
    const { url } = await gateway();
    expect((await post(url, CALL, await legacySession(url))).status).toBe(200);
  });

  it('SRV-1: keeps records for seven days after their last use, and the newest thousand', async () => {
    const clock = fakeClock();
    const where = { dir: home, run: join(home, 'run') };
    const storage = await openSessionFiles(where, clock);
    const records = new SessionRecords(storage, () => '');
    const client = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: undefined,
      logLevel: 'info' as const,
      subscriptions: [],
    };
    const [used, unused] = [records.issueId('local'), records.issueId('local')];
    for (const id of [used, unused]) await records.save(id, 'local', client);
    await clock.advance(6 * DAY_MS);
    await records.touch(used);
    await clock.advance(2 * DAY_MS);
    const known = async (id: string): Promise<boolean> => (await records.load(id, 'local')) !== undefined;
    expect([await known(used), await known(unused)]).toEqual([true, false]);
    await openSessionFiles(where, clock);
    expect((await files()).length).toBe(1);
    const many = Array.from({ length: 1_100 }, () => records.issueId('local'));
    for (const id of many) {
      await clock.advance(1);
      await records.save(id, 'local', client);
    }
    await openSessionFiles(where, clock);
    expect([(await files()).length, await known(used), await known(many[1_099] ?? '')]).toEqual([
      1_000,
      false,
      true,
    ]);
  });
});
