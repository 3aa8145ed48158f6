/** Every adapter behind one function, for what all of them promise alike. */

import {
  type AdapterHost,
  type AdapterOptions,
  type PiApi,
  type PiTool,
  toAiSdk,
  toAnthropic,
  toGemini,
  toLangChain,
  toOpenAI,
  toPi,
} from '../../src/adapters/index.ts';

export interface Caller {
  /** What the model is shown. */
  names(): string[];
  /** The schema that a model is shown for a tool. */
  schema(name: string): Record<string, unknown> | undefined;
  /** The answer as the adapter gives it. */
  call(name: string, args: unknown, signal?: AbortSignal): Promise<unknown>;
}

const ID = 'call_1';
const UNUSED: AbortSignal = new AbortController().signal;

export const CALLERS: Readonly<Record<string, (host: AdapterHost, options?: AdapterOptions) => Caller>> = {
  'AI SDK': (host, options) => {
    const tools = toAiSdk(host, options);
    return {
      names: () => Object.keys(tools),
      schema: (name) => tools[name]?.inputSchema.jsonSchema,
      async call(name, input, signal = UNUSED) {
        const tool = tools[name];
        const output = await tool?.execute(input, { toolCallId: ID, abortSignal: signal });
        return tool?.toModelOutput({ output: JSON.parse(JSON.stringify(output)) });
      },
    };
  },
  'OpenAI Responses': (host, options) => {
    const openai = toOpenAI(host, options);
    const tool = (name: string) => openai.tools.find((one) => one.type === 'function' && one.name === name);
    return {
      names: () => openai.tools.map((one) => (one.type === 'function' ? one.name : one.type)),
      schema: (name) => tool(name)?.parameters,
      call: (name, args, signal = UNUSED) =>
        openai.execute(
          { type: 'function_call', call_id: ID, name, arguments: JSON.stringify(args) },
          { signal },
        ),
    };
  },
  'OpenAI Chat Completions': (host, options) => {
    const openai = toOpenAI(host, { ...options, api: 'chat' });
    return {
      names: () => openai.tools.map((tool) => tool.function.name),
      schema: (name) => openai.tools.find((tool) => tool.function.name === name)?.function.parameters,
      call(name, args, signal = UNUSED) {
        const call = { id: ID, type: 'function', function: { name, arguments: JSON.stringify(args) } };
        return openai.executeAll([call], { signal });
      },
    };
  },
  Anthropic: (host, options) => {
    const anthropic = toAnthropic(host, options);
    return {
      names: () => anthropic.tools.map(({ name }) => name),
      schema: (name) => anthropic.tools.find((tool) => tool.name === name)?.input_schema,
      call: (name, input, signal = UNUSED) =>
        anthropic.execute({ type: 'tool_use', id: ID, name, input }, { signal }),
    };
  },
  Gemini: (host, options) => {
    const gemini = toGemini(host, options);
    const declarations = () => gemini.tools[0]?.functionDeclarations ?? [];
    return {
      names: () => declarations().map(({ name }) => name),
      schema: (name) => declarations().find((tool) => tool.name === name)?.parametersJsonSchema,
      call: (name, args, signal = UNUSED) =>
        gemini.execute({ id: ID, name, args: args as Record<string, unknown> }, { signal }),
    };
  },
  LangChain: (host, options) => {
    const tools = toLangChain(host, options);
    const tool = (wanted: string) => tools.find(({ name }) => name === wanted);
    return {
      names: () => tools.map(({ name }) => name),
      schema: (name) => tool(name)?.schema,
      async call(name, args, signal = UNUSED) {
        return tool(name)?.invoke({ type: 'tool_call', id: ID, name, args }, { signal });
      },
    };
  },
  pi: (host, options) => {
    const pi = scriptedPi();
    toPi(host, options)(pi.api);
    pi.start();
    return {
      names: () => pi.active(),
      schema: (name) => pi.tools.get(name)?.parameters,
      async call(name, args, signal = UNUSED) {
        return pi.tools.get(name)?.execute(ID, args, signal);
      },
    };
  },
};

export interface ScriptedPi {
  readonly api: PiApi;
  readonly tools: ReadonlyMap<string, PiTool>;
  active(): string[];
  start(): void;
  shutdown(): void;
  /** What the extension makes of a result. */
  result(toolName: string, details: unknown): unknown;
}

/** The part of pi's API that extensions with tools use; before the session starts, only registration works. */
export function scriptedPi(): ScriptedPi {
  const tools = new Map<string, PiTool>();
  const handlers = new Map<string, (event: never) => unknown>();
  let active: string[] = [];
  let started = false;
  const initialized = (): void => {
    if (!started) throw new Error('Extension runtime not initialized');
  };
  return {
    api: {
      registerTool(tool) {
        if (!tools.has(tool.name)) active.push(tool.name);
        tools.set(tool.name, tool);
      },
      getActiveTools() {
        initialized();
        return [...active];
      },
      setActiveTools(names) {
        initialized();
        active = [...names];
      },
      on: (event: string, handler: (event: never) => unknown) => void handlers.set(event, handler),
    },
    tools,
    active: () => active,
    start() {
      started = true;
      handlers.get('session_start')?.({} as never);
    },
    shutdown: () => void handlers.get('session_shutdown')?.({} as never),
    result: (toolName, details) => handlers.get('tool_result')?.({ toolName, details } as never),
  };
}
