import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Home, homeAt } from '../../src/config/home.ts';
import { ERA_MAX_AGE_MS, openEraCache } from '../../src/connection/era-cache.ts';
import type { Negotiated } from '../../src/connection/eras.ts';
import { fakeClock } from '../../src/testing/index.ts';

let home: Home;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plugboard-verdicts-'));
  home = homeAt(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const legacy: Negotiated = { era: 'legacy', protocolVersion: '2025-11-25', capabilities: {} };
const modern: Negotiated = { era: 'modern', protocolVersion: '2026-07-28', capabilities: { tools: {} } };
const one = { command: 'one', env: { TOKEN: 'do-not-write-me' } };
const two = { url: 'https://example.com/mcp' };

describe('remembered eras (CON-5)', () => {
  // Protocol: 26-versioning-7
  it('outlive the process for a day, and hold no secret', async () => {
    const clock = fakeClock();
    const first = await openEraCache(home, clock);
    first.remember(one, legacy);
    first.remember(two, modern);
    await first.flush();
    const second = await openEraCache(home, clock);
    expect([second.get(one), second.get(two)]).toEqual([{ era: 'legacy' }, { era: 'modern' }]);
    expect(second.get({ ...one, args: ['--other'] })).toBeUndefined();
    expect(readFileSync(join(home.cache, 'eras.json'), 'utf8')).not.toContain('do-not-write-me');
    await clock.advance(ERA_MAX_AGE_MS);
    expect(second.get(one)).toEqual({ era: 'legacy' });
    await clock.advance(1);
    expect([second.get(one), second.get(two)]).toEqual([undefined, undefined]);
  });

  it('a verdict that is used does not grow younger', async () => {
    const clock = fakeClock();
    const eraCache = await openEraCache(home, clock);
    eraCache.remember(one, legacy);
    await clock.advance(ERA_MAX_AGE_MS - 1);
    eraCache.remember(one, legacy);
    await clock.advance(2);
    expect(eraCache.get(one)).toBeUndefined();
    await eraCache.flush();
  });

  it('verdicts of two hosts are merged, and forgotten ones stay forgotten', async () => {
    const clock = fakeClock();
    const [a, b] = await Promise.all([openEraCache(home, clock), openEraCache(home, clock)]);
    a.remember(one, legacy);
    b.remember(two, modern);
    await Promise.all([a.flush(), b.flush()]);
    const third = await openEraCache(home, clock);
    expect([third.get(one)?.era, third.get(two)?.era]).toEqual(['legacy', 'modern']);
    third.forget(one);
    third.forget({ command: 'never seen' });
    await third.flush();
    const fourth = await openEraCache(home, clock);
    expect([fourth.get(one)?.era, fourth.get(two)?.era]).toEqual([undefined, 'modern']);
  });

  it.each([
    '',
    '[]',
    '{"x":',
    '{"k":{"at":"soon","verdict":{"era":"legacy"}}}',
    '{"k":{"at":1,"verdict":{}}}',
  ])('a file that contains %j is neither a verdict nor an error', async (text) => {
    mkdirSync(home.cache, { recursive: true });
    writeFileSync(join(home.cache, 'eras.json'), text);
    const eraCache = await openEraCache(home, fakeClock());
    expect(eraCache.get(one)).toBeUndefined();
    eraCache.remember(one, legacy);
    await eraCache.flush();
    expect((await openEraCache(home, fakeClock())).get(one)).toEqual({ era: 'legacy' });
  });
});
