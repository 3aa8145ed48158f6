import { describe, expect, it } from 'vitest';
import { convert, MAX_BYTES } from '../../../src/catalog/schemas/convert.ts';
import type { Provider } from '../../../src/catalog/schemas/provider-profile.ts';
import { faultsOf } from './rules.ts';

const PROVIDERS: readonly Provider[] = ['openai', 'openai-strict', 'anthropic', 'gemini', 'ai-sdk'];

type Json = Record<string, unknown>;

const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more });

function converted(schema: unknown, provider: Provider, maxBytes?: number) {
  const outcome = convert(schema, provider, maxBytes === undefined ? {} : { maxBytes });
  if (!outcome.ok) throw new Error(outcome.reason);
  expect(faultsOf(outcome.schema, provider)).toEqual([]);
  return outcome;
}

describe('CAT-5: repairs', () => {
  it.each(PROVIDERS)('%s: a list whose only choice is null still describes its items', (provider) => {
    const schema = object({ kind: { allOf: [{ const: null }, { type: ['array', 'null'] }] } });
    const once = converted(schema, provider);
    expect(converted(once.schema, provider).schema).toEqual(once.schema);
  });

  it.each(['openai', 'anthropic', 'ai-sdk'] as const)('%s: a good schema stays as it is', (provider) => {
    const schema = object(
      {
        path: { type: 'string', description: 'Where.', minLength: 1, pattern: '^/' },
        mode: { type: 'string', enum: ['r', 'w'], default: 'r', title: 'Mode' },
        tags: { type: 'array', items: { type: 'string' }, uniqueItems: true, examples: [['a']] },
        limit: { type: ['integer', 'null'], exclusiveMinimum: 0 },
        filter: {
          anyOf: [
            { type: 'string' },
            object(
              { kind: { type: 'string', const: 'x' } },
              { required: ['kind'], additionalProperties: false },
            ),
          ],
        },
        options: object({}, { additionalProperties: { type: 'number' } }),
      },
      { required: ['path'], additionalProperties: false },
    );
    expect(convert(schema, provider)).toEqual({ ok: true, schema, changes: [] });
  });

  it.each<[string, unknown, unknown]>([
    ['properties → object', { properties: { x: { type: 'string' } } }, object({ x: { type: 'string' } })],
    ['items → array', { items: { type: 'number' } }, { type: 'array', items: { type: 'number' } }],
    [
      'prefixItems → array',
      { prefixItems: [{ type: 'number' }, { type: 'string' }] },
      { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'string' }] } },
    ],
    ['enum → the type of its values', { enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }],
    [
      'enum of several types',
      { enum: ['a', 1, null] },
      { type: ['string', 'integer', 'null'], enum: ['a', 1, null] },
    ],
    ['const → the type of its value', { const: true }, { type: 'boolean', const: true }],
    ['numeric keywords → number', { minimum: 3 }, { type: 'number', minimum: 3 }],
    ['nothing → string', { description: 'Any.' }, { type: 'string', description: 'Any.' }],
    ['true → string', true, { type: 'string' }],
    ['false → string', false, { type: 'string' }],
    ['null → string', null, { type: 'string' }],
    ['an unknown type → by its alias', { type: 'Float' }, { type: 'number' }],
    ['array without items', { type: 'array' }, { type: 'array', items: { type: 'string' } }],
    ['object without properties', { type: 'object' }, object({})],
    [
      'a combinator’s branches',
      { anyOf: [{ minimum: 1 }, true, { properties: {}, required: ['a'] }] },
      {
        anyOf: [
          { type: 'number', minimum: 1 },
          { type: 'string' },
          object({ a: { type: 'string' } }, { required: ['a'] }),
        ],
      },
    ],
    ...(
      [
        { items: true },
        { items: {} },
        { items: [] },
        { prefixItems: [] },
        { type: 'array', items: true },
        { allOf: [{ items: true }] },
        { $ref: '#/$defs/list' },
      ] as Json[]
    ).map(
      (schema) =>
        ['a list of anything', schema, { type: 'array', items: { type: 'string' } }] as [
          string,
          unknown,
          unknown,
        ],
    ),
    ['a list that stays empty', { items: false }, { type: 'array', items: { type: 'string' }, maxItems: 0 }],
    [
      'a tuple with a member that may be anything',
      { items: [true, { type: 'number' }], additionalItems: false },
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] }, maxItems: 2 },
    ],
    [
      'anything in a list, and a part of allOf that knows more',
      { allOf: [{ items: true }, { items: { type: 'number' } }] },
      { type: 'array', items: { type: 'number' } },
    ],
    [
      'a form that may be anything',
      { anyOf: [true, { type: 'number' }] },
      { anyOf: [{ type: 'string' }, { type: 'number' }] },
    ],
    ['a form that nothing can be', { anyOf: [false, { type: 'number' }] }, { type: 'number' }],
    [
      'a form that may be anything of the type beside it',
      { type: 'number', oneOf: [true, { minimum: 1 }] },
      { oneOf: [{ type: 'number' }, { type: 'number', minimum: 1 }] },
    ],
    ['no form that anything can be', { type: 'number', anyOf: [false] }, { type: 'number' }],
    [
      'a bare type as a form',
      { anyOf: ['integer', 'string'] },
      { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    ],
    ['booleans in allOf', { allOf: [true, { type: 'number' }, false] }, { type: 'number' }],
    ['a reference to true', { $ref: '#/$defs/any' }, { type: 'string' }],
    [
      'additionalProperties → object',
      { additionalProperties: true },
      object({}, { additionalProperties: true }),
    ],
    [
      'no additionalProperties → object',
      { additionalProperties: false },
      object({}, { additionalProperties: false }),
    ],
    [
      'patterns of which one is forbidden',
      { patternProperties: { '^x-': false, '^y': { type: 'number' } } },
      object({}, { additionalProperties: { type: 'number' } }),
    ],
    [
      'a pattern that may be anything',
      { patternProperties: { '^x-': true } },
      object({}, { additionalProperties: true }),
    ],
    [
      'draft 4 bounds',
      { type: 'integer', minimum: 0, exclusiveMinimum: true },
      { type: 'integer', exclusiveMinimum: 0 },
    ],
    ['OpenAPI’s nullable', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
    ['a type that fits no value', { type: 'string', enum: [1, 2] }, { type: 'integer', enum: [1, 2] }],
    [
      'allOf',
      {
        allOf: [
          object({ a: { type: 'string' } }, { required: ['a'] }),
          { properties: { b: { type: 'number' } } },
        ],
      },
      object({ a: { type: 'string' }, b: { type: 'number' } }, { required: ['a'] }),
    ],
  ])('%s', (_, schema, expected) => {
    const $defs = { any: true, list: { items: true } };
    expect(converted(object({ p: schema }, { $defs }), 'openai').schema).toEqual(object({ p: expected }));
    for (const provider of PROVIDERS) {
      const once = converted(object({ p: schema }, { $defs }), provider).schema;
      expect(converted(once, provider).schema).toEqual(once);
    }
  });

  it.each([
    [undefined, []],
    [null, []],
    [true, []],
    [{}, ['type is missing: taken as object']],
    [{ type: 'object' }, []],
  ])('%j at the root is an object without parameters', (schema, changes) => {
    const outcome = converted(schema, 'openai');
    expect(outcome.schema).toEqual(object({}));
    if (changes.length > 0) expect(outcome.changes).toEqual(changes);
  });

  it.each([['text'], [7], [[]]])('%j at the root is hopeless', (schema) => {
    expect(convert(schema, 'openai')).toEqual({ ok: false, reason: 'the schema is not an object' });
  });

  it.each([[{ type: 'string' }], [{ enum: [1] }], [{ anyOf: [{ type: 'string' }, { type: 'number' }] }]])(
    '%j at the root is hopeless',
    (schema) => {
      expect(convert(schema, 'openai')).toEqual({
        ok: false,
        reason: 'the schema does not describe an object',
      });
    },
  );

  it('a required argument without a schema gets one', () => {
    expect(converted(object({ a: { type: 'number' } }, { required: ['a', 'b'] }), 'gemini').schema).toEqual(
      object({ a: { type: 'number' }, b: { type: 'string' } }, { required: ['a', 'b'] }),
    );
  });

  it('draft 3’s `required: true` in a property is kept', () => {
    expect(converted(object({ a: { type: 'string', required: true } }), 'openai').schema).toEqual(
      object({ a: { type: 'string' } }, { required: ['a'] }),
    );
  });
});

describe('CAT-5: references and unions', () => {
  it('inlines definitions, with the keywords next to the reference', () => {
    const schema = {
      ...object({
        from: { $ref: '#/$defs/Place', description: 'Start.' },
        to: { $ref: '#/definitions/a~1b' },
      }),
      $defs: { Place: object({ x: { type: 'number' } }, { description: 'A place.' }) },
      definitions: { 'a/b': { $ref: '#/$defs/Place' } },
    };
    expect(converted(schema, 'anthropic').schema).toEqual(
      object({
        from: object({ x: { type: 'number' } }, { description: 'Start.' }),
        to: object({ x: { type: 'number' } }, { description: 'A place.' }),
      }),
    );
  });

  it('cuts a recursive definition after one turn', () => {
    const schema = {
      ...object({ tree: { $ref: '#/$defs/T' } }),
      $defs: { T: object({ v: { type: 'number' }, kids: { type: 'array', items: { $ref: '#/$defs/T' } } }) },
    };
    const leaf = object({});
    const inner = object({ v: { type: 'number' }, kids: { type: 'array', items: leaf } });
    const outcome = converted(schema, 'anthropic');
    expect(outcome.schema).toEqual(
      object({ tree: object({ v: { type: 'number' }, kids: { type: 'array', items: inner } }) }),
    );
    expect(outcome.changes).toEqual([
      '$ref is replaced by what it refers to',
      'tree.kids.[].kids.[]: $ref "#/$defs/T" is recursive: cut here',
    ]);
  });

  it.each([['#/$defs/none'], ['https://example.com/s.json'], ['#/%zz'], ['other.json#/x']])(
    'A18: a reference to %s is not followed: any text',
    (ref) => {
      const outcome = converted(object({ a: { $ref: ref } }), 'openai');
      expect(outcome.schema).toEqual(object({ a: { type: 'string' } }));
      expect(outcome.changes).toEqual([
        `a: $ref ${JSON.stringify(ref)} leads nowhere`,
        'a: type is missing: taken as string',
      ]);
    },
  );

  it('makes one object of a union at the root, and describes which arguments belong together', () => {
    const schema = {
      oneOf: [
        object({ kind: { const: 'file' }, path: { type: 'string' } }, { required: ['kind', 'path'] }),
        object({ kind: { const: 'url' }, url: { type: 'string' } }, { required: ['kind', 'url'] }),
      ],
    };
    expect(converted(schema, 'anthropic').schema).toEqual({
      type: 'object',
      description: 'Give one of: (kind = "file", path), (kind = "url", url).',
      properties: {
        kind: { type: 'string', enum: ['file', 'url'] },
        path: { type: 'string' },
        url: { type: 'string' },
      },
      required: ['kind'],
    });
  });

  it('puts "one of these is required" into words', () => {
    const schema = object(
      { id: { type: 'string' }, title: { type: 'string' }, body: { type: 'string' } },
      { required: ['id'], anyOf: [{ required: ['title'] }, { required: ['body'] }] },
    );
    expect(converted(schema, 'openai').schema).toEqual({
      ...object(
        { id: { type: 'string' }, title: { type: 'string' }, body: { type: 'string' } },
        { required: ['id'] },
      ),
      description: 'Give at least one of: (title), (body).',
    });
  });
});

describe('CAT-5: OpenAI strict', () => {
  const schema = object(
    {
      path: { type: 'string', minLength: 1, default: '/' },
      mode: { enum: ['r', 'w'] },
      extra: { type: 'object', additionalProperties: { type: 'string' }, description: 'Headers.' },
      note: { type: ['string', 'null'] },
      inner: object({ deep: { type: 'integer', maximum: 9 } }),
      either: { anyOf: [{ type: 'number' }, object({ a: { type: 'string' } })] },
    },
    { required: ['path'] },
  );

  it('requires everything, closes every object, and puts what is not allowed into words', () => {
    expect(converted(schema, 'openai-strict').schema).toEqual({
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Limits: minLength 1. Default: "/".' },
        mode: { type: ['string', 'null'], enum: ['r', 'w', null] },
        extra: { type: ['string', 'null'], description: 'Headers. An object as JSON text.' },
        note: { type: ['string', 'null'] },
        inner: {
          type: ['object', 'null'],
          properties: { deep: { type: ['integer', 'null'], maximum: 9 } },
          required: ['deep'],
          additionalProperties: false,
        },
        either: {
          anyOf: [
            { type: 'number' },
            {
              type: 'object',
              properties: { a: { type: ['string', 'null'] } },
              required: ['a'],
              additionalProperties: false,
            },
            { type: 'null' },
          ],
        },
      },
      required: ['path', 'mode', 'extra', 'note', 'inner', 'either'],
      additionalProperties: false,
    });
  });

  it('restores what the server asked for: nulls that stand for "not given" go, JSON text is parsed', () => {
    const { restore } = converted(schema, 'openai-strict');
    expect(
      restore?.({
        path: '/',
        mode: null,
        extra: '{"a":"b"}',
        note: null,
        inner: { deep: null },
        either: { a: null },
      }),
    ).toEqual({
      path: '/',
      extra: { a: 'b' },
      note: null,
      inner: {},
      either: {},
    });
    expect(restore?.({ path: '/', mode: 'r', extra: 'not json', note: 'x', inner: null, either: 3 })).toEqual(
      { path: '/', mode: 'r', extra: 'not json', note: 'x', either: 3 },
    );
  });
});

describe('CAT-5: Anthropic', () => {
  it('renames properties that would be refused, and finds the way back', () => {
    const stage = object(
      {
        $match: { type: 'object', description: 'A filter' },
        match: { type: 'string' },
        $limit: { type: 'integer' },
      },
      { required: ['$match'] },
    );
    const { schema, restore } = converted(
      object({
        pipeline: {
          type: 'array',
          items: { anyOf: [stage, object({ $count: { type: 'string' } }, { required: ['$count'] })] },
        },
      }),
      'anthropic',
    );
    expect(schema).toEqual(
      object({
        pipeline: {
          type: 'array',
          items: {
            anyOf: [
              object(
                {
                  match_2: object({}, { description: 'A filter. Stands for "$match".' }),
                  match: { type: 'string' },
                  limit: { type: 'integer', description: 'Stands for "$limit".' },
                },
                { required: ['match_2'] },
              ),
              object(
                { count: { type: 'string', description: 'Stands for "$count".' } },
                { required: ['count'] },
              ),
            ],
          },
        },
      }),
    );
    expect(restore?.({ pipeline: [{ match_2: { $gt: 1 }, limit: 5 }, { count: 'n' }] })).toEqual({
      pipeline: [{ $match: { $gt: 1 }, $limit: 5 }, { $count: 'n' }],
    });
  });

  it('needs no way back when nothing was renamed', () => {
    expect(converted(object({ a: { type: 'string' } }), 'anthropic').restore).toBeUndefined();
  });
});

describe('CAT-5: Gemini', () => {
  it('writes its own subset and puts the rest into words', () => {
    const schema = object(
      {
        a: { type: ['string', 'null'], format: 'uri', const: 'x' },
        b: { type: 'integer', enum: [1, 2], exclusiveMinimum: 0 },
        c: { anyOf: [{ type: 'string' }, { type: 'null' }, { type: 'number' }], description: 'Either.' },
        'd-e': { type: 'object' },
        f: { type: ['boolean', 'array'], items: { type: 'string' } },
        g: { type: 'string', enum: ['', 'x'] },
      },
      { required: ['d-e'], additionalProperties: false },
    );
    const outcome = converted(schema, 'gemini');
    expect(outcome.schema).toEqual(
      object(
        {
          a: { type: 'string', nullable: true, description: 'Limits: format uri.', enum: ['x'] },
          b: { type: 'integer', description: 'One of: 1, 2.', minimum: 1 },
          c: {
            anyOf: [
              { type: 'string', nullable: true, description: 'Either.' },
              { type: 'number', nullable: true },
            ],
          },
          d_e: { type: 'string', description: 'Stands for "d-e". An object as JSON text.' },
          f: { anyOf: [{ type: 'boolean' }, { type: 'array', items: { type: 'string' } }] },
          g: { type: 'string', description: 'One of: "", "x".' },
        },
        { required: ['d_e'] },
      ),
    );
    expect(outcome.restore?.({ d_e: '{"k":[1]}', a: null })).toEqual({ 'd-e': { k: [1] }, a: null });
  });
});

describe('CAT-5: budget and hostility', () => {
  it('drops what helps least first', () => {
    const long = 'word '.repeat(200).trim();
    const schema = object(
      {
        a: { type: 'string', description: long, examples: [long] },
        b: object({ c: { type: 'string', description: long } }),
      },
      { required: ['a'] },
    );
    const changes = (maxBytes: number): readonly string[] => converted(schema, 'openai', maxBytes).changes;
    expect(changes(4_000)).toEqual([]);
    expect(changes(2_500)).toEqual(['too large: examples are left out']);
    expect(changes(1_024)).toEqual([
      'too large: examples are left out',
      'too large: long descriptions are cut',
    ]);
  });

  it.each(PROVIDERS)('%s: keeps required arguments to the last, and gives up only for them', (provider) => {
    const many = Object.fromEntries(
      Array.from({ length: 200 }, (_, i) => [
        `argument_${i}`,
        { type: 'string', description: 'Some words.' },
      ]),
    );
    const required = ['argument_3', 'argument_150'];
    const outcome = converted(object(many, { required }), provider, 1_024);
    const kept = Object.keys(outcome.schema['properties'] as Json);
    expect(kept).toEqual(expect.arrayContaining(required));
    expect(kept.length).toBeLessThan(50);
    expect(outcome.schema['required']).toEqual(provider === 'openai-strict' ? kept : required);
    expect(convert(object(many, { required: Object.keys(many) }), provider, { maxBytes: 1_024 })).toEqual({
      ok: false,
      reason: 'its required arguments alone take more than 1024 bytes',
    });
  });

  let deep: Json = { type: 'string' };
  for (let i = 0; i < 200; i++) deep = i % 2 === 0 ? object({ a: deep }) : { type: 'array', items: deep };
  let unions: Json = { type: 'string' };
  for (let i = 0; i < 200; i++) unions = { anyOf: [unions, { type: 'number' }], description: String(i) };
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `d${i}`,
      object({ l: { $ref: `#/$defs/d${i + 1}` }, r: { $ref: `#/$defs/d${i + 1}` } }),
    ]),
  );
  const nestedUnions = (levels: number): Json =>
    levels === 0
      ? { type: 'string' }
      : object(
          { next: nestedUnions(levels - 1) },
          { anyOf: Array.from({ length: 20 }, (_, i) => object({ [`p${i}`]: { type: 'string' } })) },
        );

  it.each<[string, unknown]>([
    ['200 levels', object({ deep })],
    ['200 unions', object({ unions })],
    [
      'a circle of references',
      {
        ...object({ a: { $ref: '#/$defs/a' } }, { required: ['a'] }),
        $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
      },
    ],
    ['a reference to the root', object({ a: { $ref: '#' }, b: { type: 'array', items: { $ref: '#' } } })],
    [
      'an allOf circle',
      {
        ...object({ a: { $ref: '#/$defs/a' } }),
        $defs: { a: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } },
      },
    ],
    ['references that double 40 times', { ...object({ x: { $ref: '#/$defs/d0' } }), $defs: doubling }],
    [
      '10,000 references to 40 KB of words',
      {
        ...object(
          Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, { $ref: '#/$defs/w' }])),
        ),
        $defs: { w: { type: 'string', description: 'w'.repeat(40_000) } },
      },
    ],
    [
      'references to 5,000 required names',
      {
        ...object({ list: { type: 'array', prefixItems: new Array(3_000).fill({ $ref: '#/$defs/r' }) } }),
        $defs: { r: { required: Array.from({ length: 5_000 }, (_, i) => `n${i}`) } },
      },
    ],
    ['unions beside properties, 15 levels', nestedUnions(15)],
    [
      'an enum of 20,000 values',
      object({ a: { enum: Array.from({ length: 20_000 }, (_, i) => `value ${i}`) } }, { required: ['a'] }),
    ],
    [
      '2,000 enums',
      object(Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`p${i}`, { enum: ['a', 'b'] }]))),
    ],
    ['100,000 branches', object({ a: { anyOf: Array.from({ length: 100_000 }, (_, i) => ({ const: i })) } })],
    [
      'a pattern that never ends',
      object({
        a: { type: 'string', pattern: '^(a+)+$' },
        b: { type: 'string', pattern: `(${'a|'.repeat(50_000)}b)` },
      }),
    ],
    [
      '__proto__ everywhere',
      JSON.parse(
        '{"type":"object","properties":{"__proto__":{"type":"object","properties":{"__proto__":{"$ref":"#/$defs/__proto__"}}}},"required":["__proto__"],"$defs":{"__proto__":{"type":"number"}},"__proto__":{"type":"string"}}',
      ),
    ],
    [
      '30,000 properties',
      object(Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`p${i}`, {}])), {
        required: ['p29999'],
      }),
    ],
  ])('A18: %s are contained for every provider', (_, schema) => {
    for (const provider of PROVIDERS) {
      const outcome = converted(schema, provider);
      expect(Buffer.byteLength(JSON.stringify(outcome.schema))).toBeLessThanOrEqual(MAX_BYTES);
      expect(outcome.changes.length).toBeLessThanOrEqual(100);
      const required = (schema as { required?: string[] }).required ?? [];
      expect(outcome.schema['required'] ?? []).toEqual(expect.arrayContaining(required));
      const again = convert(outcome.schema, provider);
      expect(again.ok && again.schema).toEqual(outcome.schema);
    }
    expect(({} as Json)['type']).toBeUndefined();
  });
});
