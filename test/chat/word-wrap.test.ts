import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WordWrap } from '../../src/cli/chat/transcript.ts';

function wrapped(pieces: readonly string[], columns: number | undefined): string {
  const wrap = new WordWrap(() => columns);
  return pieces.map((piece) => wrap.push(piece)).join('') + wrap.flush();
}

describe('words that come in pieces', () => {
  it('go to the next line as a whole', () => {
    expect(wrapped(['a bc', 'd ef g', 'hij'], 7)).toBe('a bcd \nef ghij');
    expect(wrapped(['exactly ten', ' cells'], 11)).toBe('exactly ten\ncells');
  });

  it('keep the lines of code, and everything where no width is known', () => {
    const code = '```sh\na long line of code\n```\n';
    expect(wrapped([code, 'and some words'], 8)).toBe(`${code}and some\nwords`);
    expect(wrapped(['and some words'], undefined)).toBe('and some words');
  });

  it('lose nothing but spaces at breaks, and no line is too long but for words that are', () => {
    const word = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom('a', 'b', 'é', '.') });
    const text = fc.array(fc.oneof(word, fc.constantFrom(' ', '  ', '\n')), { maxLength: 40 });
    fc.assert(
      fc.property(text, fc.integer({ min: 4, max: 20 }), (pieces, columns) => {
        const out = wrapped(pieces, columns);
        expect(out.replaceAll(/\s/g, '')).toBe(pieces.join('').replaceAll(/\s/g, ''));
        for (const line of out.split('\n'))
          expect(line.trim().length <= columns || !/\S\s+\S/.test(line)).toBe(true);
      }),
    );
  });
});
