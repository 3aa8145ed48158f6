import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeHeaderValue } from '../../src/transport/http-headers.ts';

/** How a server reads such a value, from the specification. */
function decode(value: string): string {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}

describe('A19: values mirrored to headers', () => {
  it.each([
    ['us-west1', 'us-west1'],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
    ['tab\tinside', 'tab\tinside'],
    ['', '=?base64??='],
  ])('A19: %j becomes %s', (value, encoded) => {
    expect(encodeHeaderValue(value)).toBe(encoded);
  });

  // Protocol: 26-http-44, 26-http-45, 26-http-47
  it('A19: for every value, the header is one safe line and reads back as the value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const encoded = encodeHeaderValue(value);
        expect(encoded).toMatch(/^[\t -~]+$/);
        expect(decode(encoded)).toBe(value);
      }),
    );
  });
});
