import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createArgumentChecker } from '../../src/call/argument-check.ts';
import { scriptedServer } from '../../src/testing/index.ts';
import { text } from '../world/content.ts';
import { failure } from '../world/failure.ts';
import { type ScriptedHost, scriptedHost } from '../world/scripted-host.ts';

const checker = await createArgumentChecker();
const check = (schema: Record<string, unknown>, args: Record<string, unknown>): string[] =>
  checker.checkFor(schema)(args);

const file = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1 },
    lines: { type: 'array', items: { type: 'integer' } },
    mode: { enum: ['read', 'write'] },
    options: { type: 'object', properties: { depth: { type: 'number' } }, additionalProperties: false },
  },
  required: ['path'],
  additionalProperties: false,
};

describe('messages that a model can act on (CAL-1)', () => {
  it('a property that every object inherits is absent unless it is given', () => {
    const properties = { constructor: { type: 'string' }, toString: { type: 'number' } };
    const schema = { type: 'object', properties, additionalProperties: false };
    expect(check(schema, {})).toEqual([]);
    expect(check({ ...schema, required: ['constructor'] }, {})).toEqual(['constructor is required']);
    expect(check(schema, { constructor: 7 })).toEqual(['constructor must be a string']);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ['what fits', { path: 'a', lines: [1], mode: 'read', options: { depth: 1 } }, []],
    ['a missing field', {}, ['path is required']],
    [
      'a typo for a required name',
      { pth: 'a' },
      ['path is required (you gave "pth")', 'pth is not known; did you mean "path"?'],
    ],
    ['a wrong type', { path: 7 }, ['path must be a string']],
    ['a wrong element', { path: 'a', lines: [1, 'two'] }, ['lines[1] must be an integer']],
    ['a value that is not offered', { path: 'a', mode: 'x' }, ['mode must be one of "read", "write"']],
    [
      'a typo in an inner object',
      { path: 'a', options: { dept: 1 } },
      ['options.dept is not known; did you mean "depth"?'],
    ],
    ['something like nothing', { path: 'a', zzzzzz: 1 }, ['zzzzzz is not known']],
    ['too short a text', { path: '' }, ['path must NOT have fewer than 1 characters']],
  ])('%s', (_what, args, problems) => {
    expect(check(file, args)).toEqual(problems);
  });

  it('a field with a default need not be given, also where the schema requires it, as zod 4 writes it', () => {
    const scale = { enum: ['css', 'device'], default: 'css' };
    const inner = { type: 'object', properties: { scale }, required: ['scale'] };
    const schema = {
      type: 'object',
      properties: { scale, type: { type: 'string' }, shots: { type: 'array', items: inner } },
      required: ['scale', 'type', 'default'],
      default: { required: ['x'], properties: { x: { default: 1 } } },
    };
    expect(check(schema, { type: 'png', shots: [{}] })).toEqual(['default is required']);
    expect(check(schema, { scale: 'x', default: 1 })).toEqual([
      'type is required',
      'scale must be one of "css", "device"',
    ]);
  });

  it('a null for an optional field counts as not given; for a required or unknown one it is looked at', () => {
    expect(check(file, { path: 'a', mode: null, options: null })).toEqual([]);
    expect(check(file, { path: null })).toEqual(['path must be a string']);
    expect(check(file, { path: 'a', mod: null })).toEqual(['mod is not known; did you mean "mode"?']);
  });

  it('reports at most eight problems, and how many more there are', () => {
    const required = Array.from({ length: 20 }, (_, at) => `field${at}`);
    const problems = check({ type: 'object', required }, {});
    expect(problems).toHaveLength(9);
    expect(problems.at(-1)).toBe('and 12 more');
  });

  it('cleans names that a caller gave before they are shown', () => {
    const problems = check({ type: 'object', additionalProperties: false }, { 'a\u202eb\nc': 1 });
    expect(problems).toEqual(['ab c is not known']);
  });
});

describe('dialects', () => {
  // Protocol: 25-base-15, 25-base-18, 25-base-19, 26-base-32, 26-base-35, 26-base-36
  it('2020-12 by default: prefixItems, dependentRequired, unevaluatedProperties', () => {
    const schema = {
      type: 'object',
      properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] } },
      dependentRequired: { pair: ['unit'] },
    };
    expect(check(schema, { pair: ['a', 1], unit: 'm' })).toEqual([]);
    expect(check(schema, { pair: ['a', 'b'], unit: 'm' })).toEqual(['pair[1] must be a number']);
    expect(check(schema, { pair: [] })).toEqual([
      'the arguments must have property unit when property pair is present',
    ]);
    const closed = { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false };
    expect(check(closed, { b: 1 })).toEqual(['b is not known']);
  });

  // Protocol: 25-base-19, 26-base-36
  it('uses draft-07 where the schema declares it: tuples in items, definitions', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      definitions: { unit: { enum: ['m', 'km'] } },
      properties: {
        pair: { items: [{ type: 'string' }, { type: 'number' }] },
        unit: { $ref: '#/definitions/unit' },
      },
    };
    expect(check(schema, { pair: ['a', 1], unit: 'km' })).toEqual([]);
    expect(check(schema, { pair: [1], unit: 'mile' })).toEqual([
      'pair[0] must be a string',
      'unit must be one of "m", "km"',
    ]);
  });

  it('local references, also to themselves', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          required: ['name'],
          properties: {
            name: { type: 'string' },
            children: { type: 'array', items: { $ref: '#/$defs/node' } },
          },
        },
      },
    };
    expect(check(tree, { name: 'a', children: [{ name: 'b' }] })).toEqual([]);
    expect(check(tree, { name: 'a', children: [{ nam: 'b' }] })).toEqual(['children[0].name is required']);
  });

  it('two tools may use the same $id', () => {
    const one = { $id: 'https://example.com/tool', type: 'object', required: ['a'] };
    const two = { $id: 'https://example.com/tool', type: 'object', required: ['b'] };
    expect([check(one, {}), check(two, {})]).toEqual([['a is required'], ['b is required']]);
  });
});

describe('schemas that mean harm (A18)', () => {
  // Protocol: 26-base-40
  it('a reference to the network is never fetched, and the server checks by itself', async () => {
    let asked = 0;
    const listener = createServer((_request, response) => {
      asked += 1;
      response.end('{"type":"string"}');
    }).listen(0);
    const { port } = listener.address() as AddressInfo;
    const schema = { type: 'object', properties: { a: { $ref: `http://127.0.0.1:${port}/schema.json` } } };
    expect(check(schema, { a: 1 })).toEqual([]);
    listener.close();
    expect(asked).toBe(0);
  });

  it.each([
    '(a+)+$',
    '(a|aa)+$',
    '([a-z]+)*$',
    '^(.*?,){11}P',
    '(x+x+)+y',
    '(?=a+)a+b',
    '(a)\\1',
    'a*a*a*a*b',
    'a*a*a*b',
    '(a?){25}(a?){25}b',
    '(?:a|a){25}b',
    '(\\w\\w?){0,40}b',
    '(a{0,9}){0,99}b',
    '((a|b)*c)*d',
    `${'(a'.repeat(200)}${')'.repeat(200)}`.repeat(2),
  ])('the pattern %s is not run', (pattern) => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern } } };
    expect(check(schema, { a: `${'a'.repeat(5_000)}!` })).toEqual([]);
  });

  it.each([
    '^[a-z0-9-]+$',
    '^\\d{4}-\\d{2}$',
    '^(?:a|b)$',
    '^v?\\d+\\.\\d+$',
    '^[\\w.+-]+@[\\w-]+\\.[\\w.]+$',
  ])('the plain pattern %s is', (pattern) => {
    expect(check({ properties: { a: { pattern } } }, { a: '~' })).toEqual([
      `a must match pattern "${pattern}"`,
    ]);
  });

  it('A18: thousands of members that have to differ, and thousands of faults, take a moment', () => {
    const unique = { properties: { a: { type: 'array', uniqueItems: true } } };
    const many = Array.from({ length: 20_000 }, (_, n) => ({ n, of: [n] }));
    expect(check(unique, { a: many })).toEqual([]);
    expect(check(unique, { a: [...many, { of: [7], n: 7 }] })).toEqual(['a must NOT have duplicate items']);
    const required = Array.from({ length: 1_000 }, (_, n) => `r${n}`);
    const given = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`q${n}`, 1]));
    expect(check({ required, additionalProperties: false }, given).at(-1)).toBe('and 20992 more');
  });

  // Protocol: 26-base-44
  it('references that double at every step end, whether in a circle or not', () => {
    const $defs: Record<string, unknown> = { d40: { type: 'string' } };
    for (let at = 0; at < 40; at += 1) {
      const next = { $ref: `#/$defs/d${at + 1}` };
      $defs[`d${at}`] = { anyOf: [next, next] };
    }
    expect(check({ type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs }, { a: 1 })).toEqual([]);
    const circle = {
      $ref: '#/$defs/a',
      $defs: { a: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } },
    };
    expect(check(circle, {})).toEqual([]);
  });

  // Protocol: 26-base-44
  it('a schema that is huge, or deeper than a stack, is left to the server', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, at) => [`p${at}`, { type: 'string' }]),
    );
    expect(check({ type: 'object', properties }, { p1: 1 })).toEqual([]);
    const anyOf = Array.from({ length: 100_000 }, (_, at) => ({ const: at }));
    expect(check({ type: 'object', properties: { a: { anyOf } } }, { a: -1 })).toEqual([]);
    let deep: Record<string, unknown> = { type: 'string' };
    for (let at = 0; at < 5_000; at += 1) deep = { not: deep };
    expect(check({ type: 'object', properties: { a: deep } }, { a: 1 })).toEqual([]);
  });
});

describe('the stage', () => {
  let world: ScriptedHost;
  afterEach(() => world.host.close());

  // Protocol: 25-tools-17a, 26-tools-35a
  it('refuses before a person is asked and before the server receives anything', async () => {
    const server = scriptedServer({ tools: { read: { inputSchema: file } } });
    let asked = 0;
    world = await scriptedHost({
      server,
      approve: () => {
        asked += 1;
        return 'allow';
      },
    });
    const error = await failure(world.host.call('mcp__s__read', { pth: 'a' }));
    expect(error.toJSON()).toEqual({
      code: 'INVALID_ARGUMENTS',
      message:
        'mcp__s__read was not called: path is required (you gave "pth"); pth is not known; did you mean "path"?',
      server: 's',
      hint: expect.stringMatching(
        /^Correct the arguments to match these parts of the inputSchema: \{"path":\{"type":"string","minLength":1\},"\(arguments\)":"\(path: string, /,
      ),
    });
    expect(asked).toBe(0);
    expect(
      server.received.filter((message) => 'method' in message && message.method === 'tools/call'),
    ).toEqual([]);
    expect(world.events('call.end')).toEqual([
      { id: 'c1', outcome: 'error', ms: 0, code: 'INVALID_ARGUMENTS' },
    ]);
  });

  it('CAL-1: rejects values that JSON cannot represent as an error of the caller', async () => {
    const server = scriptedServer({ tools: { take: { inputSchema: { type: 'object' } } } });
    world = await scriptedHost({ server, approve: () => 'allow' });
    const circle: Record<string, unknown> = { name: 'circle' };
    circle['self'] = [circle];
    const sent = (args: Record<string, unknown>) => failure(world.host.call('mcp__s__take', args));
    expect((await sent({ a: { b: [1n] } })).toJSON()).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: 'mcp__s__take was not called: a.b.0 is a BigInt, which JSON does not have',
    });
    expect((await sent({ circle })).toJSON()).toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: expect.stringMatching(
        /^mcp__s__take was not called: circle\.self\.0\..*… is nested too deeply, or holds itself$/,
      ),
    });
    expect(await world.host.call('mcp__s__take', { at: new Date(0) })).toMatchObject({ isError: false });
  });

  // Protocol: 25-tools-15, 26-tools-33
  it('CAL-1: structured output that breaks its promise is passed on with a warning', async () => {
    const outputSchema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
    const server = scriptedServer({
      tools: {
        add: { outputSchema, run: () => ({ content: [text('x')], structuredContent: { sum: 'three' } }) },
      },
    });
    world = await scriptedHost({ server });
    expect(await world.host.call('mcp__s__add')).toMatchObject({
      content: [text('x')],
      structuredContent: { sum: 'three' },
      isError: false,
    });
    expect(world.events('log')).toEqual([
      {
        server: 's',
        level: 'warning',
        message: 'add: its structured output does not match its outputSchema: sum must be a number',
      },
    ]);
  });
});
