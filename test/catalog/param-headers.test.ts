import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paramHeaders, readParamHeaders } from '../../src/catalog/param-headers.ts';
import { encodeHeaderValue } from '../../src/transport/http-headers.ts';

const object = (properties: Record<string, unknown>, more: object = {}) => ({
  type: 'object',
  properties,
  ...more,
});
const mirrored = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name });

function decode(value: string): string {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value);
  return encoded ? Buffer.from(encoded[1] ?? '', 'base64').toString('utf8') : value;
}

describe('Mcp-Param-* headers (2026-07-28, Streamable HTTP)', () => {
  // Protocol: 26-http-32, 26-http-38, 26-http-57, 26-http-59, 26-http-61
  it('mirrors declared arguments at any depth, and nothing that is absent, null or of another type', () => {
    const inputSchema = object({
      region: mirrored('Region'),
      priority: mirrored('Priority', 'integer'),
      verbose: mirrored('Verbose', 'boolean'),
      absent: mirrored('Absent'),
      nothing: mirrored('Nothing'),
      list: mirrored('List'),
      huge: mirrored('Huge', 'integer'),
      target: object({ tenant: mirrored('Tenant') }),
      query: { type: 'string' },
    });
    const args = {
      region: 'eu',
      priority: 3,
      verbose: false,
      nothing: null,
      list: ['x'],
      huge: 2 ** 60,
      target: { tenant: 't1' },
      query: 'secret',
    };
    expect(paramHeaders({ inputSchema }, args)).toEqual({
      'Mcp-Param-Region': 'eu',
      'Mcp-Param-Priority': '3',
      'Mcp-Param-Verbose': 'false',
      'Mcp-Param-Tenant': 't1',
    });
  });

  it('reads own properties only', () => {
    const inputSchema = {
      type: 'object',
      properties: JSON.parse('{"__proto__":{"type":"string","x-mcp-header":"P"}}'),
    };
    expect(paramHeaders({ inputSchema }, {})).toEqual({});
    expect(paramHeaders({ inputSchema }, JSON.parse('{"__proto__":"x"}'))).toEqual({ 'Mcp-Param-P': 'x' });
  });

  // Protocol: 26-http-33, 26-http-34, 26-http-35, 26-http-36, 26-http-37, 26-http-39, 26-http-40
  it.each([
    ['an empty name', object({ a: mirrored('') }), 'x-mcp-header at "a" is not a non-empty string'],
    ['no string', object({ a: mirrored(1) }), 'x-mcp-header at "a" is not a non-empty string'],
    ['a blank', object({ a: mirrored('A B') }), 'x-mcp-header at "a" is not a valid header name'],
    ['a line break', object({ a: mirrored('A\r\nX: y') }), 'x-mcp-header at "a" is not a valid header name'],
    ['a colon', object({ a: mirrored('A:') }), 'x-mcp-header at "a" is not a valid header name'],
    ['letters beyond ASCII', object({ a: mirrored('Ä') }), 'x-mcp-header at "a" is not a valid header name'],
    [
      'a number',
      object({ a: mirrored('A', 'number') }),
      'x-mcp-header at "a" is not on a string, an integer or a boolean',
    ],
    [
      'an object',
      object({ a: mirrored('A', 'object') }),
      'x-mcp-header at "a" is not on a string, an integer or a boolean',
    ],
    [
      'no type',
      object({ a: { 'x-mcp-header': 'A' } }),
      'x-mcp-header at "a" is not on a string, an integer or a boolean',
    ],
    [
      'a second one',
      object({ a: mirrored('A'), b: object({ c: mirrored('a') }) }),
      'x-mcp-header at "b.c" declares a a second time',
    ],
    [
      'the root',
      { ...object({}), 'x-mcp-header': 'A' },
      'x-mcp-header at "" is not on a property of the arguments',
    ],
    [
      'items',
      object({ a: { type: 'array', items: mirrored('A') } }),
      'x-mcp-header at "a.<items>" is not on a property of the arguments',
    ],
    [
      'a union',
      object({}, { anyOf: [object({ a: mirrored('A') })] }),
      'x-mcp-header at "<anyOf>.a" is not on a property of the arguments',
    ],
    [
      'a definition',
      object({}, { $defs: { d: mirrored('A') } }),
      'x-mcp-header at "<$defs>" is not on a property of the arguments',
    ],
  ])('refuses %s', (_, inputSchema, reason) => {
    expect(readParamHeaders(inputSchema)).toEqual({ ok: false, reason });
    expect(paramHeaders({ inputSchema }, { a: 'x' })).toEqual({});
  });

  it('refuses a schema that is too deep to walk, instead of overflowing', () => {
    let schema: object = { type: 'string' };
    for (let i = 0; i < 50_000; i++) schema = object({ a: schema });
    expect(readParamHeaders(schema)).toEqual({
      ok: false,
      reason: 'its schema is nested more than 500 levels deep',
    });
  });

  // Protocol: 26-http-44, 26-http-45, 26-http-46, 26-http-47, 26-http-50
  it.each([
    ['plain text', 'us-west 1', 'us-west 1'],
    ['a tab inside', 'a\tb', 'a\tb'],
    ['nothing', '', '=?base64??='],
    ['a line break', 'a\r\nX-Evil: 1', '=?base64?YQ0KWC1FdmlsOiAx?='],
    ['a leading blank', ' a', '=?base64?IGE=?='],
    ['a trailing tab', 'a\t', '=?base64?YQk=?='],
    ['letters beyond ASCII', 'é', '=?base64?w6k=?='],
    ['what looks encoded', '=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ])('A19: encodes %s', (_, value, header) => {
    expect(encodeHeaderValue(value)).toBe(header);
  });

  it('A19: no value ever puts a control character or a byte beyond ASCII into a header, and each can be read back', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string({ unit: fc.constantFrom(' ', '\r', '\n', '\0', 'a', '=', '?') }),
        ),
        (value) => {
          const header = encodeHeaderValue(value);
          expect(header).toMatch(/^[!-~]([\t -~]*[!-~])?$/);
          expect(decode(header)).toBe(value);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
