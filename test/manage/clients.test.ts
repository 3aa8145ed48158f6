/** The clients of the gateway over the management API. */

import { afterEach, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { addToken } from '../../src/serve/token-file.ts';
import { fakeClock } from '../../src/testing/index.ts';
import { legacySession, modern, post } from '../serve/bare-client.ts';
import { type ManagedGateway, openManagedGateway } from '../world/managed-gateway.ts';

let gateway: ManagedGateway;
afterEach(() => gateway.close());

const CONFIG = {
  budgets: [{ calls: 50, per: 'day' }],
  profiles: { reader: { tools: ['*__echo'], budgets: [{ calls: 5, per: 'minute' }] } },
  clients: {
    ci: { claims: { sub: 'ci' }, profile: 'reader' },
    lost: { local: true, profile: 'nowhere' },
  },
};

it('SRV-8: lists clients with their profile, sessions, calls and budget, and revokes a token', async () => {
  gateway = await openManagedGateway({
    config: CONFIG,
    script: { tools: { echo: () => 'hi', other: () => 'hi' } },
    takesNamed: true,
  });
  const home = homeAt(gateway.home);
  const { token } = await addToken(home, 'laptop', { now: 1, profile: 'reader' });
  const { url } = gateway.served;
  const session = await legacySession(url, '2025-11-25', {}, { authorization: `Bearer ${token}` });
  const server = gateway.host.servers()[0]?.name ?? '';
  for (const tool of ['echo', 'other'])
    await post(
      url,
      { jsonrpc: '2.0', id: tool, method: 'tools/call', params: { name: `${server}__${tool}` } },
      session,
    );
  const none = { sessions: 0, calls: 0, running: 0, failed: 0 };
  const minute = { calls: 5, per: 'minute', resetsInSeconds: expect.any(Number) };
  const budgets = [{ ...minute, used: 0, remaining: 5 }];
  expect((await gateway.api('GET', '/api/clients')).body).toEqual({
    clients: [
      {
        name: 'laptop',
        recognisedBy: ['token'],
        profile: 'reader',
        budgets: [{ ...minute, used: 1, remaining: 4 }],
        token: { created: 1 },
        sessions: 1,
        calls: 1,
        running: 0,
        failed: 0,
        last: expect.any(Number),
      },
      { name: 'ci', recognisedBy: ['claims'], profile: 'reader', budgets, ...none },
      {
        name: 'lost',
        recognisedBy: ['local'],
        profile: 'nowhere',
        budgets: [],
        problem: 'There is no profile called "nowhere"',
        ...none,
      },
    ],
    connected: [
      {
        session: expect.any(String),
        client: 'laptop',
        profile: 'reader',
        agent: expect.objectContaining({ name: expect.any(String), version: expect.any(String) }),
      },
    ],
    budgets: [{ calls: 50, per: 'day', resetsInSeconds: expect.any(Number), used: 1, remaining: 49 }],
  });
  const { body } = await gateway.api('GET', '/api/calls');
  expect(body).toMatchObject({ calls: [{ client: 'laptop', profile: 'reader', tool: 'echo' }] });
  const revoked = await gateway.api('DELETE', '/api/clients/laptop/token');
  const again = await gateway.api('DELETE', '/api/clients/laptop/token');
  const ping = await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' }, session);
  expect([revoked.body, again.status, ping.status]).toEqual([{ name: 'laptop', revoked: true }, 404, 401]);
});

it('SRV-8: lists modern clients, which have no session, while they send requests and for a minute after', async () => {
  const clock = fakeClock();
  let finish = (): void => {};
  gateway = await openManagedGateway({
    config: CONFIG,
    script: {
      tools: {
        echo: () => 'hi',
        wait: () =>
          new Promise((resolve) => {
            finish = () => resolve('done');
          }),
      },
    },
    takesNamed: true,
    serve: { clock },
  });
  const home = homeAt(gateway.home);
  const { token } = await addToken(home, 'laptop', { now: 1, profile: 'reader' });
  const { token: whole } = await addToken(home, 'whole', { now: 1 });
  const { url } = gateway.served;
  const ask = (method: string, params: Record<string, unknown>, bearer = token): Promise<unknown> =>
    modern(url, method, method, params, {}, { authorization: `Bearer ${bearer}` });
  const connected = async (): Promise<unknown> => {
    const { body } = await gateway.api('GET', '/api/clients');
    const { connected: all, clients } = body as {
      connected: { client: string }[];
      clients: { name: string; sessions: number }[];
    };
    return [all, clients.flatMap(({ name, sessions }) => (sessions === 0 ? [] : [[name, sessions]]))];
  };
  for (let at = 0; at < 2; at += 1) {
    await ask('tools/list', {});
    await ask('tools/call', { name: 'small__echo' });
  }
  const waiting = ask('tools/call', { name: 'small__wait' }, whole);
  await expect.poll(connected).toEqual([
    [
      {
        session: expect.any(String),
        client: 'laptop',
        profile: 'reader',
        agent: { name: 'bare', version: '1' },
      },
      { session: expect.any(String), client: 'whole', agent: { name: 'bare', version: '1' } },
    ],
    [
      ['laptop', 1],
      ['whole', 1],
    ],
  ]);
  await clock.advance(60_000);
  expect(await connected()).toMatchObject([[{ client: 'whole' }], [['whole', 1]]]);
  finish();
  await waiting;
  expect(await connected()).toMatchObject([[{ client: 'whole' }], [['whole', 1]]]);
  await gateway.api('DELETE', '/api/clients/whole/token');
  await ask('tools/list', {}, whole);
  expect(await connected()).toEqual([[], []]);
});

it('SRV-8: instructions name the budgets of a client without globs, and a refusal has the time to wait', async () => {
  gateway = await openManagedGateway({
    config: {
      budgets: [
        { calls: 50, per: 'day' },
        { calls: 9, per: 'hour', server: 'hidden*' },
      ],
      profiles: { reader: { budgets: [{ calls: 1, per: 'day', tool: '{echo,secret}' }] } },
    },
    script: { tools: { echo: () => 'hi' } },
    takesNamed: true,
  });
  const { token } = await addToken(homeAt(gateway.home), 'laptop', { now: 1, profile: 'reader' });
  const { url } = gateway.served;
  const headers = { authorization: `Bearer ${token}` };
  const line =
    'Budgets: 50 calls per day; 1 call per day for some tools. A call beyond one is refused with the time to wait.';
  const initialize = {
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  };
  const legacy = await post(url, { jsonrpc: '2.0', id: 1, ...initialize }, headers);
  const found = await modern(url, 2, 'server/discover', {}, {}, headers);
  expect([JSON.stringify(legacy), JSON.stringify(found)]).toEqual([
    expect.stringContaining(line),
    expect.stringContaining(line),
  ]);
  const call = { name: 'small__echo', arguments: {} };
  await modern(url, 3, 'tools/call', call, {}, headers);
  expect(JSON.stringify(await modern(url, 3, 'tools/call', call, {}, headers))).toMatch(
    /the budget of 1 call per day is used up\. Try again in \d+ (h|min|s)/,
  );
});
