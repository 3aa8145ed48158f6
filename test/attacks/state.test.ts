/** A server that keeps one client's state, behind a gateway with several clients (A38). */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostOptions } from '../../src/host/host-options.ts';
import { serveHttp } from '../../src/serve/index.ts';
import { SERVED_SESSIONS } from '../../src/serve/served-host.ts';
import { scriptedServer } from '../../src/testing/index.ts';
import { legacySession, modern, post, send } from '../serve/bare-client.ts';
import { FIXTURE, naiveServer } from './naive.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const SECRET = "Ann's bank session";
const bank = { command: process.execPath, args: [FIXTURE('attack-state.mjs')] };

async function hostOf(options: HostOptions): Promise<Host> {
  const home = mkdtempSync(join(tmpdir(), 'plugboard-attack-'));
  const host = await createHost({
    home,
    cwd: home,
    env: { PATH: process.env['PATH'] },
    watch: false,
    approve: () => 'allow',
    sessions: SERVED_SESSIONS,
    ...options,
  });
  opened.push(async () => {
    await host.close();
    rmSync(home, { recursive: true, force: true });
  });
  await host.ready();
  return host;
}

async function listen(host: Host, token?: string): Promise<string> {
  const served = await serveHttp(host, { port: 0, token, keepSessions: false });
  opened.push(served.close);
  return served.url;
}

type Ask = (method: string, params: Record<string, unknown>) => Promise<unknown>;

const bearer = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** A client with a session of its own. */
async function legacy(url: string, token?: string): Promise<{ ask: Ask; leave: () => Promise<unknown> }> {
  const headers = await legacySession(url, '2025-11-25', {}, bearer(token));
  return {
    ask: async (method, params) =>
      (await post(url, { jsonrpc: '2.0', id: 1, method, params }, headers)).messages[0]?.['result'],
    leave: () => send(url, 'DELETE', undefined, headers),
  };
}

/** A client that is known by its token only. */
const stateless =
  (url: string, token?: string): Ask =>
  async (method, params) =>
    (await modern(url, 1, method, params, {}, bearer(token))).messages[0]?.['result'];

const set = (ask: Ask): Promise<unknown> =>
  ask('tools/call', { name: 'bank__set', arguments: { value: SECRET } });
const pid = async (ask: Ask): Promise<string> =>
  JSON.stringify(await ask('tools/call', { name: 'bank__pid' }));

/** Everything of the server that a client can see. */
const seen = async (ask: Ask): Promise<string> =>
  JSON.stringify([
    await ask('tools/call', { name: 'bank__get' }),
    await ask('resources/read', { uri: 'state://now' }),
    await ask('prompts/get', { name: 'bank__tell' }),
  ]);

it('A38: the next client of a plain server reads what the previous one set', async () => {
  const naive = await naiveServer(bank);
  await naive.request('tools/call', { name: 'set', arguments: { value: SECRET } });
  expect(JSON.stringify(await naive.request('tools/call', { name: 'get', arguments: {} }))).toContain(SECRET);
  await naive.close();
});

describe.each([{ manyAgents: true }, { manyAgents: false }])('A38: over HTTP, %j', ({ manyAgents }) => {
  const servers = { bank: { ...bank, shared: false, approval: 'approve' as const } };

  it('a session has a process of its own, which ends with it', async () => {
    const host = await hostOf({ servers, manyAgents });
    const url = await listen(host, 'a token of some length');
    const ann = await legacy(url, 'a token of some length');
    const bob = await legacy(url, 'a token of some length');
    await set(ann.ask);
    expect(await seen(ann.ask)).toContain(SECRET);
    expect(await seen(bob.ask)).not.toContain(SECRET);
    const used = await pid(ann.ask);
    await ann.leave();
    const carol = await legacy(url, 'a token of some length');
    expect(await seen(carol.ask)).not.toContain(SECRET);
    expect(await pid(carol.ask)).not.toBe(used);
    // Nor does the program that has the host read it.
    expect(JSON.stringify(await host.read('bank', 'state://now'))).not.toContain(SECRET);
    expect(JSON.stringify(await host.expand('see @bank:state://now'))).not.toContain(SECRET);
  });

  // Protocol: 25-roots-5c, 26-base-27, 26-roots-5c
  it('requests without a session share by principal: one keeps its state, another never gets it', async () => {
    const host = await hostOf({ servers, manyAgents });
    const [one, two] = await Promise.all(
      ['the first token', 'the second token'].map((token) => listen(host, token)),
    );
    const ann = stateless(one ?? '', 'the first token');
    const bob = stateless(two ?? '', 'the second token');
    await set(ann);
    expect(await seen(ann)).toContain(SECRET);
    expect(await seen(bob)).not.toContain(SECRET);
    const carol = await legacy(one ?? '', 'the first token');
    expect(await seen(carol.ask)).not.toContain(SECRET);
    expect(await pid(bob)).not.toBe(await pid(ann));
    expect(await seen(ann)).toContain(SECRET);
  });
});

it('A38: when too many processes are in use, a client is refused and not given one of another', async () => {
  const open = (): ReturnType<typeof scriptedServer> => {
    let state = 'nothing';
    return scriptedServer({
      tools: {
        set: () => {
          state = SECRET;
          return state;
        },
        get: () => state,
      },
    });
  };
  const host = await hostOf({
    servers: { bank: { command: 'scripted', shared: false, approval: 'approve', lifecycle: 'eager' } },
    replaceTransport: () => open().transport(),
  });
  const sessions = Array.from({ length: 65 }, () => host.session({ stateOf: 'session' }));
  await Promise.all(sessions.map((session) => session.call('mcp__bank__set')));
  const late = host.session({ stateOf: 'session' });
  await expect(late.call('mcp__bank__get')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
  sessions[3]?.end();
  expect(await late.call('mcp__bank__get')).toMatchObject({ content: [{ text: 'nothing' }] });
  // A principal that has left makes room, and keeps nothing.
  late.end();
  const requests = ['ann', 'bob'].map((principal) => () => host.session({ stateOf: { principal } }));
  for (const request of requests) {
    const session = request();
    expect(await session.call('mcp__bank__get')).toMatchObject({ content: [{ text: 'nothing' }] });
    await session.call('mcp__bank__set');
    session.end();
  }
});
