import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptTool, MAX_DESCRIPTION_CHARS, MAX_SCHEMA_BYTES } from '../../src/catalog/accept.ts';
import { MAX_META_BYTES } from '../../src/catalog/accept-bounds.ts';
import {
  acceptPrompts,
  acceptResources,
  acceptTemplates,
  acceptTools,
} from '../../src/catalog/accept-lists.ts';

const EMPTY = { type: 'object', properties: {} };
const good = {
  name: 'ok',
  description: 'Does it.',
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
};

function nested(levels: number): Record<string, unknown> {
  let schema: Record<string, unknown> = {};
  for (let i = 0; i < levels; i++) schema = { a: schema };
  return schema;
}

describe('acceptTool', () => {
  it('leaves a good tool as it is', () => {
    const tool = {
      ...good,
      title: 'OK',
      outputSchema: { type: 'object' },
      annotations: { title: 'x', readOnlyHint: true, destructiveHint: false },
      _meta: { ui: { resourceUri: 'ui://x' } },
    };
    expect(acceptTool({ ...tool, execution: { taskSupport: 'optional' } })).toEqual({
      tool: { ...tool, taskSupport: 'optional' },
      repaired: [],
    });
  });

  it.each([
    ['missing', {}, EMPTY, 'inputSchema is missing: taken as "no parameters"'],
    ['null', { inputSchema: null }, EMPTY, 'inputSchema is missing: taken as "no parameters"'],
    ['true', { inputSchema: true }, EMPTY, 'inputSchema is true: taken as "no parameters"'],
    ['false', { inputSchema: false }, EMPTY, 'inputSchema is false: taken as "no parameters"'],
    ['an empty array (PHP)', { inputSchema: [] }, EMPTY, 'inputSchema is []: taken as "no parameters"'],
    ['an empty object', { inputSchema: {} }, { type: 'object' }, 'inputSchema.type is set to "object"'],
    [
      'without type',
      { inputSchema: { properties: { a: {} } } },
      { type: 'object', properties: { a: {} } },
      'inputSchema.type is set to "object"',
    ],
    [
      'of a list of types',
      { inputSchema: { type: ['object', 'null'] } },
      { type: 'object' },
      'inputSchema.type is set to "object"',
    ],
    [
      'with properties []',
      { inputSchema: { type: 'object', properties: [] } },
      EMPTY,
      'inputSchema.properties is taken as empty',
    ],
    [
      'with required null',
      { inputSchema: { ...EMPTY, required: null } },
      { ...EMPTY, required: [] },
      'inputSchema.required is not a list of names: its other members are left out',
    ],
    ['F59: called input_schema', { input_schema: EMPTY }, EMPTY, 'input_schema is taken as inputSchema'],
  ])('repairs an input schema that is %s', (_, fields, inputSchema, note) => {
    expect(acceptTool({ name: 't', description: 'd', ...fields })).toEqual({
      tool: { name: 't', description: 'd', inputSchema },
      repaired: [note],
    });
  });

  it.each([
    ['a string', 'nonsense', 'its inputSchema is a string, not an object'],
    ['a number', 7, 'its inputSchema is a number, not an object'],
    ['a list', [{}], 'its inputSchema is an array, not an object'],
    [
      'of type string',
      { type: 'string' },
      'its inputSchema is of type "string", but arguments are an object',
    ],
    [
      'with properties that are none',
      { type: 'object', properties: 'a' },
      'its inputSchema.properties is a string, not an object',
    ],
    ['too deep', nested(100_000), 'its inputSchema is nested more than 1000 levels deep'],
    [
      'too large',
      { x: 'y'.repeat(MAX_SCHEMA_BYTES) },
      `its inputSchema has ${MAX_SCHEMA_BYTES + 8} bytes, more than ${MAX_SCHEMA_BYTES}`,
    ],
  ])('F56: rejects an input schema that is %s', (_, inputSchema, reject) => {
    expect(acceptTool({ name: 't', inputSchema })).toEqual({ reject, name: 't' });
  });

  it('F57: drops null and mistyped fields and reports it', () => {
    expect(
      acceptTool({
        ...good,
        title: null,
        description: null,
        _meta: null,
        annotations: null,
        outputSchema: [{ type: 'object' }],
        execution: null,
      }),
    ).toEqual({
      tool: { name: 'ok', description: '', inputSchema: good.inputSchema },
      repaired: [
        'title is null: left out',
        'outputSchema is an array: left out',
        'annotations is null: left out',
        '_meta is null: left out',
        'description is null: left out',
      ],
    });
    expect(
      acceptTool({ ...good, annotations: { readOnlyHint: 'yes', title: 3, idempotentHint: true } }),
    ).toEqual({
      tool: { ...good, annotations: { idempotentHint: true } },
      repaired: ['title is a number: left out', 'annotations.readOnlyHint is a string: left out'],
    });
  });

  it('bounds the description and _meta', () => {
    const outcome = acceptTool({
      ...good,
      description: `${'x'.repeat(MAX_DESCRIPTION_CHARS - 2)}😀 and more`,
      _meta: { x: 'y'.repeat(MAX_META_BYTES) },
    });
    expect(outcome).toEqual({
      tool: { ...good, description: `${'x'.repeat(MAX_DESCRIPTION_CHARS - 2)}…` },
      repaired: [
        `_meta has ${MAX_META_BYTES + 8} bytes, more than ${MAX_META_BYTES}: left out`,
        `description has ${MAX_DESCRIPTION_CHARS + 9} characters: cut at ${MAX_DESCRIPTION_CHARS}`,
      ],
    });
  });

  it.each([
    [null, { reject: 'it is not an object' }],
    [[], { reject: 'it is not an object' }],
    [{}, { reject: 'it has no name' }],
    [{ name: '' }, { reject: 'it has no name' }],
    [{ name: 3 }, { reject: 'it has no name' }],
  ])('rejects %j', (raw, outcome) => {
    expect(acceptTool(raw)).toEqual(outcome);
  });

  // Protocol: 26-http-41, 26-http-43
  it('rejects an invalid x-mcp-header only where headers are sent', () => {
    const raw = {
      ...good,
      inputSchema: { type: 'object', properties: { a: { type: 'number', 'x-mcp-header': 'A' } } },
    };
    expect(acceptTool(raw)).toEqual({ tool: raw, repaired: [] });
    expect(acceptTool(raw, { paramHeaders: true })).toEqual({
      reject: 'x-mcp-header at "a" is not on a string, an integer or a boolean',
      name: 'ok',
    });
  });

  it('never throws, and what it accepts is accepted again unchanged', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc
            .anything({ withNullPrototype: true })
            .map((value) => JSON.parse(JSON.stringify(value ?? null) ?? 'null')),
          fc.record(
            {
              name: fc.constantFrom('a', '', null, '__proto__'),
              title: fc.jsonValue(),
              description: fc.jsonValue(),
              inputSchema: fc.oneof(
                fc.jsonValue(),
                fc.record(
                  { type: fc.jsonValue(), properties: fc.jsonValue(), required: fc.jsonValue() },
                  { requiredKeys: [] },
                ),
              ),
              outputSchema: fc.jsonValue(),
              annotations: fc.jsonValue(),
              _meta: fc.jsonValue(),
            },
            { requiredKeys: [] },
          ),
        ),
        (raw) => {
          const outcome = acceptTool(raw, { paramHeaders: true });
          if ('reject' in outcome) return;
          expect(acceptTool(outcome.tool, { paramHeaders: true })).toEqual({
            tool: outcome.tool,
            repaired: [],
          });
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('lists', () => {
  it('F56: one tool of fifty is hopeless: forty-nine work, one is reported', () => {
    const raw = Array.from({ length: 50 }, (_, i) => ({
      ...good,
      name: `t${i}`,
      ...(i === 17 ? { inputSchema: 'nonsense' } : {}),
    }));
    const list = acceptTools(raw);
    expect(list.accepted).toEqual(raw.filter((_, i) => i !== 17));
    expect(list.rejected).toEqual([{ name: 't17', reason: 'its inputSchema is a string, not an object' }]);
    expect(list.repaired).toEqual([]);
  });

  it('F32: the first of two tools with one name counts', () => {
    const second = { ...good, description: 'Another.' };
    expect(acceptTools([good, second, null])).toEqual({
      accepted: [good],
      rejected: [
        { name: 'ok', reason: 'it is listed more than once: the first one counts' },
        { name: '#3', reason: 'it is not an object' },
      ],
      repaired: [],
    });
  });

  it('nothing, null and no list at all are no tools', () => {
    const nobody = { accepted: [], rejected: [], repaired: [] };
    expect(acceptTools(undefined)).toEqual(nobody);
    expect(acceptTools(null)).toEqual(nobody);
    expect(acceptTools({ a: 1 })).toEqual({
      ...nobody,
      rejected: [{ name: '', reason: 'the list is an object' }],
    });
  });

  it('F57: resources and templates need an address, and take it as their name', () => {
    expect(
      acceptResources([
        { uri: 'a://b', name: 'b', size: 3, mimeType: 'text/plain' },
        { uri: 'a://c', title: null, size: 'x' },
        { name: 'd' },
      ]),
    ).toEqual({
      accepted: [
        { uri: 'a://b', name: 'b', size: 3, mimeType: 'text/plain' },
        { uri: 'a://c', name: 'a://c' },
      ],
      rejected: [{ name: 'd', reason: 'it has no uri' }],
      repaired: [
        {
          name: 'a://c',
          notes: ['name is missing: its uri is taken', 'title is null: left out', 'size is "x": left out'],
        },
      ],
    });
    expect(acceptTemplates([{ uriTemplate: 'a://{x}', name: 'x', annotations: null, _meta: [] }])).toEqual({
      accepted: [{ uriTemplate: 'a://{x}', name: 'x' }],
      rejected: [],
      repaired: [
        { name: 'a://{x}', notes: ['_meta is an array: left out', 'annotations is null: left out'] },
      ],
    });
  });

  it('F57: prompts keep the arguments that have a name', () => {
    expect(
      acceptPrompts([
        { name: 'p', arguments: [{ name: 'a', required: true, description: null }, 'b', null, { name: '' }] },
        { name: 'q', arguments: null, mimeType: 'x' },
      ]),
    ).toEqual({
      accepted: [
        { name: 'p', arguments: [{ name: 'a', required: true }, { name: 'b' }] },
        { name: 'q', extra: { mimeType: 'x' } },
      ],
      rejected: [],
      repaired: [
        {
          name: 'p',
          notes: [
            'description is null: left out',
            'argument "b" is only a name',
            'an argument without a name is left out',
            'an argument without a name is left out',
          ],
        },
        { name: 'q', notes: ['arguments is null: left out'] },
      ],
    });
  });
});
