/** Validates the options of adapters that plain JavaScript can get wrong: a misspelled one would have no effect. */

import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import {
  type Check,
  callable,
  checkOptions,
  flag,
  type Misfit,
  oneOf,
  positive,
  shown,
} from '../lib/option-check.ts';
import type { AdapterHost } from './adapter-host.ts';
import { MEDIA_TYPES } from './media.ts';

/** Accepted by every provider. */
const TOOL_NAME = /^[\w-]{1,64}$/;

const family = oneOf(...Object.keys(MEDIA_TYPES));
const media: Check = (value) => {
  if (typeof value === 'string') return family(value);
  const isList =
    Array.isArray(value) && value.every((type) => typeof type === 'string' && type.includes('/'));
  return isList ? undefined : 'a family of MEDIA_TYPES, or a list of types such as "image/png"';
};

const signal: Check = (value) => {
  const isSignal =
    typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value;
  return isSignal ? undefined : 'an AbortSignal';
};

/** The options of every adapter. */
const COMMON: Readonly<Record<string, Check>> = {
  onProgress: callable,
  onQuarantine: callable,
  signal,
  timeoutMs: positive,
  maxDescriptionChars: (value) =>
    typeof value === 'number' && value >= 0 ? undefined : 'a number that is not negative',
  media,
  found: oneOf('both', 'call_tool', 'name'),
  structuredContent: oneOf('without-text', 'always'),
  deduplicate: flag,
};

const list: Check = (value) => (Array.isArray(value) ? undefined : 'a list of tools');
const byName: Check = (value) => (isRecord(value) ? undefined : 'an object of tools by name');

/** Tools of the author that are run here, in the form of `OwnTool`. */
const ownTools: Check = (value) => {
  if (!isRecord(value)) return 'an object of tools by name';
  for (const [name, tool] of Object.entries(value)) {
    const misfit = misfitOf(name, tool);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
};

function misfitOf(name: string, tool: unknown): Misfit | undefined {
  const which = JSON.stringify(name);
  if (!TOOL_NAME.test(name))
    return {
      expected: 'an object of tools by name',
      hint: `Providers refuse the name ${which}: use letters, digits, _ and -, at most 64.`,
    };
  if (!isRecord(tool)) return { expected: 'an object of tools by name', hint: `${which} is ${shown(tool)}.` };
  const { description, inputSchema, execute } = tool;
  const wrong = (key: string, expected: string, hint: string): Misfit => ({
    expected: `tools whose "${key}" is ${expected}`,
    hint: `${which}: ${hint}`,
  });
  if (description !== undefined && typeof description !== 'string')
    return wrong('description', 'a text', `It is ${shown(description)}.`);
  if (execute !== undefined && typeof execute !== 'function')
    return wrong('execute', 'a function', `It is ${shown(execute)}.`);
  if (inputSchema === undefined) return undefined;
  if (!isRecord(inputSchema)) return wrong('inputSchema', 'a JSON Schema', `It is ${shown(inputSchema)}.`);
  if ('~standard' in inputSchema)
    return wrong('inputSchema', 'a JSON Schema', 'Convert a schema of zod with z.toJSONSchema(schema).');
  return undefined;
}

type Adapter = 'toAiSdk' | 'toOpenAI' | 'toAnthropic' | 'toGemini' | 'toLangChain' | 'toPi';

const ADAPTERS: Readonly<Record<Adapter, Readonly<Record<string, Check>>>> = {
  toAiSdk: {
    tools: byName,
    schemas: byName,
    needsApproval: flag,
    version: (value) => (value === 5 || value === 6 || value === 7 ? undefined : '5, 6 or 7'),
  },
  toOpenAI: { tools: ownTools, api: oneOf('responses', 'chat'), strict: flag, deferLoading: flag },
  toAnthropic: { tools: ownTools, deferLoading: flag },
  toGemini: { tools: ownTools },
  toLangChain: { tools: list, tool: callable, interrupt: callable },
  toPi: { tools: list },
};

/** Throws CONFIG_INVALID for a value that is not a host, an invalid option, and a misspelled name of one. */
export function checkAdapter(adapter: Adapter, host: AdapterHost, options: object): void {
  const given: unknown = host;
  const isHost =
    typeof given === 'object' &&
    given !== null &&
    typeof Reflect.get(given, 'tools') === 'function' &&
    typeof Reflect.get(given, 'call') === 'function';
  if (!isHost) {
    const hint =
      given instanceof Promise
        ? 'It is a promise: write await createHost().'
        : 'Give a host, a session of one, or an object with tools() and call().';
    throw new PlugboardError('CONFIG_INVALID', `${adapter}: the first argument is not a host`, { hint });
  }
  checkOptions(options, { ...COMMON, ...ADAPTERS[adapter] }, adapter);
  // A plain tool answers and never throws.
  if (Reflect.get(options, 'interrupt') !== undefined && Reflect.get(options, 'tool') === undefined)
    throw new PlugboardError('CONFIG_INVALID', `${adapter}: "interrupt" needs "tool"`, {
      hint: 'Give `tool` of "@langchain/core/tools" too: toLangChain(host, { tool, interrupt }).',
    });
}
