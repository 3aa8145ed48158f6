import { describe, expect, it } from 'vitest';
import { buildIndex } from '../../../src/catalog/search/tool-index.ts';
import { addUse, type UsageCounts, usageScores } from '../../../src/catalog/search/usage.ts';
import { GUARD_TOOLS } from './guard-set.ts';

const EMPTY: UsageCounts = new Map();

describe('CAT-8: learning from what was called after which query', () => {
  it('counts each term of the query once a call, and leaves its input alone', () => {
    const once = addUse(EMPTY, 'the quarterly, quarterly numbers', 'mcp__warehouse__query_run');
    const twice = addUse(once, 'numbers', 'mcp__notes__getNote');
    expect(EMPTY).toEqual(new Map());
    expect(once).toEqual(
      new Map([
        ['quarterli', new Map([['mcp__warehouse__query_run', 1]])],
        ['number', new Map([['mcp__warehouse__query_run', 1]])],
      ]),
    );
    expect(twice.get('number')).toEqual(
      new Map([
        ['mcp__warehouse__query_run', 1],
        ['mcp__notes__getNote', 1],
      ]),
    );
  });

  it('select: teaches nothing', () => {
    expect(addUse(EMPTY, 'select:mcp__notes__getNote', 'mcp__notes__getNote')).toBe(EMPTY);
  });

  it('keeps a bounded number of terms, dropping those not used for longest, and of tools for each', () => {
    const full: UsageCounts = new Map(
      Array.from({ length: 4000 }, (_x, i) => [`w${i}`, new Map([['mcp__s__t', 1]])]),
    );
    const usage = addUse(full, 'w0 brandnew', 'mcp__s__t');
    expect(usage.size).toBe(4000);
    expect([usage.has('w0'), usage.has('w1'), usage.has('brandnew')]).toEqual([true, false, true]);
    let many = EMPTY;
    for (let i = 0; i < 50; i++) many = addUse(many, 'word', `mcp__s__t${i}`);
    expect(many.get('word')?.size).toBe(16);
  });

  it('no habit counts for more than one', () => {
    let usage = EMPTY;
    for (let i = 0; i < 1000; i++) usage = addUse(usage, 'word', 'mcp__s__t');
    const score = usageScores(usage, [{ term: 'word', weight: 1 }]).get('mcp__s__t') ?? 0;
    expect(score).toBeGreaterThan(0.9);
    expect(score).toBeLessThanOrEqual(1);
  });

  it('a tool that words do not find is found after it was called for them', () => {
    const index = buildIndex(GUARD_TOOLS);
    const query = 'zorblax figures';
    const first = (usage?: UsageCounts): string | undefined =>
      index.search(query, usage ? { usage } : {})[0]?.tool.name;
    const usage = addUse(
      addUse(EMPTY, query, 'mcp__warehouse__query_run'),
      query,
      'mcp__warehouse__query_run',
    );
    expect(first()).not.toBe('mcp__warehouse__query_run');
    expect(first(usage)).toBe('mcp__warehouse__query_run');
  });

  it('a tool that is gone is not found, however often it was called', () => {
    const index = buildIndex(GUARD_TOOLS);
    let usage = EMPTY;
    for (let i = 0; i < 10; i++) usage = addUse(usage, 'list the databases', 'mcp__gone__tool');
    expect(index.search('list the databases', { usage })[0]?.tool.name).toBe('mcp__warehouse__database_list');
  });
});
