import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/lib/canonical-json.ts';

describe('canonicalJson', () => {
  it('sorts keys at every level and leaves lists in order', () => {
    expect(canonicalJson({ b: [{ d: 1, c: null }, 2], a: 'x' })).toBe('{"a":"x","b":[{"c":null,"d":1},2]}');
  });

  it('keeps a key called __proto__', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1},"b":1}');
  });

  it('leaves out what JSON leaves out', () => {
    expect(canonicalJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
  });

  it('is the same text for the same value, and the value can be read back', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const canonical = canonicalJson(JSON.parse(text));
        expect(JSON.parse(canonical)).toEqual(JSON.parse(text));
        expect(canonicalJson(JSON.parse(canonical))).toBe(canonical);
      }),
    );
  });
});
