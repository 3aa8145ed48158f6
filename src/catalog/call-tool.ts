/** The dispatching tools `call_tool` and `call_tool_read`: call a tool found by `tool_search`, for callers with a fixed tool list. */

import { PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { isRecord } from '../lib/json.ts';
import { CALL_TOOL, CALL_TOOL_READ, TOOL_SEARCH } from './deferral.ts';
import type { Tool } from './tool.ts';

type Args = Readonly<Record<string, unknown>>;

export interface WrappedCall {
  readonly name: string;
  readonly args: Args;
  /** The part of the result to return. */
  readonly select?: string;
}

/** Returns the definition of `call_tool`; `example` is a name in the caller's form. */
export function callToolDefinition(
  example: string,
): Pick<Tool, 'name' | 'description'> & { inputSchema: Args } {
  return {
    name: CALL_TOOL,
    description: `Calls a tool that ${TOOL_SEARCH} found. Example: ${exampleCall(example)}`,
    inputSchema: INPUT_SCHEMA,
  };
}

/** Returns the definition of `call_tool_read`; its own annotation is what agents approve. */
export function callToolReadDefinition(
  example: string,
): Pick<Tool, 'name' | 'description' | 'annotations'> & { inputSchema: Args } {
  return {
    name: CALL_TOOL_READ,
    description: `Calls a read-only tool that ${TOOL_SEARCH} found ("readOnly": true); others need ${CALL_TOOL}. Example: ${exampleCall(example)}`,
    inputSchema: INPUT_SCHEMA,
    annotations: { readOnlyHint: true, destructiveHint: false },
  };
}

export function isCallTool(name: string): boolean {
  return name === CALL_TOOL || name === CALL_TOOL_READ;
}

const INPUT_SCHEMA: Args = {
  type: 'object',
  properties: {
    name: { type: 'string', description: `The tool's name, exactly as ${TOOL_SEARCH} returned it.` },
    arguments: {
      type: 'object',
      description: 'The arguments of that tool, as its signature requires.',
    },
    select: {
      type: 'string',
      description: 'A JMESPath expression for the part of the result to return, such as items[].id.',
    },
  },
  required: ['name'],
};

/** Returns the call inside a `call_tool`, or an error that a model can act on. */
export function wrappedCall(
  { name, arguments: given, select, ...rest }: Args,
  example = 'server__tool',
): WrappedCall | PlugboardError {
  const hint = `Example: ${exampleCall(example)}`;
  if (typeof name !== 'string' || isCallTool(name)) {
    return invalidWrap(`${CALL_TOOL} needs the name of a tool`, `Find one with ${TOOL_SEARCH}.`);
  }
  // Some models send a nested object as JSON text.
  const args = typeof given === 'string' ? attempt(() => JSON.parse(given), given) : (given ?? undefined);
  if (args !== undefined && !isRecord(args)) {
    return invalidWrap(`The arguments for ${name} must be an object`, hint);
  }
  const [stray] = Object.keys(rest);
  if (args === undefined && stray !== undefined) {
    return invalidWrap(`${JSON.stringify(stray)} must be inside "arguments"`, hint);
  }
  if (select === undefined || select === null || select === '') return { name, args: args ?? {} };
  if (typeof select !== 'string') return invalidWrap('"select" must be text', SELECT_HINT);
  return { name, args: args ?? {}, select };
}

const SELECT_HINT = 'Write it as a JMESPath expression, such as items[].id.';

function exampleCall(name: string): string {
  return `{ "name": "${name}", "arguments": { "key": "value" } }`;
}

function invalidWrap(message: string, hint: string): PlugboardError {
  return new PlugboardError('INVALID_ARGUMENTS', message, { hint });
}
