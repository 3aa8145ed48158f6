import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut, layOut, width, wrap } from '../../src/cli/text-layout.ts';

describe('layout', () => {
  it.each([
    ['abc', 3],
    ['größer', 6],
    ['e\u0301', 1],
    ['日本', 4],
    ['🚀', 2],
    ['👍🏽', 2],
    ['👨‍👩‍👧', 2],
    ['🇩🇪🇫🇷', 4],
    ['⚠️ 1️⃣', 5],
    ['⚠ 1', 3],
  ])('%j takes %i cells', (text, cells) => {
    expect(width(text)).toBe(cells);
  });

  it('cut text fits, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, cells) => {
        expect(width(cut(text, cells))).toBeLessThanOrEqual(cells);
      }),
    );
  });

  it('columns line up, the last one gives way', () => {
    const rows = [
      ['a', '10', 'short'],
      ['日本', '5', 'a text that does not fit'],
    ];
    expect(layOut(rows, { columns: [{}, { align: 'right' }, {}], total: 24 })).toEqual([
      'a     10  short',
      '日本   5  a text that d…',
    ]);
  });

  it('a column that is empty everywhere takes no room', () => {
    expect(layOut([['a', '', 'b']], { columns: [{}, {}, {}], total: undefined })).toEqual(['a  b']);
  });

  it('text is broken at spaces', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('one two three', undefined)).toEqual(['one two three']);
  });
});
