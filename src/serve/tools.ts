/** Tools towards clients: the list as the protocol wants it, and results as each version can read them. */

import type { ShapedResult } from '../call/shape.ts';
import type { ContentBlock } from '../catalog/accept-result.ts';
import { CALL_TOOL, TOOL_SEARCH } from '../catalog/deferral.ts';
import { type ParamHeader, readParamHeaders } from '../catalog/param-headers.ts';
import type { Tool } from '../catalog/tool.ts';
import { META } from '../connection/eras.ts';
import { RESERVED_META } from '../connection/handed-on.ts';
import type { Params } from '../endpoint/eras.ts';
import { invalidParams } from '../endpoint/rpc-failure.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { errorText, failureOf } from './failure.ts';

/** The first versions whose clients know these blocks; older ones fail on the whole result. */
const FIRST_AUDIO_VERSION = '2025-03-26';
const FIRST_LINK_VERSION = '2025-06-18';

/** A longer schema is left to a search. */
const MAX_SHOWN_SCHEMA_CHARS = 4_000;

type Listed = Omit<Tool, 'server' | 'tool' | 'deferred'>;

const callTool: Listed = {
  name: CALL_TOOL,
  description: `Calls a tool that ${TOOL_SEARCH} found. Example: { "name": "server__tool", "arguments": { "key": "value" } }`,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: `The tool's name, exactly as ${TOOL_SEARCH} returned it.` },
      arguments: { type: 'object', description: 'The arguments of that tool, as its inputSchema requires.' },
    },
    required: ['name'],
  },
};

/** A list for clients, without and with the tools that this client has found. */
interface Lists {
  readonly fixed: readonly Listed[];
  readonly withFound: readonly Listed[];
}

/**
 * Makes lists for clients: servers' tools, `call_tool` where there is a search, the gateway's own tools, and last
 * the tools that the client has found. A fixed list has none of those: in the modern era a list must not change
 * because of a call.
 */
export function createToolLister(
  own: readonly Listed[],
): (tools: readonly Tool[], isFixed: boolean) => readonly Listed[] {
  const made = new WeakMap<readonly Tool[], Lists>();
  return (tools, isFixed) => {
    let lists = made.get(tools);
    if (lists === undefined) {
      const given = tools.filter(({ deferred }) => deferred !== true).map(listed);
      const found = tools.filter(({ deferred }) => deferred === true).map(listed);
      const searches = given.some(({ name }) => name === TOOL_SEARCH);
      const fixed = [...given, ...(searches ? [callTool] : []), ...own];
      lists = { fixed, withFound: found.length === 0 ? fixed : [...fixed, ...found] };
      made.set(tools, lists);
    }
    return isFixed ? lists.fixed : lists.withFound;
  };
}

function listed({ server: _server, tool: _tool, deferred: _deferred, ...tool }: Tool): Listed {
  return tool;
}

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

export interface PassedOn {
  /** Links of the server that answered, as clients can follow them. */
  readonly bind: (content: readonly ContentBlock[]) => readonly ContentBlock[];
  /** A link to the whole of a result that was cut. */
  readonly offer: (file: string) => ContentBlock;
}

/**
 * Content is handed on as it came; what is changed is who answered (here it is the gateway), where links lead and the
 * whole of a cut result is, and blocks that the client's version does not know.
 */
export function passedOn(result: ShapedResult, version: string, { bind, offer }: PassedOn): Params {
  const content = bind(result.content);
  const foreign = Object.keys(result._meta ?? {}).some(isOurs);
  const isPlain = result.truncated === undefined && !foreign && version >= FIRST_LINK_VERSION;
  if (isPlain) return content === result.content ? { ...result } : { ...result, content };
  const { _meta, truncated, content: _content, ...rest } = result;
  const meta = Object.fromEntries(Object.entries(_meta ?? {}).filter(([key]) => !isOurs(key)));
  const told =
    truncated === undefined ? meta : { ...meta, 'plugboard/truncated': { tokens: truncated.tokens } };
  const whole = truncated === undefined || truncated.file === '' ? [] : [offer(truncated.file)];
  return {
    ...rest,
    content: forVersion([...content, ...whole], version),
    ...(Object.keys(told).length === 0 ? {} : { _meta: told }),
  };
}

/** Keys of `_meta` that only we may set: who answered, and what we say about a result. */
function isOurs(key: string): boolean {
  return key === META.serverInfo || key.startsWith(RESERVED_META);
}

export function forVersion(content: readonly ContentBlock[], version: string): readonly ContentBlock[] {
  if (version >= FIRST_LINK_VERSION) return content;
  return content.map((block): ContentBlock => {
    if (block.type === 'resource_link') {
      const { name, uri, description } = block;
      return { type: 'text', text: `${name}${description === undefined ? '' : `: ${description}`} (${uri})` };
    }
    if (block.type !== 'audio' || version >= FIRST_AUDIO_VERSION) return block;
    const { data: blob, mimeType } = block;
    return { type: 'resource', resource: { uri: 'plugboard://audio', mimeType, blob } };
  });
}

/** An unknown tool is the client's mistake; every other error is for the model, which can act on it. */
export function refused(error: PlugboardError): Params {
  if (error.code === 'UNKNOWN_TOOL') throw failureOf(error);
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
