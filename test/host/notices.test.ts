import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeClock, RpcError, type ScriptedServer, scriptedServer } from '../../src/testing/index.ts';
import { fixture, HostWorld } from '../world/host-world.ts';
import { until } from '../world/until.ts';

let world: HostWorld;
beforeEach(() => {
  world = new HostWorld();
});
afterEach(() => world.end());

const paramsOf = (server: ScriptedServer, method: string): unknown[] =>
  server.received.flatMap((one) => ('method' in one && one.method === method ? [one.params] : []));

const tools = { a: (): string => 'a' };

describe('log messages of servers (CON-13)', () => {
  // Protocol: 25-logging-5b, 26-logging-9b
  it('a legacy server receives the level; its messages arrive cleaned and cut', async () => {
    const server = scriptedServer({ eras: 'legacy', tools, capabilities: { tools: {}, logging: {} } });
    const host = await world.scripted(server, { logLevel: 'notice' });
    await host.ready();
    await server.seen('logging/setLevel');
    expect(paramsOf(server, 'logging/setLevel')).toEqual([{ level: 'notice' }]);
    server.notify('notifications/message', { level: 'emergency', data: '\u001b[31mred\u001b[0m \u202eflip' });
    server.notify('notifications/message', { level: 'info', data: { nested: ['x'.repeat(5_000)] } });
    server.notify('notifications/message', { level: 7, data: undefined });
    await until('three messages', () => host.seen.all.log.length === 3);
    const [first, second, third] = host.seen.all.log;
    expect(first).toEqual({ server: 's', level: 'emergency', message: 'red flip' });
    expect(second?.message).toMatch(/^\{"nested":\["x+/);
    expect(second?.message.length).toBeLessThan(4_200);
    expect(third).toMatchObject({ server: 's', level: 'info' });
  });

  it('a modern server receives the level with every request', async () => {
    const server = scriptedServer({ tools });
    server.on('tools/call', ({ notify }) => {
      notify('notifications/message', { level: 'warning', data: 'careful' });
      return { content: [] };
    });
    const host = await world.scripted(server, { logLevel: 'warning' });
    await host.ready();
    await host.call('mcp__s__a');
    const [call] = paramsOf(server, 'tools/call') as { _meta: Record<string, unknown> }[];
    expect(call?._meta['io.modelcontextprotocol/logLevel']).toBe('warning');
    expect(host.seen.messages('s')).toEqual(['careful']);
  });

  // Protocol: 25-logging-3a, 25-logging-5a, 26-logging-7a, 26-logging-9a
  it('a flood is held back and counted, and hides none of our own messages', async () => {
    const clock = fakeClock();
    const server = scriptedServer({ eras: 'legacy', tools });
    const host = await world.scripted(server, { clock });
    await host.ready();
    for (let n = 0; n < 500; n += 1) server.notify('notifications/message', { level: 'info', data: `n${n}` });
    server.line('not a frame');
    await turn();
    expect(host.seen.messages('s', 'info')).toHaveLength(100);
    expect(host.seen.messages('s')).toEqual(['Ignored a line that is not JSON-RPC: not a frame']);
    await clock.advance(1_000);
    server.notify('notifications/message', { level: 'info', data: 'later' });
    await until('the count', () => host.seen.messages('s').includes('400 log messages were left out'));
    expect(host.seen.messages('s', 'info').at(-1)).toBe('later');
  });
});

describe('sandbox state (CON-12)', () => {
  const interested = {
    tools: {},
    experimental: { 'codex/sandbox-state': {}, 'codex/sandbox-state-meta': {} },
  };

  it('is pushed at the start, again on every change, and rides on calls; others never see it', async () => {
    const wants = scriptedServer({ eras: 'legacy', tools, capabilities: interested });
    wants.on('codex/sandbox-state/update', () => ({}));
    const other = scriptedServer({ eras: 'legacy', tools });
    const host = await world.host({
      sandboxState: { mode: 'read-only' },
      servers: { wants: fixture('x'), other: fixture('y') },
      replaceTransport: (name) => (name === 'wants' ? wants : other).transport(),
    });
    await host.ready();
    await wants.seen('codex/sandbox-state/update');
    await host.call('mcp__wants__a');
    await host.setSandboxState({ mode: 'workspace-write' });
    await host.call('mcp__wants__a');
    await host.call('mcp__other__a');
    expect(paramsOf(wants, 'codex/sandbox-state/update')).toEqual([
      { mode: 'read-only' },
      { mode: 'workspace-write' },
    ]);
    const metas = paramsOf(wants, 'tools/call').map(
      (params) => (params as { _meta: Record<string, unknown> })._meta['codex/sandbox-state-meta'],
    );
    expect(metas).toEqual([{ mode: 'read-only' }, { mode: 'workspace-write' }]);
    expect(JSON.stringify(other.received)).not.toContain('sandbox-state');
  });

  it('is sent to servers that accept the capability’s own name, and a refusal is a warning', async () => {
    const named = scriptedServer({ eras: 'legacy', tools, capabilities: interested });
    named.on('codex/sandbox-state', () => ({}));
    const refuses = scriptedServer({ eras: 'legacy', tools, capabilities: interested });
    refuses.on('codex/sandbox-state/update', () => {
      throw new RpcError(-32603, 'not today');
    });
    const host = await world.host({
      servers: { named: fixture('x'), refuses: fixture('y') },
      replaceTransport: (name) => (name === 'named' ? named : refuses).transport(),
    });
    await host.ready();
    await host.setSandboxState({ mode: 'read-only' });
    expect(paramsOf(named, 'codex/sandbox-state')).toEqual([{ mode: 'read-only' }]);
    expect(host.seen.messages('refuses')).toEqual([
      'the sandbox state was not taken: codex/sandbox-state/update returned an error: not today',
    ]);
  });
});
