/** Selections: the language, its errors and its limits. */

import { describe, expect, it } from 'vitest';
import { parseSelect } from '../../src/lib/jmespath/jmespath-select.ts';

const data = {
  a: {
    b: [{ x: 1, y: 'p', t: ['q', 'r'] }, { x: 2, y: 'z' }, { x: 3 }],
    c: { d: 1, e: 2 },
    'f g': [
      [1, 2],
      [3, [4]],
    ],
  },
  n: null,
  e: [],
  s: 'text',
  l: [3, 1, 2],
  w: ['b', 'a'],
  o: { k1: { v: 1 }, k2: { v: 2 }, k3: {} },
};

describe('CAL-8: select', () => {
  it.each([
    ['a.c.d', 1],
    ['a.b[0].x', 1],
    ['a.b[-1]', { x: 3 }],
    ['a.b[].x', [1, 2, 3]],
    ['a.b[*].y', ['p', 'z']],
    ['a.b[*].t[]', ['q', 'r']],
    ['a.b[?x > `1`].x', [2, 3]],
    ["a.b[?x == `1` || y == 'z'].y", ['p', 'z']],
    ['a.b[?!t].x', [2, 3]],
    ['a."f g"[]', [1, 2, 3, [4]]],
    ['o.*.v', [1, 2]],
    ['l[1:]', [1, 2]],
    ['l[::-1]', [2, 1, 3]],
    ['a.b[*].{id: x, name: y}[0]', []],
    ['a.b[*].{id: x, name: y} | [0]', { id: 1, name: 'p' }],
    ['[a.c.d, s]', [1, 'text']],
    ['n.x', null],
    ['missing', null],
    ['n || s', 'text'],
    ['e && s', []],
    ['a.c == `{"e":2,"d":1}`', true],
    ['s < l', null],
    ['length(a.b)', 3],
    ["length('a😀')", 2],
    ['sort(l)', [1, 2, 3]],
    ['sort_by(a.b, &x)[-1].x', 3],
    ['max_by(a.b, &x).x', 3],
    ['min(w)', 'a'],
    ['sum(l)', 6],
    ["join(', ', w)", 'b, a'],
    ['map(&x, a.b)', [1, 2, 3]],
    ['keys(a.c)', ['d', 'e']],
    [
      'items(a.c)',
      [
        ['d', 1],
        ['e', 2],
      ],
    ],
    ['from_items(items(a.c))', { d: 1, e: 2 }],
    ['group_by(a.b[?y], &y).p[].x', [1]],
    ["replace(s, 'ex', 'EX')", 'tEXt'],
    ["replace('aaa', 'a', 'b', `2`)", 'bba'],
    ["split('a,b,c', ',')", ['a', 'b', 'c']],
    ["split('a,b,c', ',', `1`)", ['a', 'b,c']],
    ["split('a,b,c', ',', `0`)", ['a,b,c']],
    ["split(',a,', ',')", ['', 'a', '']],
    ["split('abc', '')", ['a', 'b', 'c']],
    ["split('', '')", []],
    ['s[1:3]', 'ex'],
    ['s[-2:]', 'xt'],
    ['s[3:1]', ''],
    ['s[::-1]', 'txet'],
    ["'a😀b'[1:2]", '😀'],
    ["trim('  x ')", 'x'],
    ["contains(s, 'ex')", true],
    ["starts_with(s, 'te')", true],
    ['not_null(n, s)', 'text'],
    ['type(l)', 'array'],
    ["to_number('12')", 12],
    ['to_string(a.c)', '{"d":1,"e":2}'],
    ["'it\\'s'", "it's"],
    ['@.s', 'text'],
    ['__proto__', null],
    ['{"__proto__": s} | keys(@)', ['__proto__']],
  ])('%s', (expression, value) => {
    expect(parseSelect(expression)(data)).toEqual(value);
  });

  it.each([
    ['a[', 'the expression ends at character 3'],
    ['a..b', 'unexpected "." at character 3'],
    ['{a b}', 'unexpected "b" at character 4, where ":" is expected'],
    ['lenght(a)', 'there is no function lenght() (character 1); did you mean length()?'],
    ['`x`', 'the literal at character 1 is not JSON'],
    ["s == 'x", "' at character 6 is not closed"],
    ['l[::0]', 'the step of the slice at character 3 is 0'],
    [' ', 'it is empty'],
    ['a'.repeat(3_000), 'it has more than 2000 characters'],
  ])('rejects %j before anything is called', (expression, why) => {
    expect(() => parseSelect(expression)).toThrow(`Invalid select: ${why}`);
  });

  it.each([
    ['length(`1`)', 'length() at character 1 takes string or array or object as argument 1, not number'],
    ['length(a, l)', 'length() at character 1 takes 1 argument, not 2'],
    [
      'sort_by(a.b, &y)',
      'sort_by() at character 1 needs an expression whose values are all numbers or all strings',
    ],
    ['&a', 'it selects an expression (&) and not a value'],
  ])('reports that %s does not fit the data', (expression, why) => {
    expect(() => parseSelect(expression)(data)).toThrow(`Invalid select: ${why}`);
  });

  it.each([
    ['a result that doubles forty times', `[@,@]${'|[@,@]'.repeat(40)}`],
    ['a text that doubles thirty times', `to_string(${'[@,@]|'.repeat(30)}@)`],
    ['lists in lists of long lists', `${'[l,l,l,l,l,l,l,l][]|{l:@}|'.repeat(12)}l`],
    [
      'replacements that grow',
      `replace(${"replace(s, 't', 'tttttttttttttttt')|{s:@}|".repeat(12)}s, 't', 'tttt')`.replace(
        /^replace\((.*), 't', 'tttt'\)$/,
        '$1',
      ),
    ],
  ])('A18: bounds %s', (_what, expression) => {
    expect(() => parseSelect(expression)({ l: [1], s: 't' })).toThrow(/needs more than|is larger than/);
  });

  const long = { l: Array.from({ length: 500_000 }, (_, at) => at), s: 'a'.repeat(16_000_000) };
  it.each([
    ['a long list flattened a hundred times', `[${Array(100).fill('l').join()}][]`],
    ['a list of every character', "split(s, '')"],
    ['a text backwards', 'reverse(s)'],
    ['every second character', 's[::2]'],
    ['a search with a long pattern', "find_first(s, join('', ['b', s[:100000]]))"],
    ['replacements of a long pattern', "replace(s, join('', ['b', s[:100000]]), '')"],
    ['a text of large texts', `[${Array(100).fill('to_string([s])').join()}]`],
    [
      'objects merged many times',
      `l[:50000] | from_items(map(&[to_string(@), @], @)) | merge(${Array(100).fill('@').join()})`,
    ],
  ])('A18: bounds %s of large data, before it is made', (_what, expression) => {
    expect(() => parseSelect(expression)(long)).toThrow(/needs more than|is larger than/);
  });

  it('selects from large data', () => {
    expect(parseSelect('s[2:5]')(long)).toBe('aaa');
    expect(parseSelect("split(s, 'b')[0] | length(@)")(long)).toBe(16_000_000);
    expect(parseSelect("trim(s, join('', ['b', 'a']))")(long)).toBe('');
  });
});
