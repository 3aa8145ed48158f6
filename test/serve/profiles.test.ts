/** Clients of the gateway and their profiles: how each is recognised, what it has, and what happens when that changes. */

import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { type ServeHttpOptions, serveHttp } from '../../src/serve/index.ts';
import { addToken, hashOf, revokeToken } from '../../src/serve/token-file.ts';
import { type ProfiledWorld, profiledWorld } from '../world/profiled-world.ts';
import { type Bare, legacySession, modern, post, send } from './bare-client.ts';
import { LineClient, MODERN } from './line-client.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const SCRIPTS = {
  git: { tools: { status: () => 'clean', log: () => 'first', push: () => 'pushed' } },
  files: { tools: { read: () => 'text', write: () => 'written' } },
  shell: { tools: { run: () => 'ran' } },
};

const PROFILES = {
  reader: { servers: ['git', 'files'], tools: ['*__status', '*__log', 'files__read'] },
  historian: { extends: 'reader', tools: ['git__*', 'shell__*'] },
  coder: { servers: ['git', 'files'], rules: { deny: ['git__push'], ask: ['files__write'] } },
};

async function world(config: object = {}, more = {}): Promise<ProfiledWorld> {
  const made = await profiledWorld(SCRIPTS, { profiles: PROFILES, ...config }, more);
  closers.push(made.close);
  return made;
}

async function served({ host, home }: ProfiledWorld, options: ServeHttpOptions = {}): Promise<string> {
  const gateway = await serveHttp(host, { port: 0, tokensOf: home.dir, ...options });
  closers.push(gateway.close);
  return gateway.url;
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function add({ home }: ProfiledWorld, name: string, profile?: string): Promise<string> {
  return (await addToken(home, name, { now: 0, profile })).token;
}

function names(answer: Bare): unknown {
  const { tools } = (answer.messages[0]?.['result'] ?? {}) as { tools?: { name: string }[] };
  return tools?.map(({ name }) => name) ?? answer.status;
}

async function listed(url: string, token?: string): Promise<unknown> {
  return names(await modern(url, 1, 'tools/list', {}, {}, token === undefined ? {} : bearer(token)));
}

const EVERYTHING = ['files__read', 'files__write', 'git__log', 'git__push', 'git__status', 'shell__run'];
const READER = ['files__read', 'git__log', 'git__status'];

describe('SRV-8: profiles', () => {
  it('gives each token the tools of its profile, and everything without one', async () => {
    const made = await world();
    const url = await served(made);
    const tokens = await Promise.all(
      [undefined, 'reader', 'historian', 'coder'].map((profile) => add(made, profile ?? 'all', profile)),
    );
    const lists = await Promise.all(tokens.map((token) => listed(url, token)));
    expect(lists).toEqual([
      EVERYTHING,
      READER,
      ['git__log', 'git__status'],
      ['files__read', 'files__write', 'git__log', 'git__push', 'git__status'],
    ]);
  });

  it('serves each profile at its address, and refuses a token of another profile there', async () => {
    const made = await world();
    const url = await served(made);
    const [all, reader] = [await add(made, 'all'), await add(made, 'reader', 'reader')];
    const at = (path: string, token: string): Promise<unknown> => listed(`${url}${path}`, token);
    expect([
      await at('/reader', all),
      await at('/reader', reader),
      await at('/coder', reader),
      await at('/unknown', reader),
      await at('/unknown', all),
      await at('/', all),
    ]).toEqual([READER, READER, 403, 403, 404, 404]);
  });

  it('keeps sessions of one profile apart from those of another, for the same token', async () => {
    const made = await world();
    const url = await served(made);
    const all = await add(made, 'all');
    const session = await legacySession(`${url}/reader`, '2025-11-25', {}, bearer(all));
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const [own, other] = [await post(`${url}/reader`, list, session), await post(url, list, session)];
    expect([names(own), other.status]).toEqual([READER, 404]);
  });

  it('keeps the profile of a presented token where none is needed, and refuses an invalid one', async () => {
    const made = await world({
      clients: { ci: { token: hashOf('secret-of-ci'), profile: 'historian' } },
    });
    const url = await served(made, { tokenOptional: true });
    const [reader, revoked] = [await add(made, 'reader', 'reader'), await add(made, 'old', 'reader')];
    const { token: expired } = await addToken(made.home, 'expired', { now: 0, expires: 1 });
    await revokeToken(made.home, 'old');
    const basic = await modern(url, 1, 'tools/list', {}, {}, { authorization: 'Basic bWU6eA==' });
    expect([
      await listed(url),
      await listed(url, reader),
      await listed(url, 'secret-of-ci'),
      await listed(url, revoked),
      await listed(url, expired),
      await listed(url, 'unknown'),
      basic.status,
    ]).toEqual([EVERYTHING, READER, ['git__log', 'git__status'], 401, 401, 401, 401]);
  });

  it('recognises a client of the configuration by the hash of its token', async () => {
    const made = await world({ clients: { ci: { token: hashOf('secret-of-ci'), profile: 'reader' } } });
    expect(await listed(await served(made), 'secret-of-ci')).toEqual(READER);
  });

  it.each(['2025-06-18', MODERN])('serves only one profile over stdio to a client of %s', async (version) => {
    const { host } = await world();
    const client = new LineClient(host, version, {}, () => ({}), { profile: 'reader' });
    closers.push(() => client.leave());
    await client.open();
    const { tools } = (await client.request('tools/list')) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(READER);
  });

  it('gives the local user the profile of the client that is local', async () => {
    const { host } = await world({ clients: { me: { local: true, profile: 'reader' } } });
    const client = new LineClient(host, MODERN, {}, () => ({}));
    closers.push(() => client.leave());
    const { tools } = (await client.request('tools/list')) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(READER);
  });

  it('refuses a profile that cannot be used over stdio, without its reason', async () => {
    const { host } = await world();
    const client = new LineClient(host, MODERN, {}, () => ({}), { profile: 'raeder' });
    closers.push(() => client.leave());
    await expect(client.request('tools/list')).rejects.toMatchObject({
      message: expect.not.stringContaining('reader'),
    });
  });

  it('applies the rules of a profile to its own clients only', async () => {
    const made = await world({
      profiles: { ...PROFILES, strict: { approvals: 'enforce', rules: { allow: ['git__status'] } } },
    });
    const url = await served(made);
    const [all, coder, strict] = [
      await add(made, 'all'),
      await add(made, 'coder', 'coder'),
      await add(made, 'strict', 'strict'),
    ];
    const called = async (name: string, token: string): Promise<unknown> => {
      const { messages } = await modern(url, 1, 'tools/call', { name }, {}, bearer(token));
      const { isError, _meta } = (messages[0]?.['result'] ?? {}) as { isError?: boolean; _meta?: object };
      return isError ? Reflect.get(_meta ?? {}, 'plugboard/code') : 'ok';
    };
    expect([
      await called('git__push', all),
      await called('git__push', coder),
      await called('files__write', coder),
      await called('git__status', strict),
      await called('git__log', strict),
    ]).toEqual(['ok', 'DENIED', 'APPROVAL_REQUIRED', 'ok', 'APPROVAL_REQUIRED']);
  });

  it.each(['2025-06-18', MODERN])(
    'asks through a client of %s without the text of a rule',
    async (version) => {
      const { host } = await world({
        profiles: { ...PROFILES, careful: { servers: ['files'], rules: { ask: ['{files,shell}__write'] } } },
      });
      const asked: unknown[] = [];
      const client = new LineClient(
        host,
        version,
        { elicitation: {} },
        (_method, { message }) => {
          asked.push(message);
          return { action: 'accept', content: { answer: 'Deny' } };
        },
        { profile: 'careful' },
      );
      closers.push(() => client.leave());
      await client.open();
      await client.request('tools/call', { name: 'files__write', arguments: {} });
      expect(asked).toEqual([
        expect.stringContaining('It is asked because a rule of its configuration requires approval.'),
      ]);
    },
  );

  it('POL-9: counts the budgets of a profile for each of its clients, also under parallel calls', async () => {
    const budgets = [
      { calls: 40, per: 'day' },
      { calls: 1, per: 'day', tool: 'git__log' },
    ];
    const made = await world({ profiles: { ...PROFILES, limited: { extends: 'reader', budgets } } });
    const url = await served(made);
    const [one, two] = [await add(made, 'one', 'limited'), await add(made, 'two', 'limited')];
    const session = await legacySession(url, '2025-11-25', {}, bearer(one));
    const outcome = ({ messages }: Bare): unknown => {
      const { error, result } = (messages[0] ?? {}) as {
        error?: { code: number; data?: object };
        result?: object;
      };
      return error === undefined ? (result === undefined ? messages : 'ok') : error;
    };
    const call = async (name: string, token: string): Promise<unknown> =>
      outcome(await modern(url, 1, 'tools/call', { name }, {}, bearer(token)));
    const limited = { code: -32029, data: { retryAfterSeconds: expect.any(Number) } };
    expect([
      await call('git__log', one),
      await call('git__log', one),
      await call('git__log', two),
    ]).toMatchObject(['ok', limited, 'ok']);
    const all = await Promise.all(Array.from({ length: 64 }, () => call('git__status', one)));
    expect(all.filter((each) => each === 'ok')).toHaveLength(39);
    const params = { name: 'git__status' };
    const again = await post(url, { jsonrpc: '2.0', id: 2, method: 'tools/call', params }, session);
    expect([outcome(again), await call('git__status', two)]).toMatchObject([limited, 'ok']);
  });

  it('lists some tools without a search', async () => {
    const made = await world({
      profiles: {
        searching: { search: { mode: true, alwaysLoad: ['git__status'] } },
        listing: { search: false },
      },
      toolSearch: true,
    });
    const url = await served(made);
    const [searching, listing] = [await add(made, 'a', 'searching'), await add(made, 'b', 'listing')];
    expect([await listed(url, searching), await listed(url, listing)]).toEqual([
      ['git__status', 'tool_search', 'call_tool', 'call_tool_read'],
      EVERYTHING,
    ]);
  });
});

describe('SRV-8: clients whose profile has a problem', () => {
  const BROKEN = {
    profiles: {
      ...PROFILES,
      a: { extends: 'b' },
      b: { extends: 'a' },
      typo: { sevrers: ['git'] },
      wrong: { servers: 'git' },
      rules: { rules: { dney: ['*'] } },
    },
    clients: {
      one: { token: hashOf('one'), profile: 'reader' },
      twin: { token: hashOf('shared'), profile: 'reader' },
      other: { token: hashOf('shared') },
      lost: { token: hashOf('lost'), profile: 'nowhere' },
      round: { token: hashOf('round'), profile: 'a' },
      typo: { token: hashOf('typo'), profile: 'typo' },
      wrong: { token: hashOf('wrong'), profile: 'wrong' },
      rules: { token: hashOf('rules'), profile: 'rules' },
      odd: { token: hashOf('odd'), profiel: 'reader' },
    },
  };

  it('are refused, with the reason in the log, and all others are served', async () => {
    const made = await world(BROKEN);
    const logged: string[] = [];
    made.host.on('log', ({ message }) => void logged.push(message));
    const url = await served(made);
    const tokens = ['one', 'shared', 'lost', 'round', 'typo', 'wrong', 'rules', 'odd'];
    const lists = [];
    for (const token of tokens) lists.push(await listed(url, token));
    expect(lists).toEqual([READER, ...tokens.slice(1).map(() => 403)]);
    expect(logged.filter((message) => message.startsWith('Refused the client'))).toHaveLength(7);
  });

  it('are reported with their line and column', async () => {
    const { host } = await world(BROKEN);
    const found = host.problems().map(({ line, column, message }) => [typeof line, typeof column, message]);
    const reported = (message: string): unknown => ['number', 'number', message];
    expect(found).toEqual(
      [
        '"profiles.wrong.servers" must be a list of server names or globs, not a string',
        '"profiles.typo.sevrers" is not a known key, so clients with it are refused',
        '"profiles.rules.rules.dney" is not a known key, so clients with it are refused',
        'The profiles extend each other: "a" extends "b" extends "a"',
        'The profiles extend each other: "b" extends "a" extends "b"',
        'The clients "twin" and "other" have the same token',
        'There is no profile called "nowhere"',
        'The profile "wrong" in config.json has a problem',
        '"clients.odd.profiel" is not a known key, so clients with it are refused',
      ].map(reported),
    );
  });

  it('SRV-8: learn from the report why a profile cannot manage or have accounts', async () => {
    const { host } = await world({ profiles: { boss: { manage: true, accounts: ['work'] } } });
    expect(host.problems().map(({ message, hint }) => [message, hint])).toEqual([
      [
        '"profiles.boss.manage" is not a known key, so clients with it are refused',
        'Remove it: a token that calls tools never manages. Run plugboard dashboard to manage.',
      ],
      [
        '"profiles.boss.accounts" is not a known key, so clients with it are refused',
        'Remove it: clients share the logins of servers.',
      ],
    ]);
  });

  it.each([
    ['invalid', { local: true, profile: 7 }],
    ['misspelt', { locl: true, profile: 'reader' }],
  ])('the local user is refused if a client that may be it is %s', async (_what, me) => {
    const made = await world({ clients: { me } });
    const url = await served(made, { tokensOf: undefined });
    expect(await listed(url)).toBe(403);
    const client = new LineClient(made.host, '2025-06-18', {}, () => ({}));
    closers.push(() => client.leave());
    await expect(client.open()).rejects.toMatchObject({ code: -32603 });
  });

  it('are refused if the token in tokens.json has another profile, or belongs to another name', async () => {
    const made = await world();
    const url = await served(made);
    const [one, two] = [await add(made, 'one', 'reader'), await add(made, 'two')];
    await made.configure({
      profiles: PROFILES,
      clients: { one: { profile: 'coder' }, three: { token: hashOf(two) } },
    });
    expect([await listed(url, one), await listed(url, two)]).toEqual([403, 403]);
  });
});

describe('SRV-8: a change while the gateway runs', () => {
  it('ends the streams and sessions of a client whose profile changed, and of no other', async () => {
    const clients = (profile: string): object => ({
      profiles: PROFILES,
      clients: { one: { token: hashOf('one'), profile }, two: { token: hashOf('two'), profile: 'coder' } },
    });
    const made = await world(clients('reader'));
    const url = await served(made);
    const [one, two] = await Promise.all(
      ['one', 'two'].map((token) => legacySession(url, '2025-11-25', {}, bearer(token))),
    );
    const stream = send(url, 'GET', undefined, one).then(
      () => 'ended',
      () => 'ended',
    );
    await made.configure(clients('coder'));
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const statuses = [(await post(url, ping, one)).status, (await post(url, ping, two)).status];
    expect([await stream, statuses, await listed(url, 'one')]).toMatchObject([
      'ended',
      [404, 200],
      { length: 5 },
    ]);
  });

  it.each([
    ['empty', ''],
    ['half-written', '{ "profiles": { "read'],
  ])('keeps the last configuration while config.json is %s, and logs that', async (_state, text) => {
    const made = await world();
    const logged: string[] = [];
    made.host.on('log', ({ message }) => void logged.push(message));
    const url = await served(made);
    const [reader, whole] = [await add(made, 'one', 'reader'), await add(made, 'two')];
    const session = await legacySession(url, '2025-11-25', {}, bearer(reader));
    for (let at = 0; at < 2; at += 1) {
      writeFileSync(made.home.config, text);
      await made.host.reload();
    }
    expect([await listed(url, reader), await listed(url, whole)]).toEqual([READER, EVERYTHING]);
    expect((await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' }, session)).status).toBe(200);
    expect(logged).toEqual([
      expect.stringMatching(/config\.json:1:\d+: .*\. Its previous content is still used$/),
    ]);
    await made.configure({ profiles: { reader: { servers: ['shell'] } } });
    expect(await listed(url, reader)).toEqual(['shell__run']);
  });

  it('announces the new lists to clients of a profile that changed', async () => {
    const made = await world();
    const client = new LineClient(made.host, '2025-06-18', {}, () => ({}), { profile: 'reader' });
    closers.push(() => client.leave());
    await client.open();
    await client.request('tools/list');
    await made.configure({ profiles: { reader: { servers: ['shell'] } } });
    await client.heard('notifications/tools/list_changed');
    const { tools } = (await client.request('tools/list')) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(['shell__run']);
  });

  it('leaves clients of a profile that was removed with nothing', async () => {
    const made = await world();
    const client = new LineClient(made.host, '2025-06-18', {}, () => ({}), { profile: 'reader' });
    closers.push(() => client.leave());
    await client.open();
    await made.configure({ profiles: {} });
    expect(await client.request('tools/list')).toEqual({ tools: [] });
  });

  it('refuses a revoked token of the configuration', async () => {
    const made = await world();
    const url = await served(made);
    const token = await add(made, 'one', 'reader');
    const before = await listed(url, token);
    await revokeToken(made.home, 'one');
    await made.configure({
      profiles: PROFILES,
      clients: { one: { token: hashOf(token), profile: 'reader' } },
    });
    expect([before, await listed(url, token)]).toEqual([READER, 401]);
  });
});

it('SRV-8: the events of calls have the client and its profile', async () => {
  const made = await world();
  const url = await served(made);
  const begun: unknown[] = [];
  made.host.on('call.begin', ({ client, profile, tool }) => void begun.push({ client, profile, tool }));
  for (const [name, profile] of [
    ['one', 'reader'],
    ['two', undefined],
  ] as const)
    await modern(url, 1, 'tools/call', { name: 'git__status' }, {}, bearer(await add(made, name, profile)));
  await made.host.call('git__status', {}, { approved: true });
  expect(begun).toEqual([
    { client: 'one', profile: 'reader', tool: 'status' },
    { client: 'two', tool: 'status' },
    { tool: 'status' },
  ]);
});
