/** Tools with schemas of the author: exact types, and values that are validated by these schemas. */

import { createOpenAI } from '@ai-sdk/openai';
import { generateText, type InferToolInput, type InferToolOutput, stepCountIs, type ToolSet } from 'ai';
import { expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { type Answer, toAiSdk } from '../../src/adapters/index.ts';
import type { CallResult, ToolSchemas } from '../../src/index.ts';
import type { ScriptedServer } from '../../src/testing/index.ts';
import { adapterHost } from '../world/adapter-host.ts';
import { text } from '../world/content.ts';
import { modelServer } from './model-server.mjs';

const OUTPUT = z.object({ given: z.object({ a: z.number(), b: z.number() }) });
const INPUT = z.object({ a: z.number(), b: z.number().default(2) });
const ADD = { mcp__s__add: { inputSchema: INPUT, outputSchema: OUTPUT } };
const JSON_ADD = {
  mcp__s__add: {
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number', minimum: 1 }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    outputSchema: {
      type: 'object',
      properties: { given: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } },
      required: ['given'],
    },
  },
} as const;
const THREE = { content: [text('3')], structuredContent: { given: { a: 1, b: 2 } }, isError: false };

/** The arguments of every call that reached the server. */
function callsOf({ received }: ScriptedServer): unknown[] {
  return received.flatMap((message) =>
    'method' in message && message.method === 'tools/call' ? [message.params?.['arguments']] : [],
  );
}

it('typed: arguments and structured content have the types of the schemas, and are validated', async () => {
  const { host, server } = await adapterHost();
  const tools = host.typed(ADD);
  expectTypeOf(tools.mcp__s__add).parameter(0).toEqualTypeOf<{ a: number; b?: number | undefined }>();
  // @ts-expect-error a number is expected
  await expect(tools.mcp__s__add({ a: 'one' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
    message: expect.stringMatching(/^mcp__s__add was not called: a: /),
  });
  // @ts-expect-error the arguments cannot be left out
  await expect(tools.mcp__s__add()).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  expect(callsOf(server)).toEqual([]);
  const result = await tools.mcp__s__add({ a: 1 });
  if (result.isError) throw new Error('it failed');
  expectTypeOf(result.structuredContent).toEqualTypeOf<{ given: { a: number; b: number } }>();
  expect(result).toMatchObject(THREE);
  expect(callsOf(server)).toEqual([{ a: 1, b: 2 }]);
  // @ts-expect-error it is not in the schemas
  expect(tools.mcp__s__silent).toBeUndefined();
});

it('typed: takes JSON Schemas, and leaves to the server what has no schema', async () => {
  const { host } = await adapterHost();
  const tools = host.typed({ ...JSON_ADD, s__silent: {} });
  expectTypeOf(tools.mcp__s__add).parameter(0).toEqualTypeOf<{ readonly a: number; readonly b: number }>();
  await expect(tools.mcp__s__add({ a: 0, b: 1 })).rejects.toMatchObject({
    message: 'mcp__s__add was not called: a must be >= 1',
  });
  const result = await tools.mcp__s__add({ a: 1, b: 2 });
  if (!result.isError) expectTypeOf(result.structuredContent.given.a).toEqualTypeOf<number>();
  expect(result).toMatchObject(THREE);
  const silent = await tools.s__silent();
  expectTypeOf(silent).toEqualTypeOf<CallResult>();
  expect(silent).toMatchObject({ content: [], isError: false });
});

it('typed: a result that does not fit is an error, text is read as JSON, and failures of the tool stay results', async () => {
  const { host } = await adapterHost({
    tools: {
      text: () => ({ content: [text('{"n": "1"}')] }),
      words: () => ({ content: [text('one')] }),
      fails: () => ({ content: [text('no')], isError: true }),
      long: () => ({ content: [text('word '.repeat(200_000))], structuredContent: { n: '1' } }),
    },
  });
  const counted = { outputSchema: z.object({ n: z.string().transform(Number) }) };
  const tools = host.typed({
    mcp__s__text: counted,
    mcp__s__words: counted,
    mcp__s__fails: counted,
    mcp__s__long: counted,
    mcp__s__long2: counted,
    s__text: { outputSchema: z.object({ n: z.number() }) },
  });
  expect(await tools.mcp__s__text()).toMatchObject({
    content: [text('{"n": "1"}')],
    structuredContent: { n: 1 },
    isError: false,
  });
  await expect(tools.s__text()).rejects.toMatchObject({
    code: 'PROTOCOL_ERROR',
    message: expect.stringMatching(/^The result of s__text does not fit its outputSchema: n: /),
  });
  await expect(tools.mcp__s__words()).rejects.toMatchObject({
    message: 'The result of mcp__s__words does not fit its outputSchema: it has no structured content',
  });
  expect(await tools.mcp__s__fails()).toMatchObject({ content: [text('no')], isError: true });
  // The limit is for the model's text.
  expect(await tools.mcp__s__long()).toMatchObject({
    structuredContent: { n: 1 },
    truncated: { tokens: expect.any(Number) },
  });
  await expect(tools.mcp__s__long2()).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
  const session = host.session({ tools: { include: ['mcp__s__words'] } });
  await expect(session.typed({ s__text: {} }).s__text()).rejects.toMatchObject({ code: 'UNKNOWN_TOOL' });
});

it('typed: what is not a schema is refused when it is given', async () => {
  const { host } = await adapterHost();
  const given = (schema: unknown): (() => unknown) => {
    const schemas = { mcp__s__add: schema } as Record<string, object>;
    return () => host.typed(schemas);
  };
  expect(given(INPUT)).toThrow('"schemas" of mcp__s__add: it is not an object with schemas');
  expect(given({ parameters: INPUT })).toThrow('"schemas" of mcp__s__add: "parameters" is not known');
  const old = { _def: {}, parse: (value: unknown) => value };
  for (const inputSchema of [old, 'object', null])
    expect(given({ inputSchema })).toThrow('neither a Standard Schema nor a JSON Schema');
  for (const [schema, fault] of [
    [{ type: 'banana' }, '"type" must be a type of JSON Schema'],
    [
      { type: 'object', properties: { a: { items: { pattern: '(' } } } },
      '"properties.a.items.pattern" must be a regular expression (with the flag u)',
    ],
    [{ anyOf: [{}, { required: 'a' }] }, '"anyOf.1.required" must be a list of names'],
    [{ properties: { a: { $ref: '#/$defs/a' } } }, '"properties.a.$ref" must be a reference'],
  ] as const)
    for (const key of ['inputSchema', 'outputSchema'])
      expect(given({ [key]: schema })).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: expect.stringContaining(`the ${key} is not a JSON Schema: ${fault}`),
        }),
      );
  const fine = { $defs: { n: { type: ['number', 'null'] } }, properties: { a: { $ref: '#/$defs/n' } } };
  expect(given({ inputSchema: fine, outputSchema: {} })).not.toThrow();
  for (const schemas of [null, 3, []])
    expect(() => host.typed(schemas as never)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', hint: expect.stringMatching(/^It is /) }),
    );
});

it('schemas that throw are errors of the call, and hints fit their reader', async () => {
  const { host, server } = await adapterHost();
  const throws = z.object({}).transform((): object => {
    throw new Error('boo');
  });
  const fails = (schemas: ToolSchemas): Promise<unknown> =>
    host.typed(schemas)['mcp__s__add']?.({ a: 1, b: 2 }) ?? Promise.resolve();
  await expect(fails({ mcp__s__add: { inputSchema: throws } })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
    message: 'mcp__s__add was not called: its schema threw an error: boo',
  });
  expect(callsOf(server)).toEqual([]);
  await expect(fails({ mcp__s__add: { outputSchema: throws } })).rejects.toMatchObject({
    code: 'PROTOCOL_ERROR',
    hint: expect.stringContaining('Correct the outputSchema in "schemas"'),
  });
  const tools = toAiSdk(host, { schemas: { mcp__s__add: { outputSchema: throws } } });
  expect(await tools.mcp__s__add.execute({ a: 1, b: 2 })).toMatchObject({
    error: { code: 'PROTOCOL_ERROR', hint: expect.stringContaining('do not repeat the call') },
  });
});

it('toAiSdk: `schemas` names the tools of the set, with exact types', async () => {
  const { host, server } = await adapterHost({ toolSearch: true });
  const mine = { description: 'Mine.', inputSchema: z.object({}), execute: () => 'mine' };
  const tools = toAiSdk(host, { schemas: ADD, tools: { mine } });
  expect(Object.keys(tools)).toEqual(['mine', 'mcp__s__add']);
  expect(tools.mcp__s__add).toMatchObject({ description: 'Adds two numbers.', inputSchema: INPUT });
  expect(tools.mcp__s__add).not.toHaveProperty('type');
  expectTypeOf(tools).toExtend<ToolSet>();
  expectTypeOf<InferToolInput<typeof tools.mcp__s__add>>().toEqualTypeOf<{ a: number; b: number }>();
  type Output = Extract<InferToolOutput<typeof tools.mcp__s__add>, { isError: false }>;
  expectTypeOf<Output['structuredContent']>().toEqualTypeOf<{ given: { a: number; b: number } }>();
  // @ts-expect-error a number is expected
  expect(await tools.mcp__s__add.execute({ a: 'one', b: 2 })).toMatchObject({
    isError: true,
    error: { code: 'INVALID_ARGUMENTS' },
  });
  expect(callsOf(server)).toEqual([]);
  expect(await tools.mcp__s__add.execute({ a: 1, b: 2 })).toEqual(THREE);
  const plain = toAiSdk(host, { schemas: { s__add: {} } });
  expectTypeOf(await plain.s__add.execute({ a: 1, b: 2 })).toEqualTypeOf<Answer>();
  expect(plain.s__add.inputSchema.jsonSchema).toMatchObject({ required: ['a', 'b'] });
});

it('toAiSdk: throws for an unknown tool in `schemas`, and answers a call of a tool that was removed', async () => {
  const { host } = await adapterHost();
  expect(() => toAiSdk(host, { schemas: { ...ADD, mcp__s__ad: {} } })).toThrow(
    expect.objectContaining({
      code: 'UNKNOWN_TOOL',
      message: '"schemas" names tools that are not there: "mcp__s__ad"',
      hint: 'Did you mean "mcp__s__add"?',
    }),
  );
  const tools = toAiSdk(host, { schemas: ADD });
  await host.remove('s');
  expect(Object.keys(tools)).toEqual(['mcp__s__add']);
  expect(await tools.mcp__s__add.execute({ a: 1, b: 2 })).toMatchObject({ error: { code: 'UNKNOWN_TOOL' } });
});

it('toAiSdk: a model is given the author’s schemas, and the SDK validates and parses its arguments once', async () => {
  const { host, server } = await adapterHost();
  const model = await modelServer([
    {
      calls: [
        { name: 's__add', args: { a: '1', b: 2 } },
        { name: 'mcp__s__add', args: { a: 0, b: 2 } },
        { name: 'mcp__s__silent', args: { a: '1' } },
      ],
    },
    { text: 'done' },
  ]);
  onTestFinished(() => model.close());
  const openai = createOpenAI({ apiKey: 'unused', baseURL: `${model.url}/v1` });
  const tools = toAiSdk(host, {
    schemas: {
      s__add: { inputSchema: z.object({ a: z.string().transform(Number), b: z.number() }) },
      mcp__s__silent: { inputSchema: z3.object({ a: z3.string() }) },
      ...JSON_ADD,
    },
  });
  expectTypeOf<InferToolInput<typeof tools.mcp__s__silent>>().toEqualTypeOf<{ a: string }>();
  expectTypeOf<InferToolInput<typeof tools.mcp__s__add>>().toEqualTypeOf<{
    readonly a: number;
    readonly b: number;
  }>();
  const { steps } = await generateText({
    model: openai.responses('gpt-5-mini'),
    prompt: 'go',
    tools,
    stopWhen: stepCountIs(2),
  });
  expect(callsOf(server)).toEqual([{ a: 1, b: 2 }, { a: '1' }]);
  const parameters = model.requests[0].tools.map((tool: { parameters: object }) => tool.parameters);
  expect(parameters).toMatchObject([
    { properties: { a: { type: 'string' }, b: { type: 'number' } } },
    { properties: { a: { type: 'string' } }, required: ['a'] },
    { properties: { a: { type: 'number', minimum: 1 } } },
  ]);
  const [step] = steps;
  const failed = step?.content.filter((part) => part.type === 'tool-error') ?? [];
  expect(failed.map(({ toolName }) => toolName)).toEqual(['mcp__s__add']);
  const [first] = step?.staticToolResults ?? [];
  if (first?.toolName === 's__add') expectTypeOf(first.input).toEqualTypeOf<{ a: number; b: number }>();
  expect(first).toMatchObject({ toolName: 's__add', input: { a: 1, b: 2 }, output: THREE });
});

it('toAiSdk: `needsApproval` and an object around a host work with `schemas`', async () => {
  const { host } = await adapterHost({ servers: { s: { command: 'scripted', approval: 'prompt' } } });
  const tools = toAiSdk(host, { schemas: ADD, needsApproval: true });
  expect(await tools.mcp__s__add.needsApproval?.({ a: 1, b: 2 })).toBe(true);
  const around = { tools: () => host.tools(), call: async () => ({ content: [], isError: false }) };
  const wrapped = toAiSdk(around, { schemas: ADD });
  expect(await wrapped.mcp__s__add.execute({ a: 1, b: 2 })).toMatchObject({
    error: { code: 'PROTOCOL_ERROR', message: expect.stringContaining('it has no structured content') },
  });
});
