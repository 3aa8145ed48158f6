import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerEntry } from '../../src/config/entry.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import { serveHttp } from '../../src/serve/index.ts';
import {
  createGate,
  type FakeClock,
  fakeClock,
  type Gate,
  type ScriptedServer,
  scriptedServer,
} from '../../src/testing/index.ts';
import { legacySession, modern, post } from './bare-client.ts';
import { LineClient, MODERN } from './line-client.ts';

const ERAS = ['2025-11-25', MODERN];
const WAIT_MS = 1_500;

let home: string;
let clock: FakeClock;
const opened: (() => unknown)[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'plugboard-first-'));
  clock = fakeClock();
});
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
  await rm(home, { recursive: true, force: true });
});

type Servers = Readonly<Record<string, ScriptedServer>>;

/** A server with a tool of this name, which lists it when the gate is open. */
function server(tool: string, gate?: Gate): ScriptedServer {
  const made = scriptedServer({ tools: { [tool]: () => tool } });
  const list = [{ name: tool, inputSchema: { type: 'object' } }];
  return made.on('tools/list', async () => {
    await gate?.opened;
    return { tools: list };
  });
}

const hung = (tool: string): ScriptedServer => server(tool, createGate());
const crashing = (): ScriptedServer => scriptedServer().on('tools/list', ({ crash }) => crash());

async function hostOf(servers: Servers, entry: Partial<ServerEntry> = {}): Promise<Host> {
  const host = await createHost({
    home,
    cwd: home,
    env: {},
    watch: false,
    toolSearch: false,
    clock,
    servers: Object.fromEntries(
      Object.keys(servers).map((name) => [name, { command: name, ...entry } as ServerEntry]),
    ),
    replaceTransport: (name) => servers[name]?.transport(),
  });
  opened.push(() => host.close());
  return host;
}

interface Session {
  readonly host: Host;
  readonly client: LineClient;
}

async function session(
  servers: Servers,
  { version = MODERN, name = 'line', entry = {} }: { version?: string; name?: string; entry?: object } = {},
): Promise<Session> {
  const host = await hostOf(servers, entry);
  const clientInfo = { name, version: '1' };
  const client = new LineClient(host, version, {}, () => ({}), { clock, clientInfo });
  opened.push(() => client.leave());
  await client.open();
  return { host, client };
}

async function end({ host, client }: Session): Promise<void> {
  await client.leave();
  await host.close();
}

async function toolsOf(client: LineClient): Promise<string[]> {
  const { tools } = (await client.request('tools/list')) as { tools: { name: string }[] };
  return tools.map(({ name }) => name);
}

/** Whether a list is answered before so much time has passed, and the answer. */
async function listAfter(client: LineClient, ms: number): Promise<{ early: boolean; tools: string[] }> {
  let early = false;
  const listing = toolsOf(client).then((tools) => {
    early = true;
    return tools;
  });
  await clock.advance(ms - 1);
  // A later request is answered before it: whatever was to come before has come.
  await client.request(client.isModern ? 'server/discover' : 'ping');
  const wasEarly = early;
  await clock.advance(1);
  return { early: wasEarly, tools: await listing };
}

/** Lets the wait pass as often as it is waited for. */
async function whileTimePasses<T>(work: Promise<T>): Promise<T> {
  let over = false;
  const done = (): void => {
    over = true;
  };
  work.then(done, done);
  while (!over) await clock.advance(WAIT_MS);
  return work;
}

/** One session with these servers, for as long as the first list waits. */
async function earlierSession(servers: Servers, entry: object = {}): Promise<void> {
  const earlier = await session(servers, { entry });
  await clock.advance(WAIT_MS);
  await toolsOf(earlier.client);
  await end(earlier);
}

describe.each(ERAS)('the first tools/list of a client of %s', (version) => {
  it('CON-16, F61: waits 1.5 s for a server at first contact, which then arrives by list_changed', async () => {
    const gate = createGate();
    const { client } = await session({ good: server('one'), slow: server('two', gate) }, { version });
    await client.listen();
    const first = await listAfter(client, WAIT_MS);
    client.notifications.length = 0;
    gate.open();
    await client.heard('notifications/tools/list_changed');
    expect({ first, later: await toolsOf(client) }).toEqual({
      first: { early: false, tools: ['good__one'] },
      later: ['good__one', 'slow__two'],
    });
  });

  it('CON-16, F61: does not wait for a server that hung last time, and announces its recovery', async () => {
    await earlierSession({ good: server('one'), hangs: hung('two') });
    const gate = createGate();
    const { client } = await session({ good: server('one'), hangs: server('two', gate) }, { version });
    await client.listen();
    // The clock does not advance: a wait for it never ends.
    const first = await toolsOf(client);
    client.notifications.length = 0;
    gate.open();
    await client.heard('notifications/tools/list_changed');
    expect({ first, later: await toolsOf(client) }).toEqual({
      first: ['good__one'],
      later: ['good__one', 'hangs__two'],
    });
  });

  it('CON-16: waits for first contacts next to a server that crashed last time', async () => {
    await earlierSession({ dies: crashing() });
    const gate = createGate();
    const { client } = await session({ dies: hung('two'), fresh: server('one', gate) }, { version });
    const listing = toolsOf(client);
    gate.open();
    expect(await listing).toEqual(['fresh__one']);
  });

  it('CON-16: a call waits for the server of its tool only', async () => {
    const gate = createGate();
    const { client } = await session({ hangs: hung('two'), slow: server('one', gate) }, { version });
    const call = client.request('tools/call', { name: 'slow__one', arguments: {} });
    gate.open();
    expect(await call).toMatchObject({ content: [{ type: 'text', text: 'one' }] });
    const unknown = client.request('tools/call', { name: 'none__one', arguments: {} });
    await expect(unknown).rejects.toMatchObject({ data: { code: 'UNKNOWN_TOOL' } });
  });
});

describe('the record of a server', () => {
  const failures = (): number => {
    const file = join(home, 'cache', 'failures.json');
    return existsSync(file) ? Object.keys(JSON.parse(readFileSync(file, 'utf8'))).length : 0;
  };

  it('CON-16: a changed entry is waited for again', async () => {
    await earlierSession({ hangs: hung('one') });
    const { client } = await session({ hangs: hung('one') }, { entry: { args: ['another'] } });
    expect(await listAfter(client, WAIT_MS)).toEqual({ early: false, tools: [] });
  });

  it('CON-16: a session that ends before the wait is over records nothing about its servers', async () => {
    const short = await session({ hangs: hung('one') });
    await clock.advance(WAIT_MS - 1);
    await end(short);
    const before = failures();
    const { client } = await session({ hangs: hung('one') });
    expect({ before, next: await listAfter(client, WAIT_MS) }).toEqual({
      before: 0,
      next: { early: false, tools: [] },
    });
  });

  it('CON-16: a start that outlasts the wait is on disk before it ends, and gone when it succeeds', async () => {
    const gate = createGate();
    const { host } = await session({ slow: server('one', gate) });
    const connected = new Promise<void>((resolve) => {
      host.on('server', ({ status }) => status === 'connected' && resolve());
    });
    await clock.advance(WAIT_MS);
    // A killed process closes nothing: the record is written without that.
    while (failures() === 0) await clock.advance(0);
    gate.open();
    await connected;
    await host.close();
    expect(failures()).toBe(0);
  });

  it('CON-16: a server that recovered is waited for again when its list is lost', async () => {
    await earlierSession({ hangs: hung('one') });
    await earlierSession({ hangs: server('one') });
    rmSync(join(home, 'cache', 'tools'), { recursive: true });
    const { client } = await session({ hangs: hung('one') });
    expect(await listAfter(client, WAIT_MS)).toEqual({ early: false, tools: [] });
  });

  it('CON-16: after a day it is waited for again', async () => {
    await earlierSession({ hangs: hung('one') });
    await clock.advance(24 * 60 * 60 * 1000);
    const { client } = await session({ hangs: hung('one') });
    expect(await listAfter(client, WAIT_MS)).toEqual({ early: false, tools: [] });
  });
});

describe('the record of a client', () => {
  const opencode = { name: 'opencode', version: '2025-11-25' };

  it('CON-16: one that has never listed again waits longer for first contacts, within its own limit', async () => {
    const { client } = await session({ hangs: hung('one') }, opencode);
    expect(await listAfter(client, 3_000)).toEqual({ early: false, tools: [] });
  });

  it.each(ERAS)(
    'CON-16: one that listed again after a change waits as long as any other (%s)',
    async (version) => {
      const gate = createGate();
      const first = await session({ slow: server('one', gate) }, { ...opencode, version });
      await first.client.listen();
      await clock.advance(3_000);
      await toolsOf(first.client);
      first.client.notifications.length = 0;
      gate.open();
      await first.client.heard('notifications/tools/list_changed');
      await toolsOf(first.client);
      await end(first);
      const { client } = await session({ hangs: hung('two') }, { ...opencode, version });
      expect(await listAfter(client, WAIT_MS)).toEqual({ early: false, tools: [] });
    },
  );

  it('CON-16: a second list without a preceding change records nothing', async () => {
    const first = await session({ good: server('one') }, opencode);
    await first.host.ready();
    await toolsOf(first.client);
    await toolsOf(first.client);
    await end(first);
    expect(existsSync(join(home, 'cache', 'clients.json'))).toBe(false);
  });
});

describe('over HTTP', () => {
  it('CON-16, F61: lists of both eras wait for first contacts and not for what hung last time', async () => {
    const list = async (url: string, headers?: Record<string, string>): Promise<unknown> => {
      const { messages } =
        headers === undefined
          ? await modern(url, 1, 'tools/list')
          : await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
      const result = messages.at(-1)?.['result'] as { tools: { name: string }[] } | undefined;
      return result?.tools.map(({ name }) => name);
    };
    const served = async (): Promise<{ host: Host; url: string }> => {
      const host = await hostOf({ good: server('one'), hangs: hung('two') });
      const http = await serveHttp(host, { port: 0, clock });
      opened.push(() => http.close());
      return { host, url: http.url };
    };
    const first = await served();
    const lists = Promise.all([
      list(first.url),
      legacySession(first.url).then((session) => list(first.url, session)),
    ]);
    await clock.advance(WAIT_MS);
    const before = await lists;
    await first.host.close();
    const { url } = await served();
    const after = await Promise.all([list(url), legacySession(url).then((session) => list(url, session))]);
    expect({ before, after }).toEqual({
      before: [['good__one'], ['good__one']],
      after: [['good__one'], ['good__one']],
    });
  });
});

describe.each(ERAS)('resources and prompts of a client of %s', (version) => {
  const uri = (client: LineClient): Promise<unknown> =>
    client
      .request('resources/list')
      .then(({ resources }) => (resources as { uri: string }[]).map((resource) => resource.uri));
  const prompts = (client: LineClient): Promise<unknown> =>
    client
      .request('prompts/list')
      .then((answer) => (answer['prompts'] as { name: string }[]).map(({ name }) => name));

  /** A server with one resource and one prompt, which connects when the gate is open. */
  function content(name: string, gate?: Gate): ScriptedServer {
    const made = scriptedServer({ capabilities: { tools: {}, resources: {}, prompts: {} } });
    made.on('resources/list', () => ({ resources: [{ uri: `memo://${name}`, name }] }));
    made.on('resources/templates/list', () => ({ resourceTemplates: [] }));
    made.on('prompts/list', () => ({ prompts: [{ name }] }));
    return made.on('tools/list', async () => {
      await gate?.opened;
      return { tools: [], ttlMs: 0 };
    });
  }

  it('CON-16: come within the wait at first contact, and by list_changed after it', async () => {
    const gate = createGate();
    const docs = content('a');
    const { client } = await session({ docs, slow: content('b', gate) }, { version });
    await client.listen();
    const first = Promise.all([uri(client), prompts(client)]);
    // Both lists of the good server are read before its neighbour is given up.
    await Promise.all([docs.seen('resources/list'), docs.seen('prompts/list')]);
    await clock.advance(0);
    const before = await whileTimePasses(first);
    gate.open();
    await client.heard('notifications/resources/list_changed');
    await client.heard('notifications/prompts/list_changed');
    expect({ before, after: [await uri(client), await prompts(client)] }).toEqual({
      before: [['memo://a'], ['docs__a']],
      after: [
        ['memo://a', 'memo://b'],
        ['docs__a', 'slow__b'],
      ],
    });
  });

  it('CON-16: are known from the last time, before their server is there, and corrected by it', async () => {
    const earlier = await session({ docs: content('a') }, { version });
    await Promise.all([uri(earlier.client), prompts(earlier.client)]);
    await end(earlier);
    const gate = createGate();
    const { client } = await session({ docs: content('b', gate) }, { version });
    await client.listen();
    const before = [await uri(client), await prompts(client)];
    gate.open();
    await client.heard('notifications/resources/list_changed');
    await client.heard('notifications/prompts/list_changed');
    expect({ before, after: [await uri(client), await prompts(client)] }).toEqual({
      before: [['memo://a'], ['docs__a']],
      after: [['memo://b'], ['docs__b']],
    });
  });

  it('CON-16, F61: a connected server that does not answer a list is waited for once', async () => {
    const mute = (): ScriptedServer => content('a').on('resources/list', () => new Promise(() => {}));
    const earlier = await session({ docs: mute(), good: content('b') }, { version });
    await earlier.host.ready();
    const first = await whileTimePasses(uri(earlier.client));
    await end(earlier);
    const later = await session({ docs: mute(), good: content('b') }, { version });
    await later.host.ready();
    expect({ first, second: await uri(later.client) }).toEqual({ first: ['memo://b'], second: ['memo://b'] });
  });
});
