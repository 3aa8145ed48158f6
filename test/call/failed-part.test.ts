/** The failing part of a schema in the error of a rejected call. */

import { expect, it } from 'vitest';
import { createArgumentChecker } from '../../src/call/argument-check.ts';
import { PlugboardError } from '../../src/errors.ts';
import { createTestHost, scriptedServer } from '../../src/testing/index.ts';

const checker = await createArgumentChecker();
const object = (properties: object, more: object = {}): Record<string, unknown> => ({
  type: 'object',
  properties,
  ...more,
});
const limit = { type: 'integer', minimum: 1, description: 'How many.' };
const filter = object({ field: { enum: ['a', 'b'] }, value: { type: 'string' } }, { required: ['field'] });

it.each([
  ['a missing name', object({ limit }, { required: ['limit'] }), {}, { limit }],
  ['a wrong type', object({ limit, other: {} }), { limit: 'x', other: 1 }, { limit }],
  ['a value outside of a range', object({ limit }), { limit: 0 }, { limit }],
  [
    'a member of an item',
    object({ filters: { type: 'array', items: filter } }),
    { filters: [{ field: 'a' }, { field: 'z' }] },
    { 'filters[1].field': { enum: ['a', 'b'] } },
  ],
  [
    'the target of a reference',
    object({ filter: { $ref: '#/$defs/filter' } }, { $defs: { filter } }),
    { filter: { value: 'x' } },
    { 'filter.field': { enum: ['a', 'b'] } },
  ],
  [
    'a whole union, with references inside',
    object({ by: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/filter' }] } }, { $defs: { filter } }),
    { by: { field: 1 } },
    { by: { anyOf: [{ type: 'string' }, filter] } },
  ],
  [
    'an unknown name',
    object({ path: { type: 'string' } }, { required: ['path'], additionalProperties: false }),
    { path: 'x', pth: 'y' },
    { '(arguments)': '(path: string)' },
  ],
])('CAT-12: contains %s and nothing else', (_what, schema, args, expected) => {
  expect(checker.failedParts(schema, args)).toEqual(expected);
});

it('CAT-12: is empty for arguments that match', () => {
  expect(checker.failedParts(object({ limit }), { limit: 1 })).toEqual({});
});

it('A18: is bounded for a schema that refers to itself', () => {
  const node = object(
    { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' } },
    { description: 'x'.repeat(300) },
  );
  const parts = checker.failedParts({ ...node, required: ['a'] }, {});
  expect(JSON.stringify(parts).length).toBeLessThan(4_200);
});

it('CAT-12: is in the hint for models, and in the detail for programs', async () => {
  const server = scriptedServer({ tools: { list: { inputSchema: object({ limit }), run: () => 'listed' } } });
  await using host = await createTestHost({ servers: { s: { inProcess: server } } });
  await host.ready();
  const error = await host.call('mcp__s__list', { limit: 'many' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PlugboardError);
  const { hint, detail } = error as PlugboardError;
  expect([hint, detail.expected]).toEqual([
    `Correct the arguments to match these parts of the inputSchema: ${JSON.stringify({ limit })}`,
    { limit },
  ]);
});
