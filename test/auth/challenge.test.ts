import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readChallenge, scopeCovers, scopeUnion } from '../../src/auth/challenge.ts';

const nothing = { scheme: undefined, error: undefined, scope: undefined, resourceMetadata: undefined };

// Protocol: 25-authorization-19, 26-auth-discovery-8
describe('WWW-Authenticate', () => {
  it.each<[string | undefined, object]>([
    [undefined, nothing],
    ['', nothing],
    ['Basic realm="x"', nothing],
    ['Bearer', { ...nothing, scheme: 'bearer' }],
    ['bearer scope=read', { ...nothing, scheme: 'bearer', scope: 'read' }],
    [
      'Bearer error="invalid_token", error_description="a \\"quoted\\", scope=\\"no\\"", scope="a b", resource_metadata="https://x/y"',
      { scheme: 'bearer', error: 'invalid_token', scope: 'a b', resourceMetadata: 'https://x/y' },
    ],
    ['Basic realm="x", Bearer scope="a"', { ...nothing, scheme: 'bearer', scope: 'a' }],
    [
      'Bearer scope="a", DPoP error="use_dpop_nonce"',
      { ...nothing, scheme: 'dpop', error: 'use_dpop_nonce' },
    ],
    [
      'Bearer resource_metadata = "https://x/"',
      { ...nothing, scheme: 'bearer', resourceMetadata: 'https://x/' },
    ],
    ['Negotiate YII=, Bearer scope="a"', { ...nothing, scheme: 'bearer', scope: 'a' }],
    [`Bearer scope="${'a'.repeat(9000)}"`, nothing],
  ])('reads %j', (header, wanted) => {
    expect(readChallenge(header)).toEqual(wanted);
  });

  it('reads any text without failing, and fast', () => {
    fc.assert(fc.property(fc.string({ maxLength: 8000 }), (text) => void readChallenge(`Bearer ${text}`)));
    readChallenge(`Bearer ${'a="\\'.repeat(2000)}`);
    readChallenge(`Bearer ${'a '.repeat(4000)}`);
  });

  // Protocol: 26-authorization-15
  it('merges scopes, each once, and finds which scopes cover others', () => {
    expect(scopeUnion('a b', undefined, ' b  c ', '')).toBe('a b c');
    expect(scopeUnion(undefined, '')).toBeUndefined();
    expect([scopeCovers('a b', 'b'), scopeCovers('a', 'a b'), scopeCovers(undefined, 'a')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
