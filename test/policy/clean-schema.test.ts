import { expect, it } from 'vitest';
import { cleanSchema } from '../../src/policy/clean-value.ts';

it('A15: cleans the texts of a schema, at any depth, and leaves what it validates by', () => {
  const dirty = {
    type: 'object',
    description: 'a\u200bb',
    properties: {
      'x\u200b': { type: 'string', description: 'c\u001b[31md', enum: ['e\u200bf'], pattern: 'g\u200b' },
    },
    anyOf: [{ title: 'h\u202e' }],
  };
  expect(cleanSchema(dirty)).toEqual({
    type: 'object',
    description: 'ab',
    properties: { 'x\u200b': { type: 'string', description: 'cd', enum: ['e\u200bf'], pattern: 'g\u200b' } },
    anyOf: [{ title: 'h' }],
  });
});

it('gives the same object back when there is nothing to clean', () => {
  const plain = { type: 'object', properties: { a: { description: 'Zürich\n' } } };
  expect(cleanSchema(plain)).toBe(plain);
});
