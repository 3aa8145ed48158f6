import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clean, reveal } from '../../src/policy/clean.ts';

describe('clean (POL-4, A15)', () => {
  it.each([
    ['ANSI colour', 'a\x1b[31mred\x1b[0mb', 'aredb'],
    ['an OSC 8 link', 'see \x1b]8;;https://evil.example\x07here\x1b]8;;\x07!', 'see here!'],
    ['an unterminated OSC', 'x\x1b]0;title', 'x'],
    ['a C1 CSI', 'a\x9b31mb', 'ab'],
    ['C0 controls', 'a\x00b\x08c\x7fd', 'abcd'],
    ['bidi overrides', 'user\u202egnp.exe', 'usergnp.exe'],
    ['zero-width characters', 'pay\u200bpal\u2060\ufeff', 'paypal'],
    ['tag characters', 'hi\u{e0049}\u{e0067}\u{e006e}', 'hi'],
    ['variation selectors that carry bytes', 'a\u{e0100}\u{e01ef}b', 'ab'],
    ['carriage returns', 'one\r\ntwo\rthree', 'one\ntwo\nthree'],
    ['lone surrogates', 'a\ud800b', 'a\ufffdb'],
    ['a joiner hidden in a word', 'ad\u200dmin', 'admin'],
  ])('removes %s', (_what, input, expected) => {
    expect(clean(input)).toBe(expected);
  });

  it('leaves what people write alone: newlines, tabs, accents, scripts, emoji families', () => {
    const text = 'Zürich\n\tпривет 你好 مرحبا 👩‍👩‍👧 ❤️‍🔥';
    expect(clean(text)).toBe(text);
  });

  it('folds to one line and says what it cut', () => {
    expect(clean('a\n  b\tc', { multiline: false })).toBe('a b c');
    expect(clean('abcdef', { max: 4 })).toBe('abcd… (2 more characters)');
  });

  it('is idempotent and never leaves a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const once = clean(text);
        expect(clean(once)).toBe(once);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
        expect(once).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
      }),
    );
  });

  it('A13: reveal writes out what would be hidden', () => {
    expect(reveal('rm\u202e -rf\x1b[8m\n')).toBe('rm\\u{202e} -rf\\u{1b}[8m\\u{a}');
  });
});
