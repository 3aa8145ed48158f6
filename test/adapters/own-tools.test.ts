/** Tools of the agent's author next to those of a host, in every adapter and in the usual idioms. */

import { expect, it } from 'vitest';
import {
  type OwnTools,
  type PiTool,
  toAiSdk,
  toAnthropic,
  toGemini,
  toLangChain,
  toOpenAI,
  toPi,
} from '../../src/adapters/index.ts';
import { adapterHost } from '../world/adapter-host.ts';
import { scriptedPi } from './callers.ts';

const calls: unknown[] = [];
const mine: OwnTools[string] = {
  description: 'Greets a person.',
  inputSchema: {
    type: 'object',
    properties: { who: { type: 'string' }, loud: { type: 'boolean' } },
    required: ['who'],
  },
  execute: (input) => {
    calls.push(input);
    if (input['who'] === 'no one') throw new Error('no one is there');
    return `Hello ${input['who']}`;
  },
};
const one = { tools: { one: () => '1' } };

it('provider adapters offer and run the tools of the author', async () => {
  const { host } = await adapterHost(one);
  const tools = { mine };
  const args = { who: 'Ada', loud: null };
  const responses = toOpenAI(host, { tools });
  expect(responses.tools).toMatchObject([
    { name: 'mine', strict: true, description: 'Greets a person.' },
    { name: 'mcp__s__one' },
  ]);
  const json = JSON.stringify(args);
  expect(
    await responses.executeAll([
      { type: 'function_call', call_id: 'c', name: 'mine', arguments: json } as object as { type: string },
    ]),
  ).toEqual([{ type: 'function_call_output', call_id: 'c', output: 'Hello Ada' }]);
  const chat = toOpenAI(host, { api: 'chat', tools });
  const chatCall = { id: 'c', type: 'function', function: { name: 'mine', arguments: json } };
  expect(await chat.executeAll([chatCall])).toEqual([
    { role: 'tool', tool_call_id: 'c', content: 'Hello Ada' },
  ]);
  const anthropic = toAnthropic(host, { tools });
  const failing = { type: 'tool_use', id: 'c', name: 'mine', input: { who: 'no one' } } as const;
  expect(await anthropic.executeAll([failing])).toEqual([
    {
      type: 'tool_result',
      tool_use_id: 'c',
      content: [{ type: 'text', text: 'no one is there' }],
      is_error: true,
    },
  ]);
  const gemini = toGemini(host, { tools });
  expect(await gemini.callTool([{ name: 'mine', args }])).toEqual([
    { functionResponse: { name: 'mine', response: { output: 'Hello Ada' } } },
  ]);
  expect(calls).toEqual([{ who: 'Ada' }, { who: 'Ada' }, { who: 'no one' }, { who: 'Ada' }]);
});

it('executeAll answers unknown names, leaves calls of tools it cannot run alone, and `has` names its own', async () => {
  const { host } = await adapterHost(one);
  const use = (name: string): { type: 'tool_use'; id: string; name: string; input: object } => ({
    type: 'tool_use',
    id: name,
    name,
    input: {},
  });
  const anthropic = toAnthropic(host);
  expect(['mcp__s__one', 's__one', 'my_own_tool'].map((name) => anthropic.has(name))).toEqual([
    true,
    true,
    false,
  ]);
  const ids = async (adapter: typeof anthropic): Promise<string[]> => {
    const names = ['my_own_tool', 'mcp__s__one', 'mcp__s__invented', 'later'];
    return (await adapter.executeAll(names.map(use))).map((result) => result.tool_use_id);
  };
  expect(await ids(anthropic)).toEqual(['my_own_tool', 'mcp__s__one', 'mcp__s__invented', 'later']);
  // Tools that cannot be run here are the author's.
  const withOwn = toAnthropic(host, { tools: { my_own_tool: { description: 'Mine.' } } });
  expect(withOwn.tools.map(({ name }) => name)).toEqual(['my_own_tool', 'mcp__s__one']);
  expect(withOwn.has('my_own_tool')).toBe(false);
  expect(await ids(withOwn)).toEqual(['mcp__s__one', 'mcp__s__invented', 'later']);
});

it("the author's tool has the name, and the host's is left out and reported", async () => {
  const { host } = await adapterHost(one);
  const reported: unknown[] = [];
  const execute = (): string => 'my own';
  const options = {
    tools: { mcp__s__one: { execute } },
    onQuarantine: (tool: unknown) => void reported.push(tool),
  };
  const anthropic = toAnthropic(host, options);
  expect(anthropic.tools).toHaveLength(1);
  const call = { type: 'tool_use', id: 'c', name: 'mcp__s__one', input: {} } as const;
  expect(await anthropic.execute(call)).toMatchObject({ content: [{ text: 'my own' }] });
  const left = { name: 'mcp__s__one', server: 's', reason: 'a tool of your own has this name' };
  expect([reported, anthropic.quarantined]).toEqual([[left], [left]]);
  expect(toAiSdk(host, options)['mcp__s__one']).toBe(options.tools.mcp__s__one);
});

it('AI SDK tools can be merged, spread and assigned', async () => {
  const { host } = await adapterHost({ ...one, toolSearch: true });
  const own = { description: 'Mine.', inputSchema: {}, execute: () => 'mine' };
  const live = toAiSdk(host, { tools: { mine: own } });
  const assigned = Object.assign(toAiSdk(host), { mine: own });
  const copy = { ...toAiSdk(host), mine: own };
  const query = { query: 'select:mcp__s__one' };
  for (const tools of [live, assigned, copy] as (typeof assigned)[]) {
    await tools['tool_search']?.execute(query);
    expect(await tools['call_tool']?.execute({ name: 'mcp__s__one' })).toMatchObject({ isError: false });
    expect(tools.mine).toBe(own);
  }
  await host.add('t', { command: 'scripted' });
  expect([live, assigned].map((tools) => Object.keys(tools))).toEqual([
    ['mine', 'tool_search', 'call_tool', 'mcp__s__one'],
    ['tool_search', 'call_tool', 'mine', 'mcp__s__one'],
  ]);
  expect([live.mine, assigned.mine]).toEqual([own, own]);
  expect(Object.keys(copy)).toEqual(['tool_search', 'call_tool', 'mine']);
});

it('LangChain and pi keep the tools of the author next to live ones', async () => {
  const { host } = await adapterHost(one);
  const own = { name: 'mine', invoke: async () => 'mine' };
  const tools = toLangChain(host, { tools: [own] });
  tools.push({ ...own, name: 'pushed' });
  await host.add('t', { command: 'scripted' });
  expect(tools.map(({ name }) => name)).toEqual(['mine', 'pushed', 'mcp__s__one', 'mcp__t__one']);
  const pi = scriptedPi();
  const piTool: PiTool = {
    name: 'mcp__s__one',
    label: 'mine',
    description: 'Mine.',
    parameters: { type: 'object' },
    execute: async () => ({ content: [], details: { content: [], isError: false } }),
  };
  toPi(host, { tools: [piTool] })(pi.api);
  expect([...pi.tools.keys()]).toEqual(['mcp__s__one', 'mcp__t__one']);
  expect(pi.tools.get('mcp__s__one')).toBe(piTool);
});

it('a tool of the author that is called call_tool leaves found tools callable by name', async () => {
  const { host } = await adapterHost({ ...one, toolSearch: true });
  const openai = toOpenAI(host, { tools: { call_tool: { execute: () => 'mine' } } });
  const search = {
    type: 'function_call',
    call_id: 'c',
    name: 'tool_search',
    arguments: '{"query":"select:mcp__s__one"}',
  } as const;
  expect((await openai.execute(search)).output).toContain('can be called by name now');
  expect(openai.tools.map((tool) => tool.type === 'function' && tool.name)).toEqual([
    'call_tool',
    'tool_search',
    'mcp__s__one',
  ]);
});
