import { mkdtempSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CachedList,
  cacheKey,
  DEFAULT_TTL_MS,
  openCatalogCache,
} from '../../src/catalog/catalog-cache.ts';
import { homeAt } from '../../src/config/home.ts';
import { fakeClock } from '../../src/testing/index.ts';

const scratch = (): ReturnType<typeof homeAt> => homeAt(mkdtempSync(join(tmpdir(), 'plugboard-cache-')));
const list: CachedList = {
  era: 'legacy',
  protocolVersion: '2025-11-25',
  instructions: 'be kind',
  http: false,
  items: [{ name: 'a' }],
};

describe('catalog cache (CAT-4)', () => {
  it('returns what was written, private, and reports when it is stale', async () => {
    const home = scratch();
    const clock = fakeClock();
    const cache = openCatalogCache(home, clock);
    const key = cacheKey(['server']);
    expect(await cache.read(key)).toBeUndefined();
    cache.write(key, list);
    await cache.flush();
    expect(await cache.read(key)).toEqual({ list, fresh: true });
    const [file = ''] = readdirSync(join(home.cache, 'tools'));
    expect(statSync(join(home.cache, 'tools', file)).mode & 0o777).toBe(0o600);
    await clock.advance(DEFAULT_TTL_MS);
    expect(await openCatalogCache(home, clock).read(key)).toEqual({ list, fresh: false });
  });

  // Protocol: 26-caching-5
  it('CAT-3: a ttl of the server is honoured, and no server makes a list good for ever', async () => {
    const clock = fakeClock();
    const cache = openCatalogCache(scratch(), clock);
    cache.write('short', { ...list, ttlMs: 1_000 });
    cache.write('endless', { ...list, ttlMs: Number.MAX_SAFE_INTEGER });
    await cache.flush();
    expect((await cache.read('short'))?.fresh).toBe(true);
    await clock.advance(1_000);
    expect((await cache.read('short'))?.fresh).toBe(false);
    expect((await cache.read('endless'))?.fresh).toBe(true);
    await clock.advance(24 * 60 * 60 * 1000);
    expect((await cache.read('endless'))?.fresh).toBe(false);
  });

  it('writes a list again if it changed or a tenth of its time has passed, and not before', async () => {
    const home = scratch();
    const clock = fakeClock();
    const cache = openCatalogCache(home, clock);
    const file = join(home.cache, 'tools', 'k.json');
    const written = async (given: CachedList): Promise<number> => {
      cache.write('k', given);
      await cache.flush();
      return statSync(file).ino;
    };
    const first = await written(list);
    expect(await written({ ...list })).toBe(first);
    const changed = await written({ ...list, items: [{ name: 'b' }] });
    expect(changed).not.toBe(first);
    await clock.advance(DEFAULT_TTL_MS / 10);
    expect(await written({ ...list, items: [{ name: 'b' }] })).not.toBe(changed);
    await clock.advance(DEFAULT_TTL_MS - 1);
    expect(await cache.read('k')).toMatchObject({ fresh: true });
  });

  it('a clock that was set back does not make an old list fresh', async () => {
    const home = scratch();
    const cache = openCatalogCache(home, fakeClock(1_000_000));
    cache.write('k', list);
    await cache.flush();
    expect((await openCatalogCache(home, fakeClock(500_000)).read('k'))?.fresh).toBe(false);
  });

  it.each(['', '{', '[]', '{"at":1,"items":{}}', '{"at":1,"items":[],"era":"old","protocolVersion":"1"}'])(
    'a damaged file (%j) counts as none',
    async (text) => {
      const home = scratch();
      const cache = openCatalogCache(home, fakeClock());
      cache.write('k', list);
      await cache.flush();
      writeFileSync(join(home.cache, 'tools', 'k.json'), text);
      expect(await cache.read('k')).toBeUndefined();
    },
  );

  it('a home that cannot be written costs nothing but the speed of the next start', async () => {
    const home = scratch();
    writeFileSync(home.cache, 'a file where the folder should be');
    const cache = openCatalogCache(home, fakeClock());
    cache.write('k', list);
    await cache.flush();
    expect(await cache.read('k')).toBeUndefined();
  });

  it('keeps the newest five hundred files', async () => {
    const home = scratch();
    const cache = openCatalogCache(home, fakeClock());
    cache.write('first', list);
    await cache.flush();
    const folder = join(home.cache, 'tools');
    for (let n = 0; n < 500; n += 1) writeFileSync(join(folder, `old-${n}.json`), '{}');
    utimesSync(join(folder, 'old-7.json'), new Date(0), new Date(0));
    cache.write('first', { ...list, items: [] });
    await cache.flush();
    expect(readdirSync(folder)).toHaveLength(500);
    expect(readdirSync(folder)).not.toContain('old-7.json');
  });

  // Protocol: 26-caching-2, 26-caching-12
  it('everything that can change a list changes its key', () => {
    const entry = { command: 'a', args: ['b'] };
    const keys = [
      cacheKey(['user', '/x', entry, 'me']),
      cacheKey(['project', '/x', entry, 'me']),
      cacheKey(['user', '/y', entry, 'me']),
      cacheKey(['user', '/x', { ...entry, env: { TOKEN: '1' } }, 'me']),
      cacheKey(['user', '/x', entry, 'you']),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    expect(cacheKey([{ a: 1, b: 2 }])).toBe(cacheKey([{ b: 2, a: 1 }]));
  });
});
