import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileLinear } from '../../src/lib/linear-pattern.ts';
import '../property-seed.ts';

function matches(source: string, text: string, ignoreCase = false): boolean | string {
  const compiled = compileLinear(source, { ignoreCase });
  return 'fault' in compiled ? compiled.fault : compiled.test(text);
}

describe('expressions in linear time', () => {
  it('match as expressions of JavaScript do', () => {
    const atoms = fc.constantFrom(
      'a',
      'b',
      'K',
      '\u212a',
      '.',
      '[ab]',
      '[^a]',
      '\\d',
      '\\w',
      '\\s',
      '\\b',
      '\\B',
      '^',
      '$',
      '\\u{61}',
      '\\ud83d\\udca5',
      '\\x41',
      '\\p{Lu}',
      '[\\]x-]',
      'é',
      '\\/',
    );
    const expressions = fc.letrec<{ source: string }>((tie) => ({
      source: fc.oneof(
        { depthSize: 'small' },
        { weight: 4, arbitrary: atoms },
        fc.tuple(tie('source'), tie('source')).map((parts) => parts.join('')),
        fc.tuple(tie('source'), tie('source')).map((parts) => `(${parts.join('|')})`),
        fc
          .tuple(tie('source'), fc.constantFrom('*', '+', '?', '*?', '+?', '{2}', '{1,}', '{0,2}', '{1,3}?'))
          .map(([source, count]) => `(?:${source})${count}`),
      ),
    })).source;
    const texts = fc
      .array(
        fc.constantFrom('a', 'b', 'A', 'k', 'K', '1', ' ', '\n', '💥', '\ud83d', 'é', 'É', '/', ']', '_'),
        { maxLength: 8 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        expressions,
        fc.array(texts, { maxLength: 4 }),
        fc.boolean(),
        (source, given, ignoreCase) => {
          // V8 finds "\\B" in the middle of a surrogate pair, where no character begins.
          const several = source.includes('\\B') ? given.map((text) => text.replaceAll('💥', '')) : given;
          const compiled = compileLinear(source, { ignoreCase });
          if ('fault' in compiled) throw new Error(compiled.fault);
          const expression = new RegExp(source, ignoreCase ? 'sui' : 'su');
          // One after another with the same pattern, which keeps its lists.
          expect(several.map((text) => compiled.test(text))).toEqual(
            several.map((text) => expression.test(text)),
          );
        },
      ),
      { numRuns: 20_000 },
    );
  });

  it.each(['(a*)*b', '(a|a)*b', '(a+)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(.*)(.*)(.*)(.*)(.*)x'])(
    'finishes for %s, which takes exponential time in other engines',
    (source) => {
      expect(matches(source, `${'a'.repeat(50_000)}!`)).toBe(false);
    },
  );

  it('ends at a limit of states', () => {
    expect(matches('(?:a{20}){20}', '')).toBe(false);
    expect(matches('(?:a{30}){30}', '')).toBe('It is too large');
    expect(matches('a{99999999}', '')).toBe('It is too large');
  });
});
