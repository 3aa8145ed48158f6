import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinArgv, splitArgv } from '../../src/lib/argv.ts';

describe('words of a command line', () => {
  it.each([
    ['', []],
    ['  a  b\tc\n', ['a', 'b', 'c']],
    [`a 'b c' "d e"f`, ['a', 'b c', 'd ef']],
    [`"a\\"b" 'c\\d' e\\ f`, ['a"b', 'c\\d', 'e f']],
    [`'' ""`, ['', '']],
    [`"C:\\new"`, ['C:\\new']],
    ['$HOME `x` ;|&', ['$HOME', '`x`', ';|&']],
  ])('%j splits into %j, expanding nothing', (line, words) => {
    expect(splitArgv(line)).toEqual(words);
  });

  it('an open quote is refused', () => {
    expect(() => splitArgv('a "b')).toThrow('A quote (") is not closed');
  });

  it('any words survive being joined and split', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        expect(splitArgv(joinArgv(words))).toEqual(words);
      }),
    );
  });
});
