import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ajv } from '../../src/remote-only/node/ajv.ts';
import { sha256 } from '../../src/remote-only/node/crypto.ts';

const SCHEMAS: readonly Record<string, unknown>[] = [
  { type: 'object', properties: { a: { type: 'integer', minimum: 1, maximum: 9 } }, required: ['a'] },
  { type: 'object', properties: { a: { enum: ['x', 1, null] } }, additionalProperties: false },
  { type: ['object', 'array'], minProperties: 1, maxItems: 2, items: { type: 'string', maxLength: 3 } },
  { anyOf: [{ type: 'string' }, { type: 'object', required: ['b'] }], not: { const: 'x' } },
  { oneOf: [{ type: 'number' }, { type: 'integer' }, { type: 'array', uniqueItems: true }] },
  {
    $ref: '#/$defs/tree',
    $defs: { tree: { properties: { a: { $ref: '#/$defs/tree' } }, maxProperties: 1 } },
  },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of schemas.
  { if: { required: ['a'] }, then: { required: ['b'] }, else: { type: 'object' } },
  { patternProperties: { '^a': { type: 'number' } }, propertyNames: { minLength: 1 } },
  { prefixItems: [{ type: 'number' }], items: { const: true }, contains: { type: 'number' } },
  { allOf: [{ dependentRequired: { a: ['b'] } }, { properties: { c: false } }] },
  { type: 'number', multipleOf: 2, exclusiveMinimum: 0, exclusiveMaximum: 10 },
];

const leaf = fc.oneof(fc.constantFrom('x', 'xx', 'long', 1, 2, 2.5, 12, null, true), fc.string());
const value = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 4 }),
  fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.oneof(leaf, fc.dictionary(fc.constantFrom('a', 'b'), leaf)),
  ),
);

describe('the interpreter of schemas in plugboard/remote-only', () => {
  const regExp = (pattern: string, flags: string): RegExp => new RegExp(pattern, flags);
  const engine = new Ajv2020({ strict: false, allErrors: true });

  it.each(SCHEMAS)('decides as Ajv does about %j', (schema) => {
    const [theirs, ours] = [engine.compile(schema), new Ajv({ code: { regExp } }).compile(schema)];
    fc.assert(
      fc.property(value, (given) => {
        expect(ours(given)).toBe(theirs(given));
      }),
    );
  });

  it('has the errors that sentences are made of', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'number' }, b: { enum: [1] } },
      required: ['c'],
      additionalProperties: false,
    };
    const wrong = { a: 'x', b: 2, d: 1 };
    const [theirs, ours] = [engine.compile(schema), new Ajv({ code: { regExp } }).compile(schema)];
    const facts = (validate: { errors?: readonly object[] | null }): unknown =>
      (validate.errors ?? [])
        .map((error) => JSON.stringify({ ...pick(error as Record<string, unknown>) }))
        .toSorted();
    theirs(wrong);
    ours(wrong);
    expect(facts(ours)).toEqual(facts(theirs));
  });
});

function pick({ keyword, instancePath, params, message }: Record<string, unknown>): object {
  return { keyword, instancePath, params, message };
}

it('remote-only: hashes are those of Node', async () => {
  const { createHash } = await import('node:crypto');
  for (const size of [0, 1, 55, 56, 63, 64, 65, 1000]) {
    const bytes = new Uint8Array(size).map((_, index) => index * 7);
    expect(Buffer.from(sha256(bytes)).toString('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
  }
});
