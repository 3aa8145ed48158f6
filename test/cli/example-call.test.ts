import { expect, it } from 'vitest';
import { createArgumentChecker } from '../../src/call/argument-check.ts';
import type { Tool } from '../../src/catalog/tool.ts';
import { readInput, toArguments } from '../../src/cli/call-arguments.ts';
import { exampleCall } from '../../src/cli/example-call.ts';
import { argumentNames, argumentTexts } from '../../src/cli/schema-text.ts';
import { splitArgv } from '../../src/lib/argv.ts';

const toolOf = (inputSchema: Tool['inputSchema'], tool = 'do it'): Tool => ({
  name: `mcp__my server__${tool}`,
  server: "ada's",
  tool,
  description: '',
  inputSchema,
});

const object = (properties: object, required: readonly string[] = Object.keys(properties)): object => ({
  type: 'object',
  properties,
  required,
});

const SCHEMAS: readonly object[] = [
  object({}),
  object({ message: { type: 'string' }, extra: { type: 'string' } }, ['message']),
  object({
    n: { type: 'integer', minimum: 5 },
    r: { type: 'number', exclusiveMaximum: 0 },
    on: { type: 'boolean' },
  }),
  object({ step: { type: 'integer', multipleOf: 4, minimum: 5 } }),
  object({
    level: { enum: [3, 'high'] },
    mode: { const: "it's" },
    either: { anyOf: [{ type: 'null' }, { type: 'number' }] },
  }),
  object({
    when: { type: 'string', format: 'date-time' },
    code: { type: 'string', minLength: 9, maxLength: 9 },
  }),
  object({
    tags: { type: 'array', items: { type: 'string' }, minItems: 3 },
    none: { type: 'array', maxItems: 0 },
  }),
  object({ at: { type: ['string', 'null'], default: '@home' }, maybe: { type: ['null', 'integer'] } }),
  object({ inner: object({ a: { type: 'string' }, b: object({ c: { type: 'boolean' } }) }) }),
  { ...object({ who: { $ref: '#/$defs/person' } }), $defs: { person: object({ name: { type: 'string' } }) } },
  {
    ...object({ a: { type: 'string' }, b: { type: 'string' } }, []),
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  },
  { type: 'object', allOf: [object({ x: { type: 'integer' } })] },
  object({ 'odd key': { type: 'string' }, 'a=b': { type: 'integer' } }),
  object({ '-flag': { type: 'boolean' } }),
];

it('UI-1: the example call of a tool, split as a shell does, has arguments that its schema accepts', async () => {
  const checker = await createArgumentChecker();
  const problems: unknown[] = [];
  for (const schema of SCHEMAS) {
    const tool = toolOf(schema as Tool['inputSchema']);
    const words = splitArgv(exampleCall(tool) ?? '');
    const input = await readInput(words.slice(4), { stdin: (async function* () {})(), cwd: '/' });
    const found = checker.checkFor(tool.inputSchema)(toArguments(input, tool.inputSchema, () => {}));
    if (words.slice(0, 4).join('|') !== "plugboard|call|ada's|do it") problems.push(words);
    if (found.length > 0) problems.push({ schema, words, found });
  }
  expect(problems).toEqual([]);
});

it('UI-1: the example call quotes for a shell, and names that hide something have none', () => {
  const calls = [
    exampleCall({ ...toolOf(SCHEMAS[1] as Tool['inputSchema'], 'say'), server: 'demo' }),
    exampleCall({ ...toolOf(SCHEMAS[6] as Tool['inputSchema'], '-x'), server: 'demo' }),
    exampleCall(toolOf(object({}) as Tool['inputSchema'], 'evil\u202egnp')),
  ];
  expect(calls).toEqual([
    'plugboard call demo say message=text',
    `plugboard call demo.-x 'tags:=["text","text","text"]' 'none:=[]'`,
    undefined,
  ]);
});

it('UI-1: arguments are described with type, choices, default, limits and members', () => {
  const schema = {
    ...object(
      {
        level: { type: 'string', enum: ['low', 'high'], default: 'low', description: 'How\nloud.' },
        count: { type: 'integer', minimum: 1, maximum: 9 },
        to: { anyOf: [{ type: 'string', format: 'email' }, { type: 'null' }] },
        edits: { type: 'array', items: { $ref: '#/$defs/edit' }, minItems: 1 },
        anything: {},
      },
      ['level', 'edits'],
    ),
    $defs: { edit: object({ old: { type: 'string', pattern: '^a' } }) },
  };
  const text = (name: string, about: string, description = '', members: unknown[] = []): object => ({
    name,
    about,
    description,
    members,
  });
  expect([argumentTexts(schema), argumentNames(schema)]).toEqual([
    [
      text('level', '"low" | "high", required, default "low"', 'How loud.'),
      text('count', 'integer, 1 to 9'),
      text('to', 'string (email) | null'),
      text('edits', 'object[], required, 1 items or more', '', [text('old', 'string, required, matches ^a')]),
      text('anything', ''),
    ],
    'level [count] [to] edits [anything]',
  ]);
});

it('A18: a schema that refers to itself is described and filled in, up to a bound', () => {
  const schema = {
    ...object({ tree: { $ref: '#/$defs/node' } }),
    $defs: { node: object({ next: { $ref: '#/$defs/node' } }) },
  };
  const loop = { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: { $ref: '#/$defs/a' } } };
  expect(exampleCall(toolOf(schema as Tool['inputSchema']))).toContain('tree:=');
  expect(argumentTexts(schema)).toHaveLength(1);
  expect(exampleCall(toolOf(loop as Tool['inputSchema']))).toContain('a=text');
});
