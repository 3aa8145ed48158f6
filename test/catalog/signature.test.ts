/** Signatures of tools and compact definitions, which a model reads in place of schemas. */

import { describe, expect, it } from 'vitest';
import { compactTool } from '../../src/catalog/compact-definition.ts';
import {
  firstSentence,
  signatureOf,
  summarizedName,
  summaryOf,
  typeText,
} from '../../src/catalog/signature.ts';
import type { Tool } from '../../src/catalog/tool.ts';

const object = (properties: object, required: string[] = []): Record<string, unknown> => ({
  type: 'object',
  properties,
  required,
});

describe('CAT-12: signatures', () => {
  it.each([
    [{}, '()'],
    [object({ path: { type: 'string' } }, ['path']), '(path: string)'],
    [
      object({ limit: { type: 'integer' }, path: { type: 'string' } }, ['path']),
      '(path: string, limit?: integer)',
    ],
    [object({ 'my-key': { type: 'string' } }), "('my-key'?: string)"],
    [object({ on: { enum: ['a', "it's", 1, null] } }, ['on']), "(on: 'a' | 'it\\'s' | 1 | null)"],
    [object({ tags: { type: 'array', items: { type: 'string' } } }), '(tags?: string[])'],
    [object({ any: { type: 'array' } }), '(any?: any[])'],
    [object({ x: { anyOf: [{ type: 'string' }, { type: 'null' }] } }), '(x?: string)'],
    [object({ x: { type: ['string', 'null'] } }, ['x']), '(x: string | null)'],
    [
      object({ items: { type: 'array', items: object({ id: { type: 'integer' }, note: {} }, ['id']) } }, [
        'items',
      ]),
      '(items: {id: integer, note?: any}[])',
    ],
    [
      object({ map: { type: 'object', additionalProperties: { type: 'number' } } }),
      '(map?: Record<string, number>)',
    ],
    [object({ pair: { prefixItems: [{ type: 'string' }, { const: 2 }] } }), '(pair?: [string, 2])'],
    [
      { ...object({ who: { $ref: '#/$defs/who' } }, ['who']), $defs: { who: { type: 'string' } } },
      '(who: string)',
    ],
    [object({ page: { type: 'integer', default: 1 } }, ['page']), '(page?: integer)'],
    [{ required: ['undeclared'] }, '(undeclared: any)'],
    [{ allOf: [object({ a: { type: 'string' } }, ['a']), object({ b: {} })] }, '(a: string, b?: any)'],
  ])('writes %j as %s', (schema, text) => {
    expect(signatureOf(schema)).toBe(text);
  });

  it('keeps every required name, and shortens the rest', () => {
    const names = Array.from({ length: 40 }, (_, at) => `name_${at}`);
    const schema = object(
      Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      names.slice(0, 30),
    );
    const text = signatureOf(schema);
    expect(names.slice(0, 30).filter((name) => !text.includes(`${name}: string`))).toEqual([]);
    expect(text.endsWith(', …)')).toBe(true);
  });

  it('A18: is bounded for schemas that refer to themselves', () => {
    const node = { type: 'object', properties: {}, required: [] as string[] };
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`n${at}`, { $ref: '#/$defs/n' }]),
    );
    const schema = {
      ...object(properties),
      $defs: { n: { anyOf: [{ ...node, properties }, { $ref: '#' }] } },
    };
    expect(signatureOf(schema).length).toBeLessThan(4_100);
  });

  it('writes a name or a value that contains line breaks in one line', () => {
    const text = signatureOf(object({ 'a\nb': { enum: ['x\ny'] } }));
    expect(text).toBe("('a\\nb'?: 'x\\ny')");
  });

  it('writes types of output schemas', () => {
    expect(typeText(object({ files: { type: 'array', items: { type: 'string' } } }, ['files']))).toBe(
      '{files: string[]}',
    );
  });

  it.each([
    ['Reads a file. Then more.', 'Reads a file.'],
    ['Lists items, e.g. files. More.', 'Lists items, e.g. files.'],
    ['No period', 'No period'],
    ['# Heading\n\nText.', 'Heading'],
    ['\n\nReads\n a file.\n\nArgs:\n', 'Reads a file.'],
    ['读取文件。然后', '读取文件。'],
    ['', ''],
    ['Version 1.2 of it. More', 'Version 1.2 of it.'],
  ])('the first sentence of %j is %j', (text, sentence) => {
    expect(firstSentence(text)).toBe(sentence);
  });

  it('a line begins with the name, which adapters read', () => {
    const line = summaryOf({ name: 'a__b', description: 'Does it.', inputSchema: {} }, ' readOnly');
    expect([line, summarizedName(line), summarizedName('2 tools found; (x)')]).toEqual([
      'a__b() readOnly: Does it.',
      'a__b',
      undefined,
    ]);
  });
});

describe('compact definitions', () => {
  const tool: Tool = {
    name: 's__t',
    server: 's',
    tool: 't',
    description: 'Writes. It also does more.',
    inputSchema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...object(
        {
          title: { type: 'string', description: 'The title', minLength: 1 },
          description: { type: 'string', title: 'Text', enum: ['description', 'title'] },
          nested: object({ default: { type: 'string', examples: ['x'], default: 'd' } }),
        },
        ['title'],
      ),
    },
  };

  it('drop text and keep every restriction, also of arguments named like keywords', () => {
    expect(compactTool(tool)).toEqual({
      ...tool,
      description: 'Writes.',
      inputSchema: object(
        {
          title: { type: 'string', minLength: 1 },
          description: { type: 'string', enum: ['description', 'title'] },
          nested: object({ default: { type: 'string', default: 'd' } }),
        },
        ['title'],
      ),
    });
  });

  it('keep the dialect of a schema with tuples', () => {
    const inputSchema = {
      $schema: 'draft',
      properties: { pair: { items: [{ title: 'One', type: 'string' }] } },
    };
    expect(compactTool({ ...tool, inputSchema }).inputSchema).toEqual({
      $schema: 'draft',
      properties: { pair: { items: [{ type: 'string' }] } },
    });
  });
});
