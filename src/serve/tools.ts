/** Calls of tools by clients: what was asked for, which arguments travel in headers, and refusals. */

import { CALL_TOOL, TOOL_SEARCH } from '../catalog/deferral.ts';
import { type ParamHeader, readParamHeaders } from '../catalog/param-headers.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Params } from '../endpoint/eras.ts';
import { invalidParams } from '../endpoint/rpc-failure.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { errorText, failureOf, passedFailure } from './failure.ts';

/** A longer schema is left to a search. */
const MAX_SHOWN_SCHEMA_CHARS = 4_000;

/** Which arguments each tool wants in headers too, for the few that want any; read once for each list. */
export function createParamHeaders(): (
  tools: readonly Tool[],
) => ReadonlyMap<string, readonly ParamHeader[]> {
  const read = new WeakMap<readonly Tool[], ReadonlyMap<string, readonly ParamHeader[]>>();
  return (tools) => {
    let found = read.get(tools);
    if (found === undefined) {
      found = new Map(
        tools.flatMap(({ name, inputSchema }) => {
          const headers = readParamHeaders(inputSchema);
          return headers.ok && headers.declared.length > 0 ? [[name, headers.declared] as const] : [];
        }),
      );
      read.set(tools, found);
    }
    return found;
  };
}

export interface RequestedCall {
  readonly name: string;
  readonly args: Params;
}

/** The call of a `tools/call` request. */
export function requestedCall({ name, arguments: args }: Params): RequestedCall {
  if (typeof name !== 'string') throw invalidParams('tools/call needs the name of a tool.');
  if (args !== undefined && !isRecord(args))
    throw invalidParams('The arguments of a tool have to be an object.');
  return { name, args: args ?? {} };
}

/** The call inside a `call_tool`, or an error that a model can act on. */
export function wrappedCall({ name, arguments: given, ...rest }: Params): RequestedCall | PlugboardError {
  if (typeof name !== 'string' || name === CALL_TOOL) {
    return invalidWrap(`${CALL_TOOL} needs the name of a tool`, `Find one with ${TOOL_SEARCH}.`);
  }
  const args = typeof given === 'string' ? parsedObject(given) : given;
  if (args !== undefined && !isRecord(args)) {
    return invalidWrap(`The arguments for ${name} must be an object`, EXAMPLE_HINT);
  }
  const [stray] = Object.keys(rest);
  if (args === undefined && stray !== undefined) {
    return invalidWrap(`${JSON.stringify(stray)} must be inside "arguments"`, EXAMPLE_HINT);
  }
  return { name, args: args ?? {} };
}

const EXAMPLE_HINT = 'Example: { "name": "server__tool", "arguments": { "key": "value" } }';

function invalidWrap(message: string, hint: string): PlugboardError {
  return new PlugboardError('INVALID_ARGUMENTS', message, { hint });
}

/** Some models write a nested object as JSON text; anything else is returned as it is. */
function parsedObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * An unknown tool is the client's mistake, and an error that the server answered with is passed on as one; every
 * other error is for the model, which can act on it.
 */
export function refused(error: PlugboardError): Params {
  const failure = error.code === 'UNKNOWN_TOOL' ? failureOf(error) : passedFailure(error);
  if (failure !== undefined) throw failure;
  return errorResult(error, errorText(error));
}

/** As `refused`, for a call inside `call_tool`: the model chose the name, and may never have seen the schema. */
export function refusedWrapped(error: PlugboardError, tool: Tool | undefined): Params {
  if (error.code !== 'INVALID_ARGUMENTS' || tool === undefined) return errorResult(error, errorText(error));
  const schema = JSON.stringify(tool.inputSchema);
  const shown =
    schema.length <= MAX_SHOWN_SCHEMA_CHARS
      ? `Its inputSchema: ${schema}`
      : `${TOOL_SEARCH} with "select:" and its name returns its inputSchema.`;
  return errorResult(error, `${errorText(error)}\n${shown}`);
}

function errorResult({ code }: PlugboardError, text: string): Params {
  return { content: [{ type: 'text', text }], isError: true, _meta: { 'plugboard/code': code } };
}
