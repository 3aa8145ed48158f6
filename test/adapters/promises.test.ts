/** Guarantees of every adapter: tools that its provider accepts, arguments as the server expects them, errors as data. */

import { readFileSync } from 'node:fs';
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
import type { Provider } from '../../src/catalog/schemas/provider-profile.ts';
import { createGate } from '../../src/testing/index.ts';
import { faultsOf } from '../catalog/schemas/rules.ts';
import { adapterHost, HOPELESS, TOOLS } from '../world/adapter-host.ts';
import { CALLERS, type Caller, scriptedPi } from './callers.ts';

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
    const { host } = await adapterHost();
    const caller = make(host);
    expect(caller.names()).toEqual(host.tools().map(({ name }) => name));
    const faults = caller.names().flatMap((name) => {
      const schema = caller.schema(name);
      return schema === undefined ? [] : faultsOf(schema, RULES[provider] ?? 'openai');
    });
    expect(faults).toEqual([]);
  });

  it('CAT-5: arguments reach the server as its own schema names them', async () => {
    const { host, server } = await adapterHost();
    const caller = make(host);
    const [shown = ''] = Object.keys((caller.schema('mcp__s__open')?.['properties'] ?? {}) as object);
    const asText = provider === 'Gemini';
    await caller.call('mcp__s__open', { [shown]: asText ? '{"a":1}' : { a: 1 } });
    const [request] = await server.seen('tools/call');
    expect(request).toMatchObject({ params: { name: 'open', arguments: { $filter: { a: 1 } } } });
  });

  it('an unusable schema costs its own tool only, and is reported once with its reason', async () => {
    const { host } = await adapterHost({ tools: { ...TOOLS, hopeless: HOPELESS } });
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
    const { host } = await adapterHost();
    const caller = make(host);
    const code = async (asked: Caller, args: unknown, signal?: AbortSignal): Promise<string | undefined> =>
      /\\?"code\\?":\\?"([A-Z_]+)/.exec(JSON.stringify(await asked.call('mcp__s__add', args, signal)))?.[1];
    expect(await code(caller, { a: 1, b: 2 }, AbortSignal.abort())).toBe('CANCELLED');
    expect(await code(caller, { a: 'one' })).toBe('INVALID_ARGUMENTS');
    expect(await code(caller, ['not', 'an', 'object'])).toBe('INVALID_ARGUMENTS');
    const guarded = await adapterHost({ servers: { s: { command: 'scripted', approval: 'prompt' } } });
    expect(await code(make(guarded.host), { a: 1, b: 2 })).toBe('APPROVAL_REQUIRED');
    const removed = make(host);
    await host.remove('s');
    const answer = await removed.call('mcp__s__add', { a: 1, b: 2 });
    // Frameworks that hold the tools themselves no longer have it; the others receive an error.
    expect(answer === undefined || JSON.stringify(answer).includes('UNKNOWN_TOOL')).toBe(true);
  });

  it('CAL-3: aborting the call aborts it at the server', async () => {
    const gate = createGate();
    const aborted = createGate();
    const { host } = await adapterHost({
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

  it('progress arrives with the call it belongs to, and a listener that throws affects no other', async () => {
    const { host } = await adapterHost({
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
    const { host } = await adapterHost({ tools: { one: () => '1' } });
    const caller = make(host);
    expect(caller.names()).toEqual(['mcp__s__one']);
    await host.add('t', { command: 'scripted' });
    expect(caller.names()).toEqual(['mcp__s__one', 'mcp__t__one']);
    await host.remove('t');
    expect(caller.names()).toEqual(['mcp__s__one']);
    await host.add('t', { command: 'scripted' });
    expect(caller.names()).toEqual(['mcp__s__one', 'mcp__t__one']);
  });

  it('CAT-7: tools that tool_search finds follow the others in the next turn', async () => {
    const { host } = await adapterHost({ toolSearch: true });
    const caller = make(host);
    expect(caller.names()).toEqual(['tool_search', 'call_tool']);
    const found = await caller.call('tool_search', { query: 'select:mcp__s__picture,mcp__s__add' });
    expect(JSON.stringify(found)).toContain('2 tools found; call one with call_tool');
    expect(caller.names()).toEqual(['tool_search', 'call_tool', 'mcp__s__picture', 'mcp__s__add']);
  });

  it('a found tool can be called through call_tool, with validation, approval and limits as by name', async () => {
    const asked: unknown[] = [];
    const { host, server } = await adapterHost({
      toolSearch: true,
      servers: { s: { command: 'scripted', approval: 'prompt' } },
      approve: ({ name, arguments: args }) => {
        asked.push([name, args]);
        return asked.length === 1 ? 'allow' : 'deny';
      },
    });
    const caller = make(host);
    const dispatched = (given: unknown): Promise<unknown> => caller.call('call_tool', given);
    const add = (args: unknown): unknown => ({ name: 'mcp__s__add', arguments: args });
    expect(JSON.stringify(await dispatched(add({ a: 1, b: 2, note: null })))).toContain('3');
    const [request] = await server.seen('tools/call');
    expect(request).toMatchObject({ params: { name: 'add', arguments: { a: 1, b: 2 } } });
    expect(JSON.stringify(await dispatched(add('{"a":1,"b":2}')))).toContain('DENIED');
    expect(asked.map((entry) => JSON.stringify(entry))).toEqual([
      '["mcp__s__add",{"a":1,"b":2}]',
      '["mcp__s__add",{"a":1,"b":2}]',
    ]);
    const refused = JSON.stringify(await dispatched(add({ a: 'one' })));
    expect(refused).toContain('INVALID_ARGUMENTS');
    expect(refused).toContain('these parts of the inputSchema');
    expect(JSON.stringify(await dispatched({}))).toContain('call_tool needs the name of a tool');
    expect(JSON.stringify(await dispatched({ name: 'mcp__s__nope' }))).toContain('UNKNOWN_TOOL');
  });

  it("`found: 'call_tool'` keeps the list as it was, `found: 'name'` offers no call_tool", async () => {
    const { host } = await adapterHost({ toolSearch: true });
    const fixed = make(host.session(), { found: 'call_tool' });
    const named = make(host.session(), { found: 'name' });
    const query = { query: 'select:mcp__s__add' };
    await fixed.call('tool_search', query);
    expect(fixed.names()).toEqual(['tool_search', 'call_tool']);
    expect(named.names()).toEqual(['tool_search']);
    expect(JSON.stringify(await named.call('tool_search', query))).toContain('can be called by name now');
    expect(named.names()).toEqual(['tool_search', 'mcp__s__add']);
  });

  it('null for an optional argument means that it was not given, unless it takes null', async () => {
    const inputSchema = {
      type: 'object',
      properties: {
        a: { type: 'number' },
        b: { type: ['string', 'null'] },
        c: { type: 'object', properties: { d: { type: 'string' }, e: { $ref: '#/$defs/word' } } },
      },
      $defs: { word: { type: 'string' } },
    };
    const { host, server } = await adapterHost({ tools: { opt: { inputSchema, run: () => 'ok' } } });
    const args = { a: null, b: null, c: { d: null, e: null } };
    const caller = make(host);
    expect(JSON.stringify(await caller.call('mcp__s__opt', args))).toContain('ok');
    const [request] = await server.seen('tools/call');
    expect(request).toMatchObject({ params: { arguments: { b: null, c: {} } } });
    expect(JSON.stringify(request)).toContain('"arguments":{"b":null,"c":{}}');
  });

  it('blocks for the user only do not reach the model', async () => {
    const { host } = await adapterHost({
      tools: {
        told: () => ({
          content: [
            { type: 'text', text: 'for you', annotations: { audience: ['user'] } },
            { type: 'text', text: 'for the model', annotations: { audience: ['assistant'] } },
            { type: 'text', text: 'for both', annotations: { audience: ['user', 'assistant'] } },
          ],
        }),
      },
    });
    const { artifact, details, ...sent } = (await make(host).call('mcp__s__told', {})) as Record<
      string,
      unknown
    >;
    expect(JSON.stringify(sent)).not.toContain('for you');
    expect(JSON.stringify([sent, artifact, details])).toContain('for both');
  });

  it('media that the provider refuses becomes a file, and a note names it', async () => {
    const bytes = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>');
    const { host } = await adapterHost({
      tools: {
        odd: () => ({
          content: ['image/svg+xml', 'image/bmp', 'image/tiff'].map((mimeType) => ({
            type: 'image' as const,
            data: bytes.toString('base64'),
            mimeType,
          })),
        }),
      },
    });
    const { artifact, details, ...sent } = (await make(host).call('mcp__s__odd', {})) as Record<
      string,
      unknown
    >;
    const text = JSON.stringify(sent);
    expect(text).not.toContain(bytes.toString('base64'));
    const files = [...text.matchAll(/saved as ([^\]]+)\]/g)].map(([, path = '']) => path);
    expect(files.map((file) => file.split('.').at(-1))).toEqual(['svg', 'bmp', 'tiff']);
    expect(files.map((file) => readFileSync(file).equals(bytes))).toEqual([true, true, true]);
  });

  it('text arrives next to structured content, and both if asked for', async () => {
    const { host } = await adapterHost({
      tools: {
        both: () => ({
          content: [{ type: 'text', text: 'summary' }],
          structuredContent: { detail: [1, 2, 3] },
        }),
      },
    });
    const shown = async (caller: Caller): Promise<string> => {
      const { artifact, details, ...sent } = Object(await caller.call('mcp__s__both', {}));
      return JSON.stringify(sent).replaceAll('\\', '');
    };
    expect(await shown(make(host))).toContain('summary');
    const all = await shown(make(host, { structuredContent: 'always' }));
    expect([all.includes('summary'), all.includes('{"detail":[1,2,3]}')]).toEqual([true, true]);
  });
});

it('nothing is converted when nothing changed: the same definitions are given again', async () => {
  const { host } = await adapterHost();
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
  const { host } = await adapterHost({ tools: { long: { description: 'x'.repeat(20) } } });
  expect(toAnthropic(host, { maxDescriptionChars: 10 }).tools[0]?.description).toBe(`${'x'.repeat(9)}…`);
});

it('OpenAI: strict where the schema allows, and only there', async () => {
  const { host } = await adapterHost();
  const strictly = toOpenAI(host).tools.map((tool) => tool.type === 'function' && [tool.name, tool.strict]);
  expect(strictly).toEqual(host.tools().map(({ name }) => [name, name !== 'mcp__s__open']));
  const faults = toOpenAI(host).tools.flatMap((tool) =>
    tool.type === 'function' && tool.strict ? faultsOf(tool.parameters, 'openai-strict') : [],
  );
  expect(faults).toEqual([]);
  const loosely = toOpenAI(host, { strict: false }).tools;
  expect(loosely.map((tool) => tool.type === 'function' && tool.strict)).toEqual(loosely.map(() => false));
});

it('OpenAI: null for an optional argument of a strict schema means that it was not given', async () => {
  const { host, server } = await adapterHost();
  const call = { name: 'mcp__s__add', arguments: '{"a":1,"b":2,"note":null}' };
  await toOpenAI(host).execute({ type: 'function_call', call_id: 'c', ...call });
  const [request] = await server.seen('tools/call');
  expect(request).toMatchObject({ params: { arguments: { a: 1, b: 2 } } });
  expect(JSON.stringify(request)).not.toContain('note');
});

it('OpenAI: the model receives an error for arguments that are not JSON', async () => {
  const { host } = await adapterHost();
  const call = { type: 'function_call', call_id: 'c', name: 'mcp__s__add', arguments: '{"a":1,' } as const;
  expect(await toOpenAI(host).execute(call)).toEqual({
    type: 'function_call_output',
    call_id: 'c',
    output: JSON.stringify({
      error: {
        code: 'INVALID_ARGUMENTS',
        message: 'The arguments of the call are not a JSON object',
        hint: 'Send the arguments again as one complete JSON object.',
      },
    }),
  });
});

it('AI SDK: the schema is one that the SDK recognises', async () => {
  const { host } = await adapterHost();
  const schema: unknown = toAiSdk(host)['mcp__s__silent']?.inputSchema();
  expect(schema).toMatchObject({ [Symbol.for('vercel.ai.schema')]: true, jsonSchema: { type: 'object' } });
});

it('pi: errors are marked as such, progress is shown, and nothing happens after the session', async () => {
  const { host } = await adapterHost({
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
  const { host } = await adapterHost();
  const names: string[] = [];
  toPi(host)({ registerTool: ({ name }) => void names.push(name) });
  expect(names).toEqual(host.tools().map(({ name }) => name));
  await host.add('t', { command: 'scripted' });
  // Only what is new is registered.
  expect(names).toEqual(host.tools().map(({ name }) => name));
});

it("LangChain: with LangChain's own `tool`, tools are made by it and stay in step with the host", async () => {
  const { host } = await adapterHost({ toolSearch: true });
  const tool: LangChainOptions<{ name: string; run: () => Promise<unknown> }>['tool'] = (run, fields) => ({
    name: fields.name,
    run: () => run({ query: 'select:mcp__s__picture' }, { toolCall: { id: 'c' } }),
  });
  const tools = toLangChain(host, { tool, media: 'images' });
  expect(tools.map(({ name }) => name)).toEqual(['tool_search', 'call_tool']);
  await tools[0]?.run();
  expect(tools.map(({ name }) => name)).toEqual(['tool_search', 'call_tool', 'mcp__s__picture']);
  expect(await tools[2]?.run()).toMatchObject([
    [{ type: 'text' }, { type: 'image_url' }],
    { isError: false },
  ]);
});

it('LangChain: `interrupt` asks about calls that the host would ask about', async () => {
  const { host, server } = await adapterHost({ servers: { s: { command: 'scripted', approval: 'prompt' } } });
  const asked: unknown[] = [];
  let answer: unknown;
  const tool: LangChainOptions<{ name: string; run: () => Promise<unknown> }>['tool'] = (run, { name }) => ({
    name,
    run: () => run({ a: 1, b: 2 }, { toolCall: { id: 'c' } }),
  });
  const interrupt = (request: unknown): unknown => {
    asked.push(request);
    if (answer === undefined) throw new Error('interrupted');
    return answer;
  };
  const add = toLangChain(host, { tool, interrupt }).find(({ name }) => name === 'mcp__s__add');
  const reached = (): boolean =>
    server.received.some((message) => 'method' in message && message.method === 'tools/call');
  await expect(add?.run()).rejects.toThrow('interrupted');
  for (answer of [true, { decisions: [{ type: 'reject', message: 'later' }] }])
    expect(await add?.run()).toMatchObject([expect.stringContaining('"DENIED"'), { isError: true }]);
  expect(reached()).toBe(false);
  answer = { decisions: [{ type: 'approve' }] };
  expect(await add?.run()).toMatchObject(['3', { isError: false }]);
  expect(asked).toHaveLength(4);
  expect(asked[0]).toEqual({
    actionRequests: [{ name: 'mcp__s__add', args: { a: 1, b: 2 }, description: 'Adds two numbers.' }],
    reviewConfigs: [{ actionName: 'mcp__s__add', allowedDecisions: ['approve', 'reject'] }],
  });
});

it('a session is a host of its own: what one caller has found, the other is not shown', async () => {
  const { host } = await adapterHost({ toolSearch: true });
  const [one, other] = [toAnthropic(host.session()), toAnthropic(host.session())];
  const input = { query: 'select:mcp__s__add' };
  await one.execute({ type: 'tool_use', id: 'c', name: 'tool_search', input });
  expect(one.tools.map(({ name }) => name)).toEqual(['tool_search', 'call_tool', 'mcp__s__add']);
  expect(other.tools.map(({ name }) => name)).toEqual(['tool_search', 'call_tool']);
});
