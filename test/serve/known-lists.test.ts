import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHost, type Host } from '../../src/host/host.ts';
import { type ServedHttp, serveHttp } from '../../src/serve/index.ts';
import { createGate, type Gate, type ScriptedServer, scriptedServer } from '../../src/testing/index.ts';
import { legacySession, modern, post, send } from './bare-client.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'plugboard-known-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** A server whose list is old as soon as it is given, as most modern ones say of theirs. */
function stale(tools: Record<string, () => string>, gate?: Gate): ScriptedServer {
  const server = scriptedServer({ eras: 'modern', tools });
  const list = Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } }));
  return server.on('tools/list', async () => {
    await gate?.opened;
    return { tools: list, ttlMs: 0, cacheScope: 'private' };
  });
}

async function serve(server: ScriptedServer): Promise<{ host: Host; served: ServedHttp }> {
  const host = await createHost({
    home,
    cwd: home,
    env: {},
    watch: false,
    servers: { small: { command: 'scripted' } },
    replaceTransport: () => server.transport(),
  });
  return { host, served: await serveHttp(host, { port: 0 }) };
}

async function namesAt(url: string): Promise<unknown> {
  const { messages } = await modern(url, 1, 'tools/list');
  const answer = messages[0]?.['result'] as { tools: { name: string }[] } | undefined;
  return answer?.tools.map(({ name }) => name);
}

it('CAT-3: lists the last known tools of a server before it is back, and then its changes', async () => {
  const first = await serve(stale({ one: () => '1' }));
  await first.host.ready();
  await first.served.close();
  await first.host.close();

  const gate = createGate();
  const { host, served } = await serve(stale({ one: () => '1', two: () => '2' }, gate));
  const before = await namesAt(served.url);
  const changed = new Promise<void>((resolve) => {
    host.on('tools', () => resolve());
  });
  gate.open();
  await changed;
  const after = await namesAt(served.url);
  await served.close();
  await host.close();
  expect({ before, after }).toEqual({
    before: ['small__one'],
    after: ['small__one', 'small__two'],
  });
});

it('CAT-3: a server that comes back with what it had is no news', async () => {
  const server = stale({ one: () => '1' });
  const first = await serve(server);
  await first.host.ready();
  const tools = first.host.tools();
  const news: string[] = [];
  first.host.on('tools', (event) => news.push(event.server));
  const back = new Promise<void>((resolve) => {
    first.host.on('server', ({ status }) => status === 'connected' && resolve());
  });
  server.crash(1);
  await back;
  const same = first.host.tools() === tools;
  await first.served.close();
  await first.host.close();
  expect({ news, same }).toEqual({ news: [], same: true });
});

// Protocol: 25-tools-4, 26-tools-9
it('SRV-1: clients of both eras are notified of a server that is added and removed while they are connected', async () => {
  const { host, served } = await serve(stale({ one: () => '1' }));
  await host.ready();
  const session = await legacySession(served.url);
  const legacy = send(served.url, 'GET', undefined, session);
  const told = modern(served.url, 2, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  const changes = async (work: () => Promise<unknown>): Promise<void> => {
    const changed = new Promise<void>((resolve) => {
      host.on('tools', () => resolve());
    });
    await work();
    await changed;
  };
  // Both streams are there once a later request of each client has been answered.
  await post(served.url, { jsonrpc: '2.0', id: 1, method: 'ping' }, session);
  await namesAt(served.url);
  await changes(() => host.add('late', { command: 'scripted' }));
  const added = await namesAt(served.url);
  await changes(() => host.remove('late'));
  const removed = await namesAt(served.url);
  await served.close();
  await host.close();
  const hears = async (stream: typeof legacy): Promise<boolean> =>
    (await stream).messages.some(({ method }) => method === 'notifications/tools/list_changed');
  expect({ added, removed, legacy: await hears(legacy), modern: await hears(told) }).toEqual({
    added: ['late__one', 'small__one'],
    removed: ['small__one'],
    legacy: true,
    modern: true,
  });
});
