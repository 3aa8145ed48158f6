import { mkdirSync, readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOutputFiles } from '../../src/call/output-files.ts';
import { fakeClock } from '../../src/testing/index.ts';
import { scratch } from '../world/scripted-host.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const GIB = 1024 ** 3;

/** As a host names them. */
const SAVED = '2026-11-16T10-00-00-000Z-12-1-';

function place(): { folder: string; now: number; put(name: string, daysAgo: number, bytes: number): void } {
  const folder = join(scratch(), 'outputs');
  mkdirSync(folder);
  const now = Date.now();
  return {
    folder,
    now,
    put(name, daysAgo, bytes) {
      const file = join(folder, name);
      writeFileSync(file, '');
      // Sparse: it has its size and no blocks.
      truncateSync(file, bytes);
      const at = new Date(now - daysAgo * DAY_MS);
      utimesSync(file, at, at);
    },
  };
}

describe('CAL-5: the folder of whole results is bounded', () => {
  it('in age: after a week they go', async () => {
    const { folder, now, put } = place();
    put(`${SAVED}old`, 8, 1);
    put(`${SAVED}young`, 6, 1);
    const file = await createOutputFiles(folder, fakeClock(now)).save('x.txt', 'new');
    expect(readdirSync(folder).sort()).toEqual([file.slice(folder.length + 1), `${SAVED}young`].sort());
  });

  it('files of other names stay: the folder may be the program’s own', async () => {
    const { folder, now, put } = place();
    put('notes.md', 400, 2 * GIB);
    put(`${SAVED}x.txt.part`, 8, 1);
    const file = await createOutputFiles(folder, fakeClock(now)).save('x.txt', 'new');
    expect(readdirSync(folder).sort()).toEqual([file.slice(folder.length + 1), 'notes.md'].sort());
  });

  it('in size: the oldest go first', async () => {
    const { folder, now, put } = place();
    put(`${SAVED}first`, 3, GIB / 2);
    put(`${SAVED}second`, 2, GIB / 2);
    put(`${SAVED}third`, 1, GIB / 4);
    const file = await createOutputFiles(folder, fakeClock(now)).save('x.txt', 'new');
    expect(readdirSync(folder).sort()).toEqual(
      [file.slice(folder.length + 1), `${SAVED}second`, `${SAVED}third`].sort(),
    );
  });

  it('CAL-8: in number, under load, together with the records of results', async () => {
    const { folder, now, put } = place();
    const named = (at: number): string => SAVED.replace('-1-', `-${at}-`);
    for (let at = 1; at < 5_100; at += 1) writeFileSync(join(folder, `${named(at)}x.txt`), '');
    put(`${named(0)}x.txt`, 6, 1);
    put(`${named(0)}x.txt.ref`, 6, 1);
    const outputs = createOutputFiles(folder, fakeClock(now));
    await Promise.all(Array.from({ length: 40 }, () => outputs.save('x.txt', 'new', { id: 'x' })));
    const names = readdirSync(folder);
    const results = names.filter((name) => !name.endsWith('.ref'));
    expect(results.length).toBeLessThanOrEqual(5_040);
    expect(names.filter((name) => name.startsWith(named(0)))).toEqual([]);
    expect(names.filter((name) => name.endsWith('.ref'))).toHaveLength(40);
  });

  it('a text arrives as it is, whatever it holds and wherever its pieces are cut', async () => {
    const { folder, now } = place();
    const outputs = createOutputFiles(folder, fakeClock(now));
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', maxLength: 20 }),
        fc.nat({ max: 4 }),
        async (end, shift) => {
          const text = `${'x'.repeat(256 * 1024 - shift)}😀語${end.toWellFormed()}`;
          expect(readFileSync(await outputs.save('x.txt', text), 'utf8')).toBe(text);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('two results of one moment have two files', async () => {
    const { folder, now } = place();
    const outputs = createOutputFiles(folder, fakeClock(now));
    const files = await Promise.all(['a', 'b', 'c'].map((text) => outputs.save('x.txt', text)));
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['a', 'b', 'c']);
  });
});
