/** What every adapter promises: tools its provider takes, arguments as the server wants them, errors as data. */

import { describe, expect, it } from 'vitest';
import {
  type LangChainOptions,
  toAiSdk,
  toAnthropic,
  toGemini,
  toLangChain,
  toOpenAI,
  toPi,
} from '../../src/adapters/index.ts';
import type { Provider } from '../../src/catalog/schemas/profile.ts';
import { createGate } from '../../src/testing/index.ts';
import { faultsOf } from '../catalog/schemas/rules.ts';
import { CALLERS, type Caller, scriptedPi } from './callers.ts';
import { HOPELESS, TOOLS, world } from './world.ts';

const RULES: Readonly<Record<string, Provider>> = {
  'AI SDK': 'ai-sdk',
  'OpenAI Responses': 'openai',
  'OpenAI Chat Completions': 'openai',
  Anthropic: 'anthropic',
  Gemini: 'gemini',
  LangChain: 'ai-sdk',
  pi: 'ai-sdk',
};

describe.each(Object.entries(CALLERS))('%s', (provider, make) => {
  it('UI-3, CAT-5: every tool of the host, in its order, with a schema that the provider takes', async () => {
    const { host } = await world();
    const caller = make(host);
    expect(caller.names()).toEqual(host.tools().map(({ name }) => name));
    const faults = caller.names().flatMap((name) => {
      const schema = caller.schema(name);
      return schema === undefined ? [] : faultsOf(schema, RULES[provider] ?? 'openai');
    });
    expect(faults).toEqual([]);
  });

  it('CAT-5: arguments reach the server as its own schema names them', async () => {
    const { host, server } = await world();
    const caller = make(host);
    const [shown = ''] = Object.keys((caller.schema('mcp__s__open')?.['properties'] ?? {}) as object);
    const asText = provider === 'Gemini';
    await caller.call('mcp__s__open', { [shown]: asText ? '{"a":1}' : { a: 1 } });
    const [request] = await server.seen('tools/call');
    expect(request).toMatchObject({ params: { name: 'open', arguments: { $filter: { a: 1 } } } });
  });

  it('a hopeless schema costs its own tool only, and is told once with its reason', async () => {
    const { host } = await world({ tools: { ...TOOLS, hopeless: HOPELESS } });
    const told: unknown[] = [];
    const caller = make(host, { onQuarantine: (tool) => told.push(tool) });
    const names = [...caller.names(), ...caller.names()];
    expect(names).toHaveLength(2 * Object.keys(TOOLS).length);
    expect(names).not.toContain('mcp__s__hopeless');
    expect(told).toEqual([
      {
        name: 'mcp__s__hopeless',
        server: 's',
        reason: 'its required arguments alone take more than 65536 bytes',
      },
    ]);
  });

  it('a call that is refused, cancelled, wrong or unknown is answered, not thrown', async () => {
    const { host } = await world();
    const caller = make(host);
    const code = async (asked: Caller, args: unknown, signal?: AbortSignal): Promise<string | undefined> =>
      /\\?"code\\?":\\?"([A-Z_]+)/.exec(JSON.stringify(await asked.call('mcp__s__add', args, signal)))?.[1];
    expect(await code(caller, { a: 1, b: 2 }, AbortSignal.abort())).toBe('CANCELLED');
    expect(await code(caller, { a: 'one' })).toBe('INVALID_ARGUMENTS');
    expect(await code(caller, ['not', 'an', 'object'])).toBe('INVALID_ARGUMENTS');
    const guarded = await world({ servers: { s: { command: 'scripted', approval: 'prompt' } } });
    expect(await code(make(guarded.host), { a: 1, b: 2 })).toBe('APPROVAL_REQUIRED');
    const removed = make(host);
    await host.remove('s');
    const answer = await removed.call('mcp__s__add', { a: 1, b: 2 });
    // Frameworks that hold the tools themselves no longer have it; the others are told.
    expect(answer === undefined || JSON.stringify(answer).includes('UNKNOWN_TOOL')).toBe(true);
  });

  it('CAL-3: aborting the call aborts it at the server', async () => {
    const gate = createGate();
    const aborted = createGate();
    const { host } = await world({
      tools: {
        slow: async (_args, { signal }) => {
          signal.addEventListener('abort', () => aborted.open());
          gate.open();
          await aborted.opened;
          return 'too late';
        },
      },
    });
    const stop = new AbortController();
    const answer = make(host).call('mcp__s__slow', {}, stop.signal);
    await gate.opened;
    stop.abort();
    await aborted.opened;
    expect(JSON.stringify(await answer)).toContain('CANCELLED');
  });

  it('progress comes with the call it belongs to, and a listener that throws harms nobody', async () => {
    const { host } = await world({
      tools: {
        slow: (_args, { progress }) => {
          progress(1, 2, 'half');
          return 'done';
        },
      },
    });
    const told: unknown[] = [];
    const caller = make(host, {
      onProgress: (progress, call) => {
        told.push({ progress, call });
        throw new Error('a listener');
      },
    });
    expect(JSON.stringify(await caller.call('mcp__s__slow', {}))).toContain('done');
    expect(told).toEqual([
      { progress: { progress: 1, total: 2, message: 'half' }, call: { name: 'mcp__s__slow', id: 'call_1' } },
    ]);
  });

  it('a tool that comes or goes while the agent runs is there or gone at the next look', async () => {
    const { host } = await world({ tools: { one: () => '1' } });
    const caller = make(host);
    expect(caller.names()).toEqual(['mcp__s__one']);
    await host.add('t', { command: 'scripted' });
    expect(caller.names()).toEqual(['mcp__s__one', 'mcp__t__one']);
    await host.remove('t');
    expect(caller.names()).toEqual(['mcp__s__one']);
    await host.add('t', { command: 'scripted' });
    expect(caller.names()).toEqual(['mcp__s__one', 'mcp__t__one']);
  });

  it('CAT-7: what tool_search finds is among the tools of the next turn, behind the others', async () => {
    const { host } = await world({ toolSearch: true });
    const caller = make(host);
    expect(caller.names()).toEqual(['tool_search']);
    await caller.call('tool_search', { query: 'select:mcp__s__picture,mcp__s__add' });
    expect(caller.names()).toEqual(['tool_search', 'mcp__s__picture', 'mcp__s__add']);
  });
});

it('nothing is converted when nothing changed: the same definitions are given again', async () => {
  const { host } = await world();
  const openai = toOpenAI(host);
  const anthropic = toAnthropic(host);
  const gemini = toGemini(host);
  const look = (): unknown[] => [
    ...openai.tools,
    ...anthropic.tools,
    gemini.tools[0]?.functionDeclarations[0],
  ];
  const before = look();
  expect(look().every((definition, i) => definition === before[i])).toBe(true);
  const schemas = (): unknown[] => anthropic.tools.map((tool) => tool.input_schema['properties']);
  const [first] = schemas();
  await host.add('t', { command: 'scripted' });
  expect(look()).toHaveLength(2 * before.length - 1);
  // The tools are new objects then; the schemas of the old ones are not worked on again.
  expect(schemas()[0]).toBe(first);
});

it('descriptions longer than asked for end in an ellipsis', async () => {
  const { host } = await world({ tools: { long: { description: 'x'.repeat(20) } } });
  expect(toAnthropic(host, { maxDescriptionChars: 10 }).tools[0]?.description).toBe(`${'x'.repeat(9)}…`);
});

it('OpenAI: strict where the schema allows, and only there', async () => {
  const { host } = await world();
  const strictly = toOpenAI(host).tools.map((tool) => tool.type === 'function' && [tool.name, tool.strict]);
  expect(strictly).toEqual(host.tools().map(({ name }) => [name, name !== 'mcp__s__open']));
  const faults = toOpenAI(host).tools.flatMap((tool) =>
    tool.type === 'function' && tool.strict ? faultsOf(tool.parameters, 'openai-strict') : [],
  );
  expect(faults).toEqual([]);
  const loosely = toOpenAI(host, { strict: false }).tools;
  expect(loosely.map((tool) => tool.type === 'function' && tool.strict)).toEqual(loosely.map(() => false));
});

it('OpenAI: null for an optional argument means that it was not given', async () => {
  const { host, server } = await world();
  const call = { name: 'mcp__s__add', arguments: '{"a":1,"b":2,"note":null}' };
  await toOpenAI(host).execute({ type: 'function_call', call_id: 'c', ...call });
  const [request] = await server.seen('tools/call');
  expect(request).toMatchObject({ params: { arguments: { a: 1, b: 2 } } });
  expect(JSON.stringify(request)).not.toContain('note');
});

it('OpenAI: arguments that are no JSON are told to the model', async () => {
  const { host } = await world();
  const call = { type: 'function_call', call_id: 'c', name: 'mcp__s__add', arguments: '{"a":1,' } as const;
  expect(await toOpenAI(host).execute(call)).toEqual({
    type: 'function_call_output',
    call_id: 'c',
    output: JSON.stringify({
      error: {
        code: 'INVALID_ARGUMENTS',
        message: 'the arguments of the call are not a JSON object',
        hint: 'Send the arguments again as one complete JSON object.',
      },
    }),
  });
});

it('AI SDK: the schema is one that the SDK recognises', async () => {
  const { host } = await world();
  const schema: unknown = toAiSdk(host)['mcp__s__silent']?.inputSchema();
  expect(schema).toMatchObject({ [Symbol.for('vercel.ai.schema')]: true, jsonSchema: { type: 'object' } });
});

it('pi: errors are marked as such, progress is shown, and nothing happens after the session', async () => {
  const { host } = await world({
    tools: {
      ...TOOLS,
      slow: (_args, { progress }) => {
        progress(1, 2, 'half');
        return 'done';
      },
    },
  });
  const pi = scriptedPi();
  toPi(host)(pi.api);
  pi.start();
  const broken = await pi.tools.get('mcp__s__broken')?.execute('c', {});
  expect(pi.result('mcp__s__broken', broken?.details)).toEqual({ isError: true });
  const updates: unknown[] = [];
  const done = await pi.tools
    .get('mcp__s__slow')
    ?.execute('c', {}, undefined, (update) => updates.push(update));
  expect(pi.result('mcp__s__slow', done?.details)).toBeUndefined();
  expect(pi.result('bash', { isError: true })).toBeUndefined();
  const content = [{ type: 'text', text: 'half (1 of 2)' }];
  expect(updates).toEqual([{ content, details: { content, isError: false } }]);
  pi.shutdown();
  await host.add('late', { command: 'scripted' });
  expect(pi.tools.has('mcp__late__add')).toBe(false);
});

it('pi: an API that can only register tools is enough', async () => {
  const { host } = await world();
  const names: string[] = [];
  toPi(host)({ registerTool: ({ name }) => void names.push(name) });
  expect(names).toEqual(host.tools().map(({ name }) => name));
  await host.add('t', { command: 'scripted' });
  // Only what is new is registered.
  expect(names).toEqual(host.tools().map(({ name }) => name));
});

it("LangChain: with LangChain's own `tool`, tools are made by it and stay in step with the host", async () => {
  const { host } = await world({ toolSearch: true });
  const tool: LangChainOptions<{ name: string; run: () => Promise<unknown> }>['tool'] = (run, fields) => ({
    name: fields.name,
    run: () => run({ query: 'select:mcp__s__picture' }, { toolCall: { id: 'c' } }),
  });
  const tools = toLangChain(host, { tool });
  expect(tools.map(({ name }) => name)).toEqual(['tool_search']);
  await tools[0]?.run();
  expect(tools.map(({ name }) => name)).toEqual(['tool_search', 'mcp__s__picture']);
  expect(await tools[1]?.run()).toMatchObject([
    [{ type: 'text' }, { type: 'image_url' }],
    { isError: false },
  ]);
});

it('a session is a host of its own: what one caller has found, the other is not shown', async () => {
  const { host } = await world({ toolSearch: true });
  const [one, other] = [toAnthropic(host.session()), toAnthropic(host.session())];
  const input = { query: 'select:mcp__s__add' };
  await one.execute({ type: 'tool_use', id: 'c', name: 'tool_search', input });
  expect(one.tools.map(({ name }) => name)).toEqual(['tool_search', 'mcp__s__add']);
  expect(other.tools.map(({ name }) => name)).toEqual(['tool_search']);
});
