import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshForMs, STALE_REFRESH_GAP_MS } from '../../src/connection/refresh.ts';
import { type FakeClock, fakeClock, type ScriptedServer, scriptedServer } from '../../src/testing/index.ts';
import { HostWorld } from '../world/host-world.ts';

let world: HostWorld;
let clock: FakeClock;
beforeEach(() => {
  world = new HostWorld();
  clock = fakeClock();
});
afterEach(() => world.end());

const listings = ({ received }: ScriptedServer): number =>
  received.filter((one) => 'method' in one && one.method === 'tools/list').length;

const EVER = Number.POSITIVE_INFINITY;

describe('how long a list is fresh', () => {
  it.each([
    ['modern', 0, false, 0],
    ['modern', 0, true, EVER],
    ['modern', undefined, false, 0],
    ['modern', undefined, true, EVER],
    ['modern', 500, false, 500],
    ['modern', 500, true, 500],
    ['legacy', undefined, false, 60_000],
    ['legacy', undefined, true, EVER],
    ['legacy', 500, false, 60_000],
  ] as const)('of a %s server with ttlMs %s, announced: %s', (era, ttlMs, announced, freshMs) => {
    expect(freshForMs({ era, ttlMs, announced }, 60_000)).toBe(freshMs);
  });
});

describe('a list that is used after its time', () => {
  it.each([
    ['ttlMs 0 and no announcements: at most once for each gap', { tools: {} }, 0, [1, 2, 3]],
    ['ttlMs 0 and announcements: never', { tools: { listChanged: true } }, 0, [1, 1, 1]],
    ['an hour: not before', { tools: {} }, 3_600_000, [1, 1, 1]],
  ] as const)('%s', async (_what, capabilities, ttlMs, expected) => {
    const tools = [{ name: 'a', inputSchema: { type: 'object' } }];
    const server = scriptedServer({ eras: 'modern', capabilities });
    server.on('tools/list', () => ({ tools, ttlMs }));
    const host = await world.scripted(server, { clock });
    await host.ready();
    const seen: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      seen.push(listings(server));
      for (let n = 0; n < 50; n += 1) host.tools();
      await clock.advance(STALE_REFRESH_GAP_MS);
    }
    expect(seen).toEqual(expected);
  });

  it('is kept when its server does not answer, and asked for again at the next use', async () => {
    const tools = [{ name: 'a', inputSchema: { type: 'object' } }];
    const server = scriptedServer({ eras: 'modern', capabilities: { tools: {} } });
    server.once('tools/list', () => ({ tools, ttlMs: 0 }));
    server.once('tools/list', () => {
      throw new Error('not now');
    });
    server.on('tools/list', () => ({ tools: [...tools, { ...tools[0], name: 'b' }], ttlMs: 0 }));
    const host = await world.scripted(server, { clock });
    await host.ready();
    const names = (): string[] => host.tools().map(({ tool }) => tool);
    const seen = [names()];
    for (let round = 0; round < 2; round += 1) {
      await clock.advance(STALE_REFRESH_GAP_MS);
      seen.push(names());
    }
    expect(seen).toEqual([['a'], ['a'], ['a', 'b']]);
  });
});
