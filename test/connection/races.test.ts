import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';
import { createGate, type FakeClock, fakeClock, scriptedServer } from '../../src/testing/index.ts';
import { textOf } from '../world/content.ts';
import { exists, fixture, HostWorld, outcome, status } from '../world/host-world.ts';
import { until } from '../world/until.ts';

let world: HostWorld;
let clock: FakeClock;
beforeEach(() => {
  world = new HostWorld();
  clock = fakeClock();
});
afterEach(() => world.end());

const tools = { a: (): string => 'a' };

describe('beginnings and ends that meet', () => {
  it.each([0, 1, 2, 5, 20, 100])('close %i turns into the start leaves no process', async (turns) => {
    const servers = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [name, world.server(name, { stubborn: true, era: 'legacy' })]),
    );
    const host = await world.host({ servers });
    for (let n = 0; n < turns; n += 1) await turn();
    await host.close();
    expect(['a', 'b', 'c'].flatMap((name) => world.pids(name)).filter(exists)).toEqual([]);
  });

  it('close during the start cancels it, and no event follows', async () => {
    const host = await world.host({ servers: { s: world.server('s', { silent: true }) } });
    await until('the process', () => world.pids('s').length === 1);
    const closing = host.close();
    const told = host.seen.all.server.length;
    await closing;
    expect(host.seen.all.ready).toEqual([{ connected: 0, failed: 0, cancelled: 1 }]);
    expect(host.seen.all.server).toHaveLength(told);
    expect(world.pids('s').filter(exists)).toEqual([]);
  });

  it('disconnect during the start waits for the end of the process and is no failure', async () => {
    const host = await world.host({ servers: { s: world.server('s', { silent: true, stubborn: true }) } });
    await until('the process', () => world.pids('s').length === 1);
    await host.disconnect('s');
    expect(world.pids('s').filter(exists)).toEqual([]);
    expect(host.seen.statuses('s').at(-1)).toBe('disconnected');
    await host.ready();
    expect(host.seen.all.ready).toEqual([{ connected: 0, failed: 0, cancelled: 1 }]);
  });

  it('connect right after disconnect starts again, once the first process has ended', async () => {
    const host = await world.host({ connect: 'none', servers: { s: world.server('s') } });
    const first = outcome(host.connect('s'));
    await until('the process', () => world.pids('s').length === 1);
    const ending = host.disconnect('s');
    const second = outcome(host.connect('s'));
    expect(await Promise.all([first, ending, second])).toEqual([undefined, undefined, undefined]);
    expect(status(host, 's')).toBe('connected');
    expect(world.pids('s').map(exists)).toEqual([false, true]);
  });

  it('a call that waits in backoff fails when the server is disconnected, and does not bring it back', async () => {
    const server = scriptedServer({ eras: 'legacy', tools });
    const host = await world.scripted(server, { clock });
    await host.ready();
    server.crash();
    await until('the crash', () => status(host, 's') === 'failed');
    const call = outcome(host.call('mcp__s__a'));
    await turn();
    await host.disconnect('s');
    expect(await call).toEqual({ code: 'CONNECTION_LOST', message: 's is disconnected' });
    await clock.advance(60_000);
    expect([status(host, 's'), server.connections]).toEqual(['disconnected', 0]);
  });

  it('a call that waits in backoff can be cancelled, and the respawn goes on', async () => {
    const server = scriptedServer({ eras: 'legacy', tools });
    const host = await world.scripted(server, { clock });
    await host.ready();
    server.crash();
    await until('the crash', () => status(host, 's') === 'failed');
    const controller = new AbortController();
    const call = outcome(host.call('mcp__s__a', {}, { signal: controller.signal }));
    await turn();
    controller.abort(new PlugboardError('CANCELLED', 'enough'));
    expect(await call).toEqual({ code: 'CANCELLED', message: 'enough' });
    await clock.advance(250);
    await until('the respawn', () => status(host, 's') === 'connected');
  });

  it('a hundred connects and disconnects in any order end in the state of the last one', async () => {
    const server = scriptedServer({ eras: 'legacy', tools });
    const host = await world.scripted(server, { connect: 'none' });
    const work: Promise<unknown>[] = [];
    for (let n = 0; n < 100; n += 1) {
      work.push(outcome(n % 3 === 2 ? host.disconnect('s') : host.connect('s')));
      if (n % 7 === 0) await turn();
    }
    await Promise.all(work);
    expect([status(host, 's'), server.connections]).toEqual(['connected', 1]);
    expect(await textOf(host.call('mcp__s__a'))).toBe('a');
    await host.disconnect('s');
    expect(server.connections).toBe(0);
  });

  it('a listener that disconnects inside an event is obeyed', async () => {
    const server = scriptedServer({ eras: 'legacy', tools });
    const host = await world.scripted(server, { connect: 'none' });
    host.on('server', ({ status }) => {
      if (status === 'connecting') void host.disconnect('s');
    });
    expect(await outcome(host.connect('s'))).toEqual({ code: 'CANCELLED', message: 's was disconnected' });
    expect([status(host, 's'), server.connections]).toEqual(['disconnected', 0]);
  });

  it('a start that times out gives way to a new one', async () => {
    const gate = createGate();
    const server = scriptedServer({ eras: 'legacy', tools });
    server.once('initialize', () => gate.opened);
    const host = await world.host({
      clock,
      connect: 'none',
      servers: { s: { ...fixture('x'), startupTimeoutMs: 1_000 } },
      replaceTransport: () => server.transport(),
    });
    const first = outcome(host.connect('s'));
    await server.seen('initialize');
    await clock.advance(1_000);
    expect(await first).toEqual({ code: 'TIMEOUT', message: 's did not finish starting within 1 s' });
    await host.connect('s');
    expect([status(host, 's'), server.connections]).toEqual(['connected', 1]);
    gate.open();
  });

  it('add and reload during close start nothing', async () => {
    const host = await world.host({ servers: { a: world.server('a', { stubborn: true }) } });
    await host.ready();
    const closing = host.close();
    const added = outcome(host.add('late', world.server('late')));
    const reloaded = outcome(host.reload());
    await Promise.all([closing, reloaded]);
    expect(await added).toEqual({ code: 'CANCELLED', message: 'The host was closed' });
    expect([...world.pids('a'), ...world.pids('late')].filter(exists)).toEqual([]);
    expect(world.pids('late')).toEqual([]);
  });

  it('after close no timer is left on the clock', async () => {
    const server = scriptedServer({ tools });
    const host = await world.scripted(server, { clock });
    await host.ready();
    await server.seen('subscriptions/listen');
    server.notify('notifications/tools/list_changed');
    const crashing = scriptedServer({ eras: 'legacy', tools });
    const other = await world.host({
      clock,
      servers: { s: fixture('y') },
      replaceTransport: () => crashing.transport(),
    });
    await other.ready();
    crashing.crash();
    await until('the crash', () => status(other, 's') === 'failed');
    await Promise.all([host.close(), other.close()]);
    expect(clock.pending).toBe(0);
  });
});
