import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fakeClock, scriptedServer } from '../../src/testing/index.ts';
import { textOf } from '../world/content.ts';
import { exists, HostWorld, outcome, report, status } from '../world/host-world.ts';
import { until } from '../world/until.ts';

let world: HostWorld;
beforeEach(() => {
  world = new HostWorld();
});
afterEach(() => world.end());

/** Processes that have ended and were not collected by us. */
function zombies(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [, state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /, 'x ')
        .split(' ');
      return state === 'Z' && Number(parent) === process.pid;
    } catch {
      return false;
    }
  });
}

describe('servers that crash', () => {
  // Protocol: 26-stdio-14
  it('F20: the call fails with the reason, the server comes back, and a write is not done twice', async () => {
    const host = await world.host({ servers: { s: world.server('s') } });
    await host.ready();
    const [first] = world.pids('s');
    expect(await outcome(host.call('mcp__s__write'))).toEqual({
      code: 'CONNECTION_LOST',
      message: 'The server exited with code 7: out of ink',
    });
    // The next call waits for the respawn instead of failing.
    const pid = Number(await textOf(host.call('mcp__s__pid')));
    expect(pid).not.toBe(first);
    expect(world.witness('s').filter((line) => line === 'written')).toEqual(['written']);
    expect(host.seen.statuses('s')).toEqual([
      'connected',
      'failed CONNECTION_LOST',
      'connecting',
      'connected',
    ]);
    expect(host.seen.all['call.end'].map(({ outcome }) => outcome)).toEqual(['error', 'ok']);
  });

  it('F20: the failure is reported at once, and the respawn waits for its backoff', async () => {
    const clock = fakeClock();
    const server = scriptedServer({ tools: { die: () => 'never' } });
    server.on('tools/call', ({ crash }) => crash(5));
    const host = await world.scripted(server, { clock });
    await host.ready();
    // No time passes on this clock: the call ends all the same.
    expect(await outcome(host.call('mcp__s__die'))).toMatchObject({ code: 'CONNECTION_LOST' });
    expect(status(host, 's')).toBe('failed');
    expect(server.connections).toBe(0);
    await clock.advance(124);
    expect(status(host, 's')).toBe('failed');
    await clock.advance(250 - 124);
    await until('the respawn', () => status(host, 's') === 'connected');
  });

  it('F21: a crash loop opens the breaker, the state shows it, and calls fail at once', async () => {
    const clock = fakeClock();
    const server = scriptedServer({ tools: { a: () => 'a' } });
    const host = await world.scripted(server, { clock });
    await host.ready();
    for (let crash = 1; crash <= 5; crash += 1) {
      await until('a connection', async () => {
        await clock.advance(crash === 1 ? 0 : 4_000);
        return status(host, 's') === 'connected';
      });
      server.crash(9);
      await until('the crash', () => status(host, 's') === 'failed');
    }
    expect(report(host, 's')['error']).toEqual({
      code: 'CONNECTION_LOST',
      message: 'The server ended with exit code 9 (failed 5 times in a row)',
      hint: 'It is left alone for 60 s; fix the cause, then connect it again.',
    });
    expect(await outcome(host.call('mcp__s__a'))).toMatchObject({ code: 'CONNECTION_LOST' });
    expect(status(host, 's')).toBe('failed');
    // A person may, at any time.
    await host.connect('s');
    expect(await textOf(host.call('mcp__s__a'))).toBe('a');
  });

  it('reconnect replaces a running server, starts one that is not, and rejects with the reason', async () => {
    const broken = { command: process.execPath, args: ['-e', 'process.exit(3)'] };
    const host = await world.host({
      connect: 'none',
      servers: { s: world.server('s', { era: 'legacy' }), broken },
    });
    await host.reconnect('s');
    const [first] = world.pids('s');
    await host.reconnect('s');
    expect(world.pids('s')).toHaveLength(2);
    expect(world.pids('s').filter(exists)).toEqual(world.pids('s').filter((pid) => pid !== first));
    expect(await outcome(host.reconnect('broken'))).toMatchObject({ code: 'START_FAILED' });
    await host.disconnect('s');
    await host.reconnect('s');
    expect(host.servers()).toMatchObject([{ name: 's', status: 'connected' }, { status: 'failed' }]);
  });

  it('F7: a hundred crashes leave no zombie and no process', async () => {
    const host = await world.host({ connect: 'none', servers: { s: world.server('s', { era: 'legacy' }) } });
    for (let crash = 0; crash < 100; crash += 1) {
      await host.connect('s');
      await outcome(host.call('mcp__s__crash'));
      await host.disconnect('s');
    }
    expect(world.pids('s')).toHaveLength(100);
    expect(world.pids('s').filter(exists)).toEqual([]);
    expect(zombies()).toEqual([]);
  });

  it('F23: a server that is stopped and continued recovers, and its calls with it', async () => {
    const host = await world.host({ servers: { s: world.server('s') } });
    await host.ready();
    const [pid = 0] = world.pids('s');
    process.kill(pid, 'SIGSTOP');
    const asleep = textOf(host.call('mcp__s__echo', { message: 'good morning' }));
    expect(
      await outcome(host.call('mcp__s__echo', { message: 'too long' }, { timeoutMs: 300 })),
    ).toMatchObject({
      code: 'TIMEOUT',
    });
    process.kill(pid, 'SIGCONT');
    expect(await asleep).toBe('good morning');
    expect(await textOf(host.call('mcp__s__pid'))).toBe(String(pid));
  });

  it('F23: a stopped server is ended with the host', async () => {
    const host = await world.host({ servers: { s: world.server('s') } });
    await host.ready();
    const [pid = 0] = world.pids('s');
    process.kill(pid, 'SIGSTOP');
    await host.close();
    expect(exists(pid)).toBe(false);
  });

  it('F22: a server that stops reading costs a bounded queue and a timeout, and can be ended', async () => {
    const host = await world.host({ servers: { s: world.server('s', { era: 'legacy', deafAfter: 5 }) } });
    await host.ready();
    const message = 'x'.repeat(1024 * 1024);
    const calls = Array.from({ length: 40 }, () =>
      outcome(host.call('mcp__s__echo', { message }, { timeoutMs: 1_500 })),
    );
    const codes = new Set((await Promise.all(calls)).map((one) => (one as { code: string }).code));
    expect([...codes].filter((code) => code !== 'TIMEOUT' && code !== 'LIMIT_EXCEEDED')).toEqual([]);
    expect(codes.has('TIMEOUT')).toBe(true);
    await host.disconnect('s');
    expect(world.pids('s').filter(exists)).toEqual([]);
  });

  it('F11: an answer over the cap fails its call; the server and its other calls live', async () => {
    const host = await world.host({ servers: { s: world.server('s') } });
    await host.ready();
    const before = world.pids('s');
    const waiting = outcome(host.call('mcp__s__wait', {}, { timeoutMs: 15_000 }));
    expect(await outcome(host.call('mcp__s__large', { megabytes: 70 }))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    expect(await textOf(host.call('mcp__s__echo', { message: 'alive' }))).toBe('alive');
    expect(world.pids('s')).toEqual(before);
    expect(host.seen.all['call.end']).toHaveLength(2);
    await host.disconnect('s');
    expect(await waiting).toMatchObject({ code: 'CONNECTION_LOST' });
  });

  it('CON-2: close ends every process, those that left their group as well, and every call', async () => {
    const host = await world.host({
      servers: {
        a: world.server('a', { stubborn: true }),
        b: {
          command: 'sh',
          args: ['-c', `${process.execPath} "$0" "$1"; true`, ...(world.server('b').args ?? [])],
        },
      },
    });
    await host.ready();
    const grandchild = Number(await textOf(host.call('mcp__a__fork')));
    const call = outcome(host.call('mcp__b__wait'));
    await host.close();
    expect(world.pids('a').filter(exists)).toEqual([]);
    // Those that were not our own children are collected by init, when it gets to it.
    await until('the end of all others', () => ![...world.pids('b'), grandchild].some(exists));
    expect(await call).toMatchObject({
      code: 'CANCELLED',
      message: expect.stringContaining('The host was closed'),
    });
    expect(host.seen.all['call.begin']).toHaveLength(host.seen.all['call.end'].length);
  });
});
