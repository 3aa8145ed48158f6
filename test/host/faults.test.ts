import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGate, fakeClock, scriptedServer } from '../../src/testing/index.ts';
import { textOf } from '../world/content.ts';
import { exists, fixture, HostWorld, outcome, report } from '../world/host-world.ts';
import { until } from '../world/until.ts';

let world: HostWorld;
beforeEach(() => {
  world = new HostWorld();
});
afterEach(() => world.end());

describe('servers that answer badly', () => {
  it('F25: repeated answers and answers without a request are ignored', async () => {
    const host = await world.host({ servers: { s: world.server('s') } });
    await host.ready();
    expect(await textOf(host.call('mcp__s__twice'))).toBe('first');
    expect(await textOf(host.call('mcp__s__echo', { message: 'next' }))).toBe('next');
  });

  // Protocol: 25-cancellation-6, 26-cancellation-14
  it('F26: a cancel that races with the answer has one outcome, and reaches the server', async () => {
    const server = scriptedServer();
    const gate = createGate();
    server.tool('slow', async () => {
      await gate.opened;
      return 'too late';
    });
    const host = await world.scripted(server);
    await host.ready();
    const controller = new AbortController();
    const call = outcome(host.call('mcp__s__slow', {}, { signal: controller.signal }));
    await server.seen('tools/call');
    gate.open();
    controller.abort();
    expect(await call).toMatchObject({ code: 'CANCELLED' });
    await server.seen('notifications/cancelled');
    await turn();
    expect(host.seen.all['call.end'].map(({ outcome }) => outcome)).toEqual(['cancelled']);
  });

  it('F27: progress for ever is ended by the total limit of its server', async () => {
    const host = await world.host({
      servers: { s: { ...world.server('s'), toolTimeoutMs: 2_000, maxTotalMs: 2_500 } },
    });
    await host.ready();
    const seen: number[] = [];
    const call = host.call(
      'mcp__s__progress-for-ever',
      {},
      { onProgress: ({ progress }) => seen.push(progress) },
    );
    expect(await outcome(call)).toEqual({
      code: 'TIMEOUT',
      message: 'progress-for-ever (s) timed out: not finished after 2.5 s',
    });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen).toEqual(seen.map((_, at) => at + 1));
  });

  it('CAL-4: a progress callback that throws harms neither the call nor the host', async () => {
    const server = scriptedServer();
    server.on('tools/call', ({ progress }) => {
      progress(1);
      return { content: [{ type: 'text', text: 'done' }] };
    });
    server.tool('work', () => 'done');
    const host = await world.scripted(server);
    await host.ready();
    const call = host.call(
      'mcp__s__work',
      {},
      {
        onProgress: () => {
          throw new Error('mine');
        },
      },
    );
    expect(await textOf(call)).toBe('done');
    expect(host.seen.messages('s')).toEqual(['a progress callback threw: Error: mine']);
  });

  // Protocol: 25-logging-3a, 25-logging-5a, 26-logging-7a, 26-logging-9a
  it('F28, CON-13: ten thousand log messages do not keep an answer away, and few of them get through', async () => {
    const host = await world.host({ servers: { s: world.server('s', { era: 'legacy' }) } });
    await host.ready();
    expect(await textOf(host.call('mcp__s__flood'))).toBe('after the flood');
    const lines = host.seen.messages('s', 'info');
    expect(lines[0]).toBe('line 0');
    // A hundred in any second; the flood may last for more than one.
    expect(lines.length).toBeLessThan(3_000);
    expect(await textOf(host.call('mcp__s__echo', { message: 'still here' }))).toBe('still here');
  });

  it('F29: a list_changed storm, also one that every list emits, is one listing and one to follow', async () => {
    const clock = fakeClock();
    const server = scriptedServer({ eras: 'legacy', tools: { a: () => 'a' } });
    const host = await world.scripted(server, { clock });
    await host.ready();
    server.on('tools/list', ({ notify }) => {
      for (let n = 0; n < 1_000; n += 1) notify('notifications/tools/list_changed');
      return { tools: [{ name: 'a', inputSchema: { type: 'object' } }] };
    });
    for (let n = 0; n < 1_000; n += 1) server.notify('notifications/tools/list_changed');
    await turn();
    await clock.advance(49);
    expect(await server.seen('tools/list')).toHaveLength(2);
    await clock.advance(60_000);
    // Each listing that brought nothing new doubles the wait: 50 ms, 100 ms, … so eleven in a minute, not thousands.
    const listings = (await server.seen('tools/list')).length;
    expect(listings).toBeGreaterThan(3);
    expect(listings).toBeLessThan(15);
  });

  it('F33: a list that changes during a call leaves the call alone', async () => {
    const clock = fakeClock();
    const gate = createGate();
    const server = scriptedServer({ eras: 'legacy' });
    server.tool('slow', async () => {
      await gate.opened;
      return 'as it began';
    });
    const host = await world.scripted(server, { clock });
    await host.ready();
    const call = textOf(host.call('mcp__s__slow'));
    await server.seen('tools/call');
    server.removeTool('slow').tool('other', () => 'other');
    server.notify('notifications/tools/list_changed');
    await turn();
    await clock.advance(1);
    await until('the new list', () => host.tools()[0]?.tool === 'other');
    gate.open();
    expect(await call).toBe('as it began');
    expect(host.seen.all.tools).toContainEqual({ server: 's' });
  });

  it('CAT-3: a list_changed that comes during the first listing is not lost', async () => {
    const clock = fakeClock();
    const server = scriptedServer({ eras: 'legacy', tools: { old: () => 'old' } });
    server.once('tools/list', ({ notify }) => {
      notify('notifications/tools/list_changed');
      const tools = [{ name: 'old', inputSchema: { type: 'object' } }];
      server.removeTool('old').tool('new', () => 'new');
      return { tools };
    });
    const host = await world.scripted(server, { clock });
    await host.ready();
    expect(host.tools().map(({ tool }) => tool)).toEqual(['old']);
    await clock.advance(1);
    await until('the newer list', () => host.tools()[0]?.tool === 'new');
  });

  it('F56: one hopeless tool of fifty is reported, forty-nine work', async () => {
    const good = Array.from({ length: 49 }, (_, n) => ({ name: `t${n}`, inputSchema: { type: 'object' } }));
    const server = scriptedServer();
    server.on('tools/list', () => ({ tools: [...good, { name: 'bad', inputSchema: 'nonsense' }] }));
    server.on('tools/call', ({ params }) => ({ content: [{ type: 'text', text: String(params['name']) }] }));
    const host = await world.scripted(server, { toolSearch: false });
    await host.ready();
    expect(host.tools()).toHaveLength(49);
    expect(await textOf(host.call('mcp__s__t48'))).toBe('t48');
    expect(report(host, 's')).toMatchObject({
      tools: 49,
      quarantined: [{ tool: 'bad', reason: expect.any(String) }],
    });
  });

  it.each([
    ['null content and isError', { content: null, isError: null }],
    ['an unknown content type', { content: [{ type: 'hologram', beam: 1 }] }],
    ['a wrong _meta', { content: [], _meta: null }],
    ['structuredContent that is an array', { content: [], structuredContent: [1] }],
    ['bad base64', { content: [{ type: 'image', data: '§§', mimeType: 'image/png' }] }],
  ])('F57: a result with %s ends its call', async (_what, result) => {
    const server = scriptedServer({ eras: 'legacy', tools: { odd: () => '' } });
    server.on('tools/call', () => result);
    const host = await world.scripted(server);
    await host.ready();
    expect(await outcome(host.call('mcp__s__odd'))).toMatchObject({ isError: false });
    expect(host.seen.all['call.end']).toHaveLength(1);
  });

  it.each(['lenient', 'strict'])(
    'F59: an old hand-made server works (%s), and its deviations are reported once',
    async (way) => {
      const host = await world.host({ servers: { old: fixture('connection-old.mjs', way) } });
      await host.ready();
      expect(report(host, 'old')).toMatchObject({
        status: 'connected',
        era: 'legacy',
        protocolVersion: '2024-11-05',
        tools: 2,
      });
      expect(await textOf(host.call('mcp__old__shout', { word: 'hey' }))).toBe('HEY');
      expect(await host.call('mcp__old__refuse')).toMatchObject({ isError: true });
      const said = host.seen.messages('old').filter((message) => message.includes('protocolVersion'));
      expect(said).toEqual(['initialize was answered without a protocolVersion; taken as 2024-11-05']);
    },
  );

  it('protocol 13, F15: an answer nested 200,000 deep is a typed error', async () => {
    const server = scriptedServer({ eras: 'legacy', tools: { deep: () => '' } });
    server.on('tools/call', ({ id, line }) => {
      line(`{"jsonrpc":"2.0","id":${id},"result":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
      return undefined;
    });
    const host = await world.scripted(server);
    await host.ready();
    expect(await outcome(host.call('mcp__s__deep'))).toMatchObject({ code: 'PROTOCOL_ERROR' });
  });

  // Protocol: 25-elicitation-30, 25-lifecycle-14b, 25-roots-4
  it('a server that asks for more than it may is refused and works on', async () => {
    const server = scriptedServer({ eras: 'legacy', tools: { a: () => 'a' } });
    const host = await world.scripted(server);
    await host.ready();
    await expect(server.request('elicitation/create', { message: 'Your password?' })).rejects.toMatchObject({
      code: -32601,
    });
    expect(await server.request('ping')).toEqual({});
    expect(await textOf(host.call('mcp__s__a'))).toBe('a');
  });

  it('a disconnect ends the process of a call that runs', async () => {
    const host = await world.host({ servers: { s: world.server('s') } });
    await host.ready();
    const call = outcome(host.call('mcp__s__wait'));
    await until('the call', () => world.witness('s').includes('tools/call wait'));
    await host.disconnect('s');
    expect(await call).toMatchObject({ code: 'CONNECTION_LOST' });
    expect(world.pids('s').filter(exists)).toEqual([]);
  });
});
