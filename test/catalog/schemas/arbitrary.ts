/** Schemas as servers write them: good, sloppy and hostile. */

import fc from 'fast-check';

export const hostileName: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', 'kind', 'path', 'query') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '$match',
      '$vectorSearch',
      'match',
      'foo-bar',
      'foo.bar',
      'foo bar',
      'x[]',
      '1st',
      '*',
      '',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '__proto__',
      'constructor',
      'toString',
      'x'.repeat(100),
      `${'x'.repeat(99)}y`,
      'été',
      '名前',
      '😀',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
);

const typeName = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null'),
  },
  { weight: 1, arbitrary: fc.constantFrom('any', 'float', 'dict', 'STRING', 'nonsense') },
);

const scalar = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.integer({ min: -5, max: 5 }),
  fc.boolean(),
  fc.constant(null),
  fc.constant(1.5),
);

const annotations = {
  title: fc.string({ maxLength: 6 }),
  description: fc.oneof(fc.string({ maxLength: 20 }), fc.constant('A thing.'), fc.constant(null)),
  default: fc.jsonValue({ maxDepth: 1 }),
  examples: fc.array(scalar, { maxLength: 4 }),
};

const limits = {
  minimum: fc.oneof(fc.integer(), fc.constant('5')),
  exclusiveMinimum: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.boolean()),
  maximum: fc.double({ noNaN: true, noDefaultInfinity: true }),
  multipleOf: fc.constantFrom(0, 0.5, 2),
  minLength: fc.integer({ min: -1, max: 5 }),
  maxItems: fc.integer({ min: 0, max: 5 }),
  minProperties: fc.integer({ min: 0, max: 2 }),
  uniqueItems: fc.boolean(),
  pattern: fc.constantFrom('^a+$', '^(?=x)y', '(', '(a+)+$', '\\bword\\b'),
  format: fc.constantFrom('date-time', 'uri', 'email', 'int64', 'double', 'made-up'),
};

const ref = fc.constantFrom(
  '#/$defs/A',
  '#/$defs/B',
  '#/$defs/C',
  '#',
  '#/$defs/missing',
  'https://example.com/x.json',
  '#/properties/a',
  '#/%zz',
);

const { schema: schemaArbitrary } = fc.letrec<{ schema: unknown; object: unknown; properties: unknown }>(
  (tie) => {
    const branches = fc.array(tie('schema'), { maxLength: 3 });
    return {
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        {
          weight: 3,
          arbitrary: fc.record(
            { type: fc.constantFrom('string', 'integer', 'boolean'), description: annotations.description },
            { requiredKeys: ['type'] },
          ),
        },
        { weight: 1, arbitrary: fc.constantFrom<unknown>(true, false, {}, null, 'string', 7, []) },
        {
          weight: 2,
          arbitrary: fc.record(
            {
              type: fc.oneof(typeName, fc.uniqueArray(typeName, { maxLength: 3 })),
              ...annotations,
              ...limits,
            },
            { requiredKeys: [] },
          ),
        },
        {
          weight: 1,
          arbitrary: fc.record(
            {
              type: typeName,
              enum: fc.array(fc.oneof(scalar, fc.constant({ a: 1 })), { maxLength: 5 }),
              nullable: fc.boolean(),
            },
            { requiredKeys: ['enum'] },
          ),
        },
        {
          weight: 1,
          arbitrary: fc.record(
            { const: scalar, description: annotations.description },
            { requiredKeys: ['const'] },
          ),
        },
        {
          weight: 1,
          arbitrary: fc.record(
            { $ref: ref, description: annotations.description, nullable: fc.boolean() },
            { requiredKeys: ['$ref'] },
          ),
        },
        {
          weight: 2,
          arbitrary: fc.record(
            {
              type: fc.constant('array'),
              items: fc.oneof(tie('schema'), branches),
              prefixItems: branches,
              minItems: limits.maxItems,
            },
            { requiredKeys: [] },
          ),
        },
        { weight: 3, arbitrary: tie('object') },
        {
          weight: 2,
          arbitrary: fc.record(
            { anyOf: branches, description: annotations.description, type: typeName },
            { requiredKeys: ['anyOf'] },
          ),
        },
        {
          weight: 1,
          arbitrary: fc.record(
            { oneOf: branches, default: annotations.default },
            { requiredKeys: ['oneOf'] },
          ),
        },
        {
          weight: 1,
          arbitrary: fc.record(
            { allOf: branches, properties: tie('properties') },
            { requiredKeys: ['allOf'] },
          ),
        },
      ),
      properties: fc
        .array(fc.tuple(hostileName, tie('schema')), { maxLength: 4 })
        .map((entries) => Object.fromEntries(entries)),
      object: fc.record(
        {
          type: fc.oneof(
            { weight: 5, arbitrary: fc.constant<unknown>('object') },
            { weight: 1, arbitrary: fc.constant<unknown>(['object', 'null']) },
          ),
          properties: tie('properties'),
          required: fc.oneof(
            { weight: 5, arbitrary: fc.array<unknown>(hostileName, { maxLength: 3 }) },
            { weight: 1, arbitrary: fc.constant<unknown>(null) },
          ),
          additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
          patternProperties: tie('properties'),
          propertyNames: tie('schema'),
          description: annotations.description,
          anyOf: fc.array(
            fc.oneof(
              tie('object'),
              fc.record({ required: fc.array(hostileName, { minLength: 1, maxLength: 2 }) }),
            ),
            { maxLength: 3 },
          ),
          not: tie('schema'),
          if: tie('schema'),
        },
        { requiredKeys: [] },
      ),
    };
  },
);

export const anySchema: fc.Arbitrary<unknown> = schemaArbitrary;

/** An input schema: an object at its root, with definitions that its parts may refer to, also in circles. */
export const inputSchema: fc.Arbitrary<Record<string, unknown>> = fc
  .record(
    {
      type: fc.constant('object'),
      $schema: fc.constant('http://json-schema.org/draft-07/schema#'),
      properties: fc
        .array(fc.tuple(hostileName, anySchema), { maxLength: 5 })
        .map((entries) => Object.fromEntries(entries)),
      required: fc.uniqueArray(hostileName, { maxLength: 3 }),
      additionalProperties: fc.boolean(),
      oneOf: fc.array(
        fc.record({
          type: fc.constant('object'),
          properties: fc.dictionary(fc.constantFrom('kind', 'a', 'b'), anySchema),
          required: fc.array(fc.constantFrom('kind', 'a', 'b')),
        }),
        { maxLength: 3 },
      ),
      $defs: fc.record({ A: anySchema, B: anySchema, C: anySchema }),
    },
    { requiredKeys: ['type', 'properties'] },
  )
  // As it comes off the wire: `__proto__` is a key like any other.
  .map((schema) => JSON.parse(JSON.stringify(schema)) as Record<string, unknown>);
