import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import '../../property-seed.ts';
import { cleanResult } from '../../../src/call/shape.ts';
import { acceptPrompts, acceptResources, acceptTemplates } from '../../../src/catalog/accept-lists.ts';
import { acceptCallResult } from '../../../src/catalog/accept-result.ts';
import { Catalog, readListing } from '../../../src/catalog/catalog.ts';
import { presentPrompt } from '../../../src/catalog/prompts.ts';
import { presentResource, presentTemplate } from '../../../src/catalog/resources.ts';
import type { Era } from '../../../src/connection/eras.ts';
import type { Params } from '../../../src/endpoint/client-era.ts';
import { compileFault } from '../../../src/serve/outgoing/compilable.ts';
import { type Reader, readerOf } from '../../../src/serve/outgoing/reader.ts';
import { sentCompletion, sentPromptResult, sentResult } from '../../../src/serve/outgoing/results.ts';
import { sentPrompt, sentResource, sentTemplate } from '../../../src/serve/outgoing/sent-definitions.ts';
import { createToolLister } from '../../../src/serve/outgoing/tool-list.ts';
import { compileError, OFFICIAL } from '../../faithful/official-schemas.ts';

const REVISIONS = Object.keys(OFFICIAL);
/** Lists differ by era only. */
const ERAS = ['2025-11-25', '2026-07-28'];
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 100);
const NO_REPORT = (): void => {};

function eraOf(version: string): Era {
  return version === '2026-07-28' ? 'modern' : 'legacy';
}

function reader(version: string, capabilities: Params = {}): Reader {
  const era = eraOf(version);
  return readerOf({ era, version, capabilities, isAskable: false, logLevel: undefined, client: undefined });
}

function expectValid(version: string, method: string, result: Params): void {
  // As it travels: what JSON leaves out is not there.
  const sent = JSON.parse(JSON.stringify(result));
  for (const refusal of OFFICIAL[version] ?? []) expect(refusal(method, sent)).toBe(undefined);
}

// What servers say: legal values, and now and then any JSON in the place of one.

const odd = fc.jsonValue({ maxDepth: 2 });
const text = fc.string({ maxLength: 8 });
/** Titles and names are one line, in which white space is folded. */
const line = fc.stringMatching(/^\w{1,4}( \w{1,4})?$/);

function mostly<T>(legal: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 5, arbitrary: legal }, { weight: 1, arbitrary: odd });
}

/** Each field legal, odd or missing. */
function oddly(fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Params> {
  const mixed = Object.entries(fields).map(([key, legal]) => [key, mostly(legal)] as const);
  return fc.record(Object.fromEntries(mixed), { requiredKeys: [] });
}

/** Each field legal or missing. */
function legally(
  fields: Record<string, fc.Arbitrary<unknown>>,
  requiredKeys: readonly string[] = [],
): fc.Arbitrary<Params> {
  return fc.record(fields, { requiredKeys: [...requiredKeys] });
}

const future = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 6 }).map((name) => `x-${name}`),
  odd,
  { maxKeys: 2 },
);

const iconFields = {
  src: fc.webUrl(),
  mimeType: fc.constantFrom('image/png', 'image/svg+xml'),
  sizes: fc.array(fc.constantFrom('48x48', 'any'), { maxLength: 2 }),
  theme: fc.constantFrom('light', 'dark'),
};
const annotationFields = {
  audience: fc.subarray(['user', 'assistant']),
  priority: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
  lastModified: fc
    .tuple(
      fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
      fc.constantFrom('Z', '+02:00', '-11:30'),
    )
    .map(([date, zone]) => date.toISOString().replace('Z', zone)),
};
const oddDates = fc.constantFrom(
  'yesterday',
  '2025-02-30T00:00:00Z',
  '2025-01-01',
  '2025-01-01T25:00:00Z',
  7,
);

const meta = fc.dictionary(
  fc.constantFrom('com.example/a', 'progressToken', 'io.modelcontextprotocol/related-task'),
  odd,
  { maxKeys: 2 },
);
const legalMeta = fc.dictionary(fc.constantFrom('com.example/a', 'b'), odd, { maxKeys: 2 });

const legalIcons = fc.array(legally(iconFields, ['src']), { maxLength: 2 });
const oddIcons = fc.array(fc.oneof(oddly(iconFields), legally(iconFields, ['src']), odd), { maxLength: 3 });
const legalAnnotations = fc
  .tuple(legally(annotationFields), future)
  .map(([known, more]) => ({ ...more, ...known }));
const oddAnnotations = oddly({
  audience: fc.oneof(annotationFields.audience, fc.constant(['robot'])),
  priority: fc.oneof(annotationFields.priority, fc.constantFrom(5, -1, 'high')),
  lastModified: fc.oneof(annotationFields.lastModified, oddDates),
});

const leaf = fc.constantFrom(
  {},
  { type: 'string', pattern: '^a+$' },
  { type: ['number', 'null'], minimum: 1 },
  { enum: ['a', 1, null] },
  { $ref: '#/$defs/part' },
  { type: 'array', items: { type: 'string', format: 'date-time' } },
  { anyOf: [{ type: 'string' }, { const: 3 }], 'x-unit': 'm' },
);
const legalSchema = fc
  .tuple(fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), leaf, { maxKeys: 3 }), fc.boolean())
  .map(([properties, isClosed]) => ({
    type: 'object',
    properties,
    required: Object.keys(properties).slice(0, 1),
    ...(isClosed ? { additionalProperties: false } : {}),
    $defs: { part: { type: 'object', properties: { again: { $ref: '#/$defs/part' } } } },
  }));
/** Legal and illegal parts of schemas, as they are found in the field. */
const oddPart = fc.constantFrom<unknown>(
  true,
  false,
  null,
  'string',
  7,
  [],
  { nullable: true },
  { type: 'strin' },
  { type: 'string', pattern: '[\\w\\-]+' },
  { type: 'string', pattern: '(' },
  { $ref: '#/$defs/nothing' },
  { $ref: 'https://example.com/schema.json' },
  { $ref: 'Model' },
  { $ref: '#/properties/a' },
  { $id: 7, type: 'string' },
  { $id: 'part', type: 'string' },
  { $anchor: 'not an anchor' },
  { id: 'x', type: 'string' },
  { enum: [] },
  { minimum: 1, exclusiveMinimum: true },
  { required: true },
  { items: null },
  { properties: { a: null } },
  { anyOf: 'x' },
  { allOf: [null] },
  { format: 7 },
  { type: 'string', format: 'email', formatMinimum: 'a' },
  { $async: true, type: 'string' },
  { additionalProperties: 'no' },
  { patternProperties: { '(': { type: 'string' } } },
  { dependencies: { a: null } },
  { if: 'x' },
  { not: { properties: { deep: { type: 'nope' } } } },
);
const oddSchema = fc.oneof(
  oddly({
    type: fc.constantFrom('object', 'array', ['object', 'null']),
    properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(leaf, oddPart)),
    required: fc.array(text, { maxLength: 2 }),
    $schema: fc.constantFrom('https://json-schema.org/draft/2020-12/schema', 'https://example.com/own'),
    $id: fc.constantFrom('https://example.com/one', 'two', '#three'),
    oneOf: fc.array(fc.oneof(leaf, oddPart), { maxLength: 2 }),
    $defs: fc.constant({ part: { type: 'object' } }),
  }),
  fc
    .tuple(legalSchema, fc.dictionary(fc.constantFrom('a', 'b'), oddPart, { minKeys: 1, maxKeys: 2 }))
    .map(([schema, parts]) => ({ ...schema, properties: { ...schema.properties, ...parts } })),
);

const toolFields = {
  title: line,
  description: fc.string({ minLength: 1, maxLength: 20 }),
  annotations: legally({
    title: line,
    readOnlyHint: fc.boolean(),
    openWorldHint: fc.boolean(),
    futureHint: odd,
  }),
  icons: legalIcons,
  _meta: legalMeta,
};
const legalTool = fc
  .tuple(
    legally({ ...toolFields, inputSchema: legalSchema, outputSchema: legalSchema }, ['inputSchema']),
    future,
  )
  .map(([known, more]) => ({ ...more, ...known }));
const oddTool = fc
  .tuple(
    oddly({ ...toolFields, icons: oddIcons, inputSchema: oddSchema, outputSchema: oddSchema, _meta: meta }),
    future,
  )
  .map(([known, more]) => ({ ...more, ...known }));

/** The lists of two servers, as the gateway has them. */
function toolsOf(good: readonly Params[], bad: readonly Params[]): Catalog['snapshot']['tools'] {
  const catalog = new Catalog('mcp__');
  const entry = {};
  const named = (list: readonly Params[]): Params[] => list.map((tool, at) => ({ ...tool, name: `t${at}` }));
  catalog.set('bad', entry, readListing(named(bad), { paramHeaders: false }));
  catalog.set('good', entry, readListing(named(good), { paramHeaders: false }));
  return catalog.snapshot.tools;
}

/** Without what the model of a value cannot show: names and texts that were cleaned of hidden text are another test's. */
function isPlain(value: unknown): boolean {
  return /^[\x20-\x7e]*$/.test(JSON.stringify(value)) && !/\\u|\\[bf]|__proto__/.test(JSON.stringify(value));
}

describe('F62: lists', () => {
  // Protocol: 25-base-22, 25-tools-5, 26-base-39, 26-tools-10
  it('are valid for each revision, whatever one server lists, and have every good tool as it is', () => {
    fc.assert(
      fc.property(
        fc.array(legalTool, { minLength: 1, maxLength: 3 }),
        fc.array(oddTool, { minLength: 1, maxLength: 3 }),
        (good, bad) => {
          fc.pre(isPlain(good));
          const tools = toolsOf(good, bad);
          const list = createToolLister([], NO_REPORT);
          for (const version of ERAS) {
            const sent = list(tools, reader(version));
            expectValid(version, 'tools/list', { tools: sent });
            const kept = sent.filter(({ name }) => String(name).startsWith('mcp__good__'));
            expect(kept).toEqual(good.map((tool, at) => ({ ...tool, name: `mcp__good__t${at}` })));
          }
        },
      ),
      { numRuns: RUNS },
    );
  });

  it('have the same valid members of resources, templates and prompts', () => {
    const fields = { title: line, description: text, mimeType: line, _meta: legalMeta };
    const legal = fc
      .tuple(legally({ ...fields, annotations: legalAnnotations, icons: legalIcons }), future)
      .map(([known, more]) => ({ ...more, ...known }));
    const argument = fc
      .tuple(legally({ title: line, description: text, required: fc.boolean() }), future)
      .map(([known, more]) => ({ ...more, name: 'a', ...known }));
    const illegal = oddly({ ...fields, annotations: oddAnnotations, icons: oddIcons, size: fc.nat() });
    const report = NO_REPORT;
    fc.assert(
      fc.property(legal, illegal, fc.array(argument, { maxLength: 1 }), odd, (good, bad, args, oddArgs) => {
        fc.pre(isPlain([good, args]));
        const named = { ...good, name: 'n' };
        const lists: Record<string, [method: string, sent: readonly Params[], good: Params]> = {
          resources: [
            'resources/list',
            acceptResources([
              { ...bad, uri: 'a:b' },
              { ...named, uri: 'a:g', size: 3 },
            ]).accepted.map((each) => sentResource(presentResource('s', each), report)),
            { ...named, uri: 'a:g', size: 3 },
          ],
          resourceTemplates: [
            'resources/templates/list',
            acceptTemplates([
              { ...bad, uriTemplate: 'a:{b}' },
              { ...named, uriTemplate: 'a:{g}' },
            ]).accepted.map((each) => sentTemplate(presentTemplate('s', each), report)),
            { ...named, uriTemplate: 'a:{g}' },
          ],
          prompts: [
            'prompts/list',
            acceptPrompts([
              { ...bad, name: 'b', arguments: oddArgs },
              { ...named, arguments: args },
            ]).accepted.map((each) => {
              const { command: _command, ...prompt } = presentPrompt('/s', 's', each);
              return sentPrompt(prompt, prompt.name, report);
            }),
            { ...named, arguments: args },
          ],
        };
        for (const version of ERAS) {
          for (const [key, [method, sent, kept]] of Object.entries(lists)) {
            expectValid(version, method, { [key]: sent });
            expect(sent).toHaveLength(2);
            expect(sent[1]).toEqual(kept);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });
});

const blockFields = {
  text: { text },
  image: { data: fc.base64String(), mimeType: fc.constant('image/png') },
  audio: { data: fc.base64String(), mimeType: fc.constant('audio/wav') },
  resource: {
    resource: fc.oneof(
      legally({ uri: fc.constant('a:b'), text, mimeType: line, 'x-more': odd, _meta: legalMeta }, [
        'uri',
        'text',
      ]),
      legally({ uri: fc.constant('a:b'), blob: fc.base64String() }, ['uri', 'blob']),
    ),
  },
  resource_link: {
    uri: fc.constant('a:b'),
    name: line,
    title: line,
    icons: legalIcons,
  },
};
const legalBlock = fc.oneof(
  ...Object.entries(blockFields).map(([type, fields]) =>
    fc
      .tuple(
        legally(fields, Object.keys(fields)),
        legally({ annotations: legalAnnotations, _meta: legalMeta }),
        future,
      )
      .map(([known, more, unknown]): Params => ({ ...unknown, type, ...known, ...more })),
  ),
);
const oddBlock = fc.oneof(
  ...Object.entries({ ...blockFields, hologram: { data: odd } }).map(([type, fields]) =>
    oddly({ type: fc.constant(type), ...fields, annotations: oddAnnotations, icons: oddIcons, _meta: meta }),
  ),
  odd,
);

const nothingBound = {
  bind: <T>(content: T): T => content,
  offer: () => ({ type: 'text' as const, text: '' }),
  note: NO_REPORT,
};

/** The types of blocks that a revision has; SDK v1 takes newer ones from every server. */
function typesOf(version: string): readonly string[] {
  return [
    'text',
    'image',
    'resource',
    ...(version >= '2025-03-26' ? ['audio'] : []),
    ...(version >= '2025-06-18' ? ['resource_link'] : []),
  ];
}

describe('F62: results', () => {
  it('of tools are valid for each revision, whatever the server answered', () => {
    const raw = oddly({
      content: fc.array(oddBlock, { maxLength: 3 }),
      structuredContent: odd,
      isError: fc.boolean(),
      _meta: meta,
    });
    fc.assert(
      fc.property(raw, fc.constantFrom<Era>('modern', 'legacy'), (value, era) => {
        const { result } = acceptCallResult(value, era);
        for (const version of REVISIONS) {
          const sent = sentResult(cleanResult(result), { reader: reader(version), ...nothingBound });
          expectValid(version, 'tools/call', sent);
          const content = sent['content'] as readonly { readonly type: string }[];
          for (const { type } of content) expect(typesOf(version)).toContain(type);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('of tools that are legal arrive as they are', () => {
    const raw = fc
      .tuple(
        legally(
          { content: fc.array(legalBlock, { maxLength: 3 }), _meta: legalMeta, isError: fc.boolean() },
          ['content', 'isError'],
        ),
        legally({ structuredContent: fc.dictionary(text, odd) }),
        future,
      )
      .map(([known, structured, more]): Params => ({ ...more, ...known, ...structured }));
    fc.assert(
      fc.property(raw, (value) => {
        fc.pre(isPlain(value));
        const { result } = acceptCallResult(value, 'modern');
        for (const version of ['2025-06-18', '2025-11-25', '2026-07-28']) {
          const sent = sentResult(cleanResult(result), { reader: reader(version), ...nothingBound });
          const { _meta = {}, ...rest } = value;
          const { _meta: kept = {}, ...others } = sent;
          expect(others).toEqual(rest);
          expect(kept).toEqual(_meta);
          expectValid(version, 'tools/call', sent);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('of prompts, resources and completion are valid for each revision', () => {
    fc.assert(
      fc.property(oddBlock, fc.double({ min: 0, noNaN: true }), (block, total) => {
        const [content] = acceptCallResult({ content: [block] }).result.content;
        if (content === undefined) return;
        for (const version of REVISIONS) {
          const options = { reader: reader(version), ...nothingBound };
          const prompt = sentPromptResult({ messages: [{ role: 'user', content }] }, options);
          expectValid(version, 'prompts/get', prompt);
          const completion = sentCompletion({ values: ['a'], total, hasMore: false }, options);
          expectValid(version, 'completion/complete', completion);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('SRV-10.2: keep any structured content for modern clients, and an object for legacy ones', () => {
    for (const structuredContent of [null, [1, 2], 'a', 3, false, { a: 1 }]) {
      const { result } = acceptCallResult({ content: [], structuredContent }, 'modern');
      const sent = (version: string): Params =>
        sentResult(result, { reader: reader(version), ...nothingBound });
      expect(sent('2026-07-28')).toEqual({ content: [], structuredContent, isError: false });
      const isObject =
        typeof structuredContent === 'object' && structuredContent !== null && 'a' in structuredContent;
      expect(sent('2025-11-25')).toEqual(
        isObject
          ? { content: [], structuredContent, isError: false }
          : { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], isError: false },
      );
    }
  });

  it('SRV-10.4: give an unknown block to clients that may support it, and its JSON to others', () => {
    const block = { type: 'hologram', data: { z: 1 }, annotations: { priority: 9 } };
    const { result } = acceptCallResult({ content: [block] });
    const contentFor = (capabilities: Params): unknown =>
      sentResult(result, { reader: reader('2025-11-25', capabilities), ...nothingBound })['content'];
    const json = [{ type: 'text', text: JSON.stringify(block), annotations: {} }];
    const original = [{ type: 'hologram', data: { z: 1 }, annotations: {} }];
    expect(contentFor({})).toEqual(json);
    expect(contentFor({ extensions: { 'io.modelcontextprotocol/ui': {} } })).toEqual(json);
    expect(contentFor({ extensions: { 'com.example/holograms': {} } })).toEqual(original);
    expect(contentFor({ experimental: { holograms: {} } })).toEqual(original);
  });
});

describe('output schemas', () => {
  // Protocol: 25-base-22, 26-base-39
  it('that the check lets pass are compiled by SDK v1', () => {
    fc.assert(
      fc.property(oddSchema, (schema) => {
        const { properties } = schema as { properties?: unknown };
        if (compileFault(schema) === undefined && typeof properties === 'object')
          expect(compileError([schema])).toBe(undefined);
      }),
      { numRuns: 5 * RUNS },
    );
  });

  it.each<[string, object]>([
    ['references inside', { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { $ref: '#' } } }],
    ['anchors', { properties: { a: { $ref: '#k' } }, $defs: { k: { $anchor: 'k', type: 'string' } } }],
    [
      'ids',
      { $id: 'https://e.x/r', properties: { a: { $ref: 'i' } }, $defs: { i: { $id: 'i', type: 'string' } } },
    ],
    [
      'names of keywords',
      { properties: { id: { type: 'string' }, $id: { type: 'string' }, enum: { type: 'null' } } },
    ],
    ['unused nonsense', { $defs: { a: { type: 'nope', $ref: '#/nowhere' } }, default: { $ref: '#/x' } }],
    ['the schema of schemas', { properties: { a: { $ref: 'http://json-schema.org/draft-07/schema#' } } }],
    ['nullable', { properties: { a: { type: 'string', nullable: true } } }],
    ['newer keywords', { prefixItems: [{ $ref: '#/x' }], unevaluatedProperties: false, $dynamicRef: '#y' }],
    ['encoded pointers', { properties: { a: { $ref: '#/$defs/a%20b~1c' } }, $defs: { 'a b/c': {} } }],
  ])('with %s pass', (_, schema) => {
    expect([compileFault({ ...schema }), compileError([schema])]).toEqual([undefined, undefined]);
  });

  it('of two servers with one $id are kept apart', () => {
    const schema = (type: string): Params => ({
      $id: 'https://example.com/result',
      type: 'object',
      properties: { a: { type } },
    });
    const tools = toolsOf(
      [{ inputSchema: { type: 'object' }, outputSchema: schema('string') }],
      [{ inputSchema: { type: 'object' }, outputSchema: schema('number') }],
    );
    const sent = createToolLister([], NO_REPORT)(tools, reader('2025-11-25'));
    expect(sent.map(({ outputSchema }) => outputSchema)).toEqual([
      { type: 'object', properties: { a: { type: 'number' } } },
      { type: 'object', properties: { a: { type: 'string' } } },
    ]);
  });
});
