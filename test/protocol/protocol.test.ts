/** docs/protocol.md is complete and current: every requirement has a row, every row a test or a reason. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../docs/snippets.ts';
import { citationsInScenarios, citationsInTests } from './citations.ts';
import { pageOf, shownRows } from './page.ts';
import { REVISIONS, readPages } from './requirements.ts';

const pages = REVISIONS.flatMap(readPages);
const rows = pages.flatMap((page) => page.rows);
const citations = [...citationsInTests(), ...citationsInScenarios()];

describe('the rows of docs/protocol.md', () => {
  it.each(pages)('$revision $path: each key word of the page has a row, or a reason to have none', (page) => {
    const covered = new Set([...page.rows.map(({ at }) => at), ...page.leftOut.keys()]);
    expect([...covered].toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: page.keyWords }, (_, at) => at + 1),
    );
    expect(page.rows.filter(({ at }) => page.leftOut.has(at))).toEqual([]);
  });

  it('have ids that occur once, and name only files that exist', () => {
    const ids = rows.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    const files = new Set(rows.flatMap(({ status }) => (status.kind === 'kept' ? status.files : [])));
    expect([...files].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('are the only ids that tests cite', () => {
    const ids = new Set(rows.map(({ id }) => id));
    expect(citations.filter(({ id }) => !ids.has(id))).toEqual([]);
  });

  it('each have a test, or a reason why they have none', () => {
    const bare = shownRows(pages, citations).filter(
      ({ status, citations: shown }) => status.kind === 'kept' && shown.length === 0,
    );
    expect(bare.map(({ row }) => `${row.id} ${row.text}`)).toEqual([]);
  });

  it('are what the page has', async () => {
    await expect(pageOf(pages, citations)).toMatchFileSnapshot(join(ROOT, 'docs', 'protocol.md'));
  });
});
