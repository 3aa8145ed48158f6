import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { convert } from '../../../src/catalog/schemas/convert.ts';
import type { Provider } from '../../../src/catalog/schemas/provider-profile.ts';
import { hostileName } from './arbitrary.ts';

type Json = Record<string, unknown>;

/** The reader of schemas used here looks at inherited members of arguments, so names of those are left out. */
const name = hostileName.filter((candidate) => !(candidate in {}));

/** Well-made schemas: whatever fits the converted one must, restored, fit the original. */
const { schema: wellMade } = fc.letrec<{ schema: Json; object: Json }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(
      { type: 'string' },
      { type: 'integer' },
      { type: 'boolean' },
      { type: ['string', 'null'] },
      { type: 'string', enum: ['a', 'b'] },
      { type: 'integer', minimum: 1 },
    ),
    fc.record({ type: fc.constant('array'), items: tie('schema') }),
    tie('object'),
    fc.record({ type: fc.constant('object'), additionalProperties: fc.constant(true) }),
    fc
      .tuple(tie('object'), fc.constantFrom('boolean', 'integer'))
      .map(([object, type]) => ({ anyOf: [{ type }, object] })),
  ),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(name, tie('schema')), { minLength: 1, maxLength: 4, selector: ([key]) => key }),
      fc.infiniteStream(fc.boolean()),
    )
    .map(([entries, choices]) => ({
      type: 'object',
      properties: Object.fromEntries(entries),
      required: entries.map(([key]) => key).filter(() => choices.next().value === true),
      additionalProperties: false,
    })),
}));

/** A value for a converted schema, chosen by `pick`: what a model could answer. */
function valueFor(schema: Json, pick: () => number): unknown {
  const oneOf = <T>(list: readonly T[]): T => list[pick() % list.length] as T;
  if (Array.isArray(schema.anyOf)) return valueFor(oneOf(schema.anyOf as Json[]), pick);
  if (Array.isArray(schema.enum)) return oneOf(schema.enum as unknown[]);
  if (schema.nullable === true && pick() % 3 === 0) return null;
  const type = Array.isArray(schema.type) ? oneOf(schema.type as string[]) : schema.type;
  if (type === 'object') {
    const required = (schema.required as string[] | undefined) ?? [];
    const properties = Object.entries((schema.properties as Record<string, Json> | undefined) ?? {});
    return Object.fromEntries(
      properties
        .filter(([name]) => required.includes(name) || pick() % 2 === 0)
        .map(([name, inner]) => [name, valueFor(inner, pick)]),
    );
  }
  if (type === 'array') return Array.from({ length: pick() % 3 }, () => valueFor(schema.items as Json, pick));
  if (type === 'integer') return 1 + (pick() % 5);
  if (type === 'boolean') return pick() % 2 === 0;
  if (type === 'null') return null;
  return String(schema.description ?? '').includes('as JSON text') ? '{"k":[1,null]}' : 'text';
}

describe.each(['openai-strict', 'anthropic', 'gemini', 'ai-sdk'] satisfies Provider[])(
  'CAT-5: restore for %s',
  (provider) => {
    it('turns every answer that fits the converted schema into one that fits the server’s', () => {
      fc.assert(
        fc.property(wellMade, fc.infiniteStream(fc.nat(1_000)), (part, random) => {
          const original = JSON.parse(
            JSON.stringify({
              type: 'object',
              properties: { part },
              required: ['part'],
              additionalProperties: false,
            }),
          ) as Json;
          const outcome = convert(original, provider);
          if (!outcome.ok) throw new Error(outcome.reason);
          const args = valueFor(outcome.schema, () => random.next().value as number) as Json;
          const restored = outcome.restore?.(args) ?? args;
          const verdict = new AjvJsonSchemaValidator().getValidator(original)(restored);
          expect({ restored, error: verdict.valid ? undefined : verdict.errorMessage }).toEqual({
            restored,
            error: undefined,
          });
        }),
        { numRuns: 150 },
      );
    });
  },
);

describe('CAT-5: the output is valid JSON Schema', () => {
  it('compiles in a strict reader of 2020-12', () => {
    fc.assert(
      fc.property(
        wellMade,
        fc.constantFrom<Provider>('openai', 'openai-strict', 'anthropic', 'ai-sdk'),
        (part, provider) => {
          const outcome = convert({ type: 'object', properties: { part } }, provider);
          expect(outcome.ok && typeof new AjvJsonSchemaValidator().getValidator(outcome.schema)).toBe(
            'function',
          );
        },
      ),
      { numRuns: 100 },
    );
  });
});
