/** Options of adapters: what has no meaning is refused, and not ignored. */

import { expect, it } from 'vitest';
import {
  toAiSdk,
  toAnthropic,
  toGemini,
  toLangChain,
  toMessages,
  toOpenAI,
  toPi,
} from '../../src/adapters/index.ts';

const HOST = { tools: () => [], call: () => Promise.reject(new Error('not called')) };
type Name = 'toAiSdk' | 'toOpenAI' | 'toAnthropic' | 'toGemini' | 'toLangChain' | 'toPi';
const MADE = { toAiSdk, toOpenAI, toAnthropic, toGemini, toLangChain, toPi } as const;
const make = (name: Name, host: unknown, options?: unknown): unknown =>
  (MADE[name] as (host: unknown, options?: unknown) => unknown)(host, options);
const refusal = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    const { code, message, hint } = error as { code: string; message: string; hint: string };
    return [code, message, hint];
  }
};

it.each<[Name, unknown, string, string]>([
  ['toAiSdk', { needApproval: true }, '"needApproval" is not an option', 'Did you mean "needsApproval"?'],
  ['toAiSdk', { version: 4 }, '"version" must be 5, 6 or 7', 'It is 4.'],
  ['toAiSdk', { found: 'x' }, '"found" must be "both", "call_tool", or "name"', 'It is "x".'],
  ['toOpenAI', { api: 'completions' }, '"api" must be "responses" or "chat"', 'It is "completions".'],
  ['toAnthropic', { timeoutMs: -5 }, '"timeoutMs" must be a positive number', 'It is -5.'],
  ['toAnthropic', { signal: 3 }, '"signal" must be an AbortSignal', 'It is 3.'],
  ['toGemini', { tools: [{}] }, '"tools" must be an object of tools by name', 'It is of type array.'],
  [
    'toAnthropic',
    { tools: { 'bad name!': {} } },
    '"tools" must be an object of tools by name',
    'Providers refuse the name "bad name!": use letters, digits, _ and -, at most 64.',
  ],
  [
    'toOpenAI',
    { tools: { x: { inputSchema: 3 } } },
    '"tools" must be tools whose "inputSchema" is a JSON Schema',
    '"x": It is 3.',
  ],
  ['toLangChain', { tools: {} }, '"tools" must be a list of tools', 'It is of type object.'],
  ['toLangChain', { tool: () => ({}), interrupt: 3 }, '"interrupt" must be a function', 'It is 3.'],
  [
    'toLangChain',
    { tool: () => ({}), interupt: () => {} },
    '"interupt" is not an option',
    'Did you mean "interrupt"?',
  ],
  [
    'toLangChain',
    { interrupt: () => {} },
    '"interrupt" needs "tool"',
    'Give `tool` of "@langchain/core/tools" too: toLangChain(host, { tool, interrupt }).',
  ],
  ['toPi', { onProgress: 1 }, '"onProgress" must be a function', 'It is 1.'],
])('%s refuses %j', (name, options, message, hint) => {
  expect(refusal(() => make(name, HOST, options))).toEqual(['CONFIG_INVALID', `${name}: ${message}`, hint]);
});

it('refuses a promise of a host and unknown media, and toMessages unknown providers and sources', () => {
  expect(refusal(() => make('toAiSdk', Promise.resolve(HOST)))).toEqual([
    'CONFIG_INVALID',
    'toAiSdk: the first argument is not a host',
    'It is a promise: write await createHost().',
  ]);
  expect(refusal(() => make('toPi', undefined))).toMatchObject({ 0: 'CONFIG_INVALID' });
  expect(refusal(() => make('toGemini', HOST, { media: 'banana' }))).toMatchObject({ 0: 'CONFIG_INVALID' });
  expect(refusal(() => toMessages({ messages: [] }, 'banana' as never))).toMatchObject({
    1: 'toMessages: "banana" is not a provider',
  });
  expect(refusal(() => toMessages('hi' as never, 'anthropic'))).toMatchObject({ 0: 'CONFIG_INVALID' });
});

it('reports a tool of the author that is called call_tool', () => {
  const search = { name: 'tool_search', server: '', tool: 'tool_search', description: '', inputSchema: {} };
  const reported: string[] = [];
  const { quarantined } = toAnthropic(
    { ...HOST, tools: () => [search] },
    { tools: { call_tool: {} }, onQuarantine: ({ name }) => reported.push(name) },
  );
  expect([reported, quarantined.length]).toEqual([['call_tool'], 1]);
});
