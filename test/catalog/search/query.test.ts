import { describe, expect, it } from 'vitest';
import { MAX_QUERY_CHARS, parseQuery } from '../../../src/catalog/search/query.ts';

describe('CAT-7: the query language of tool search', () => {
  it('select: names tools, separated by commas or spaces, each once', () => {
    expect(parseQuery('select:mcp__git__log, mcp__git__diff,mcp__git__log')).toEqual({
      kind: 'select',
      names: ['mcp__git__log', 'mcp__git__diff'],
    });
  });

  it('select: is understood in any case and with space before it, and may name nothing', () => {
    expect(parseQuery('  SELECT: a')).toEqual({ kind: 'select', names: ['a'] });
    expect(parseQuery('select:')).toEqual({ kind: 'select', names: [] });
  });

  it('+word must occur, and is ranked by, too', () => {
    expect(parseQuery('+git show the +history')).toEqual({
      kind: 'rank',
      text: 'git show the history',
      musts: ['git', 'history'],
    });
  });

  it('a plus inside a word or alone is text', () => {
    expect(parseQuery('compile c++ code, 1+1 + 2')).toEqual({
      kind: 'rank',
      text: 'compile c++ code, 1+1 + 2',
      musts: [],
    });
  });

  it('text longer than the limit of a query is cut', () => {
    expect(parseQuery('x'.repeat(10 * MAX_QUERY_CHARS))).toEqual({
      kind: 'rank',
      text: 'x'.repeat(MAX_QUERY_CHARS),
      musts: [],
    });
  });
});
