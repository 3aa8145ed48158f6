import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RENEWED_AT_ONCE, TURN_MS } from '../../src/host/host-servers.ts';
import { createHost, type Host, type HostOptions } from '../../src/index.ts';
import {
  createGate,
  type FakeClock,
  fakeClock,
  type ScriptedServer,
  scriptedServer,
} from '../../src/testing/index.ts';

interface World {
  readonly server: ScriptedServer;
  readonly clock: FakeClock;
  opened: number;
  start(more?: Partial<HostOptions>): Promise<Host>;
}

function makeWorld(): World {
  const dir = mkdtempSync(join(tmpdir(), 'plugboard-host-'));
  // Legacy: a modern server says how long its list is good for, and by default that is not at all.
  const server = scriptedServer({
    eras: 'legacy',
    tools: { greet: () => 'hello', part: () => 'bye' },
    instructions: 'Greet first.',
  });
  const clock = fakeClock();
  const made: World = {
    server,
    clock,
    opened: 0,
    start: (more = {}) =>
      createHost({
        home: join(dir, 'home'),
        cwd: dir,
        env: {},
        watch: false,
        clock,
        servers: { s: { command: 'scripted' } },
        approve: () => 'allow',
        replaceTransport: () => {
          made.opened += 1;
          return server.transport();
        },
        ...more,
      }),
  };
  return made;
}

const names = (host: Host): string[] => host.tools().map(({ tool }) => tool);

describe('a start from the cache (CAT-4)', () => {
  it('CAT-11: has every tool and the instructions before any server runs, and connects at the first call', async () => {
    const world = makeWorld();
    const first = await world.start();
    await first.ready();
    const tools = first.tools();
    await first.close();
    expect(world.opened).toBe(1);

    const second = await world.start();
    expect(second.tools()).toEqual(tools);
    expect(second.instructions()).toBe('## s\n\nGreet first.');
    await second.ready();
    expect(second.servers()).toEqual([
      { name: 's', scope: 'code', transport: 'stdio', status: 'idle', tools: 2 },
    ]);
    expect(world.opened).toBe(1);
    expect(await second.call('mcp__s__greet')).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
    expect(world.opened).toBe(2);
    await second.close();
  });

  it('CAT-4: asking for prompts and resources starts no server that is known to have none', async () => {
    const world = makeWorld();
    const first = await world.start();
    await first.ready();
    await first.close();
    const host = await world.start();
    const { resources } = await host.resources();
    expect([await host.prompts(), resources, world.opened]).toEqual([[], [], 1]);
    await host.close();
  });

  it('CAT-3: old lists are read again in turns, and a server that hangs keeps its turn for a second only', async () => {
    const world = makeWorld();
    const servers = Object.fromEntries(
      Array.from({ length: 3 * RENEWED_AT_ONCE }, (_, n) => [`s${n}`, { command: 'scripted' }]),
    );
    const first = await world.start({ servers });
    await first.ready();
    await first.close();
    await world.clock.advance(2 * 60 * 60 * 1000);
    const gate = createGate();
    world.server.on('tools/list', async () => {
      await gate.opened;
      return { tools: [] };
    });
    world.opened = 0;
    const host = await world.start({ servers });
    const known = host.tools().length;
    await world.clock.advance(0);
    const atOnce = world.opened;
    await world.clock.advance(TURN_MS);
    const later = world.opened;
    gate.open();
    await host.ready();
    await host.close();
    expect({ known, atOnce, later, opened: world.opened, left: host.tools().length }).toEqual({
      known: 6 * RENEWED_AT_ONCE,
      atOnce: RENEWED_AT_ONCE,
      later: 2 * RENEWED_AT_ONCE,
      opened: 3 * RENEWED_AT_ONCE,
      left: 0,
    });
  });

  it('an old list is shown at once and read again behind it; differences come as an event', async () => {
    const world = makeWorld();
    const first = await world.start();
    await first.ready();
    await first.close();
    await world.clock.advance(2 * 60 * 60 * 1000);
    world.server.tool('new', () => 'new').removeTool('part');
    const host = await world.start();
    expect(names(host)).toEqual(['greet', 'part']);
    await host.ready();
    expect(names(host)).toEqual(['greet', 'new']);
    await host.close();
  });

  it("CON-16: the person's own server is known in a folder where it never ran, and read again behind that", async () => {
    const world = makeWorld();
    const home = mkdtempSync(join(tmpdir(), 'plugboard-host-'));
    writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers: { s: { command: 'scripted' } } }));
    const own = { home, servers: undefined };
    const first = await world.start(own);
    await first.ready();
    await first.close();
    const elsewhere = await world.start({
      ...own,
      cwd: mkdtempSync(join(tmpdir(), 'plugboard-other-')),
      sessions: { elicit: () => ({ action: 'decline' }) },
    });
    const [server] = elsewhere.servers();
    expect([names(elsewhere), server?.status === 'connected']).toEqual([['greet', 'part'], false]);
    await elsewhere.ready();
    expect(world.opened).toBe(2);
    await elsewhere.close();
  });

  it('a tool that has vanished fails with a clear message, and nothing is sent', async () => {
    const world = makeWorld();
    const first = await world.start();
    await first.ready();
    await first.close();
    world.server.removeTool('part');
    const host = await world.start();
    expect(names(host)).toContain('part');
    await expect(host.call('mcp__s__part')).rejects.toMatchObject({
      code: 'UNKNOWN_TOOL',
      message: 's no longer has a tool called part',
    });
    expect(
      world.server.received.filter((message) => 'method' in message && message.method === 'tools/call'),
    ).toEqual([]);
    await host.close();
  });

  it('CAT-3: arguments are checked against the current list of the server, not against the cache', async () => {
    const world = makeWorld();
    world.server.tool('greet', {
      inputSchema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      run: () => 'old',
    });
    const first = await world.start();
    await first.ready();
    await first.close();
    world.server.tool('greet', {
      inputSchema: { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
      run: () => 'new',
    });
    const host = await world.start();
    await expect(host.call('mcp__s__greet', { a: 'x' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
    expect(await host.call('mcp__s__greet', { b: 'x' })).toMatchObject({ content: [{ text: 'new' }] });
    await host.close();
  });

  // Protocol: 26-caching-12
  it('declared capabilities are part of the cache key: another host does not get this list', async () => {
    const world = makeWorld();
    const first = await world.start();
    await first.ready();
    await first.close();
    const host = await world.start({ elicit: () => ({ action: 'cancel' }) });
    expect(host.tools()).toEqual([]);
    await host.ready();
    expect(world.opened).toBe(2);
    await host.close();
  });

  it('CON-7: eager and keep-alive start at once; all but keep-alive rest after ten idle minutes and come back for a call', async () => {
    const world = makeWorld();
    const first = await world.start();
    await first.ready();
    await world.clock.advance(5 * 60 * 1000);
    await first.call('mcp__s__greet');
    await world.clock.advance(6 * 60 * 1000);
    expect(first.servers()[0]?.status).toBe('connected');
    await world.clock.advance(5 * 60 * 1000);
    expect(first.servers()[0]).toMatchObject({ status: 'idle', tools: 2 });
    expect(world.server.connections).toBe(0);
    await first.call('mcp__s__greet');
    expect(world.opened).toBe(2);
    await first.close();

    for (const [lifecycle, after] of [
      ['eager', 'idle'],
      ['keep-alive', 'connected'],
    ] as const) {
      const host = await world.start({ servers: { s: { command: 'scripted', lifecycle } } });
      await host.ready();
      expect([lifecycle, host.servers()[0]?.status]).toEqual([lifecycle, 'connected']);
      await world.clock.advance(60 * 60 * 1000);
      expect([lifecycle, host.servers()[0]?.status]).toEqual([lifecycle, after]);
      await host.close();
    }
  });
});

describe('tool search in a session (CAT-7)', () => {
  it('finds, loads and calls a deferred tool', async () => {
    const world = makeWorld();
    const host = await world.start({ toolSearch: true });
    await host.ready();
    expect(host.tools().map(({ name }) => name)).toEqual(['tool_search']);
    const found = await host.call('tool_search', { query: 'select:mcp__s__greet' });
    expect(found).toMatchObject({ isError: false });
    expect(JSON.stringify(found.content)).toContain('inputSchema');
    expect(host.tools().map(({ name }) => name)).toEqual(['tool_search', 'mcp__s__greet']);
    expect(await host.call('mcp__s__greet')).toMatchObject({ content: [{ text: 'hello' }] });
    await expect(host.call('tool_search', {})).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
    await host.close();
  });
});
