import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ERA_MAX_AGE_MS } from '../../src/connection/era-cache.ts';
import { PROBE_TIMEOUT_MS } from '../../src/connection/negotiate.ts';
import {
  type FakeClock,
  fakeClock,
  NO_ANSWER,
  type ScriptedServer,
  scriptedServer,
} from '../../src/testing/index.ts';
import { textOf } from '../world/content.ts';
import { HostWorld, report, status } from '../world/host-world.ts';

let world: HostWorld;
let clock: FakeClock;
beforeEach(() => {
  world = new HostWorld();
  clock = fakeClock();
});
afterEach(() => world.end());

/** One start of the same server, from a cold host to its end; what it was asked, in order. */
async function start(server: ScriptedServer): Promise<string[]> {
  const from = server.received.length;
  const host = await world.scripted(server, { clock });
  await host.ready();
  expect(status(host, 's')).toBe('connected');
  const era = report(host, 's')['era'];
  await host.close();
  const asked = server.received.slice(from).flatMap((one) => ('method' in one ? [one.method] : []));
  return [String(era), ...asked.filter((method) => !BESIDE.includes(method)).slice(0, 4)];
}

const tools = { a: (): string => 'a' };

/** What the stream of changes brings with it, at a moment of its own. */
const BESIDE = ['subscriptions/listen', 'notifications/cancelled'];

describe('the era of a server (CON-5)', () => {
  it('a known legacy server gets no probe, and a verdict is questioned again after a day', async () => {
    const server = scriptedServer({ eras: 'legacy', tools });
    const known = ['legacy', 'initialize', 'notifications/initialized', 'tools/list'];
    const probed = ['legacy', 'server/discover', ...known.slice(1)];
    expect(await start(server)).toEqual(probed);
    expect(await start(server)).toEqual(known);
    await clock.advance(ERA_MAX_AGE_MS);
    expect(await start(server)).toEqual(known);
    await clock.advance(1);
    expect(await start(server)).toEqual(probed);
    expect(await start(server)).toEqual(known);
  });

  // Protocol: 26-versioning-7
  it('a known modern server is asked who it is and for its tools in one round trip', async () => {
    const server = scriptedServer({ eras: 'both', tools });
    expect(await start(server)).toEqual(['modern', 'server/discover', 'tools/list']);
    // Answered only when the other question has arrived.
    const listed = server.seen('tools/list', 2);
    server.once('server/discover', async () => {
      await listed;
      return { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
    });
    expect(await start(server)).toEqual(['modern', 'server/discover', 'tools/list']);
  });

  it('a legacy server that became modern is found out', async () => {
    await start(scriptedServer({ eras: 'legacy', tools }));
    const upgraded = scriptedServer({ eras: 'modern', tools });
    expect(await start(upgraded)).toEqual(['modern', 'initialize', 'server/discover', 'tools/list']);
    expect(await start(upgraded)).toEqual(['modern', 'server/discover', 'tools/list']);
  });

  // Protocol: 26-versioning-7
  it('a modern server that became legacy is found out, even when it never insists on initialize', async () => {
    await start(scriptedServer({ eras: 'modern', tools }));
    const downgraded = scriptedServer({ eras: 'legacy', tools });
    expect(await start(downgraded)).toEqual([
      'legacy',
      'server/discover',
      'tools/list',
      'server/discover',
      'initialize',
    ]);
  });

  it('a verdict that led to a failed start is forgotten', async () => {
    await start(scriptedServer({ eras: 'modern', tools }));
    const silent = scriptedServer({ eras: 'modern' }).on('tools/list', ({ crash }) => crash());
    const host = await world.scripted(silent, { clock });
    await host.ready();
    expect(status(host, 's')).toBe('failed');
    await host.close();
    expect(JSON.parse(readFileSync(join(world.home, 'cache', 'eras.json'), 'utf8'))).toEqual({});
  });

  // Protocol: 26-stdio-16
  it('protocol 2: a legacy server that ignores the probe gets initialize in place', async () => {
    const server = world.server('s', { era: 'legacy', ignores: ['server/discover'] });
    const host = await world.host({ servers: { s: server } });
    await host.ready();
    expect(report(host, 's')).toMatchObject({ status: 'connected', era: 'legacy' });
    expect(world.pids('s')).toHaveLength(1);
    expect(await textOf(host.call('mcp__s__echo', { message: 'hi' }))).toBe('hi');
  });

  // Protocol: 26-stdio-15
  it('a slow server of both eras is used in the era it understood, and probed again the next time', async () => {
    const host = await world.host({ servers: { s: world.server('s', { delayMs: 3_500 }) } });
    await host.ready();
    // Both questions waited for it; it answered both, and the handshake is what it goes by.
    expect(report(host, 's')).toMatchObject({ status: 'connected', era: 'legacy' });
    expect(world.witness('s').slice(1, 5)).toEqual([
      'server/discover',
      'initialize',
      'notifications/initialized',
      'tools/list',
    ]);
    await host.close();
    expect(existsSync(join(world.home, 'cache', 'eras.json'))).toBe(false);
  });

  it('a slow server that answers both at once is probed again the next time, whichever is read first', async () => {
    const versions = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
    const opened = { protocolVersion: '2025-11-25', capabilities: { tools: {} } };
    let probe: unknown;
    const server = scriptedServer({ eras: 'both', tools })
      .on('server/discover', ({ id }) => {
        probe = id;
        return NO_ANSWER;
      })
      .on('initialize', ({ id, line }) => {
        line(JSON.stringify({ jsonrpc: '2.0', id: probe, result: versions }));
        line(JSON.stringify({ jsonrpc: '2.0', id, result: opened }));
        return NO_ANSWER;
      });
    const host = await world.scripted(server, { clock });
    const ready = host.ready();
    await expect.poll(() => probe).toBeDefined();
    await clock.advance(PROBE_TIMEOUT_MS);
    await ready;
    expect(report(host, 's')).toMatchObject({ status: 'connected', era: 'legacy' });
    await host.close();
    expect(existsSync(join(world.home, 'cache', 'eras.json'))).toBe(false);
  });

  it('a slow server of the modern era only is modern', async () => {
    const host = await world.host({ servers: { s: world.server('s', { era: 'modern', delayMs: 3_500 }) } });
    await host.ready();
    expect(report(host, 's')).toMatchObject({ status: 'connected', era: 'modern' });
    expect(await textOf(host.call('mcp__s__echo', { message: 'hi' }))).toBe('hi');
  });
});
