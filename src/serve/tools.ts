/** Tools towards clients: the list as the protocol wants it, and results as each version can read them. */

import type { ShapedResult } from '../call/shape.ts';
import type { ContentBlock } from '../catalog/accept-result.ts';
import { TOOL_SEARCH } from '../catalog/deferral.ts';
import { type ParamHeader, readParamHeaders } from '../catalog/param-headers.ts';
import type { Tool } from '../catalog/tool.ts';
import { META } from '../connection/eras.ts';
import type { Params } from '../endpoint/eras.ts';
import { invalidParams } from '../endpoint/rpc-failure.ts';
import type { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { failureOf } from './failure.ts';

export const CALL_TOOL = 'call_tool';

/** The first versions whose clients know these blocks; older ones fail on the whole result. */
const FIRST_AUDIO_VERSION = '2025-03-26';
const FIRST_LINK_VERSION = '2025-06-18';

type Listed = Omit<Tool, 'server' | 'tool' | 'deferred'>;

/** For clients without a session: what they have found cannot be put into their list. */
const callTool: Listed = {
  name: CALL_TOOL,
  description: `Calls a tool that ${TOOL_SEARCH} found, by its name and with arguments as its inputSchema says.`,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: `The name that ${TOOL_SEARCH} gave.` },
      arguments: { type: 'object', description: 'What the tool is given.' },
    },
    required: ['name'],
  },
};

/** The list for a client: the gateway's own come last; without a session, found tools are called through a generic one. */
export function createToolLister(
  own: readonly Listed[],
): (tools: readonly Tool[], stateless: boolean) => readonly Listed[] {
  const made = new WeakMap<readonly Tool[], readonly Listed[]>();
  return (tools, stateless) => {
    let list = made.get(tools);
    if (list === undefined) {
      const theirs = tools.map(({ server: _server, tool: _tool, deferred: _deferred, ...listed }) => listed);
      list = [...theirs, ...own];
      made.set(tools, list);
    }
    const searches = stateless && tools.some(({ name }) => name === TOOL_SEARCH);
    return searches ? [...list, callTool] : list;
  };
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

/** What is really called: `call_tool` names it in its arguments. */
export function wantedCall(params: Params, stateless: boolean): { name: string; args: Params } {
  const { name, arguments: args } = params;
  if (typeof name !== 'string') throw invalidParams('tools/call needs the name of a tool.');
  if (args !== undefined && !isRecord(args))
    throw invalidParams('The arguments of a tool have to be an object.');
  if (!stateless || name !== CALL_TOOL) return { name, args: args ?? {} };
  const { name: inner, arguments: innerArgs } = args ?? {};
  if (typeof inner !== 'string') throw invalidParams(`${CALL_TOOL} needs the name of a tool.`);
  if (innerArgs !== undefined && !isRecord(innerArgs)) {
    throw invalidParams(`The arguments for ${CALL_TOOL} have to be an object.`);
  }
  return { name: inner, args: innerArgs ?? {} };
}

/**
 * Content is handed on as it came; what is changed is who answered (here it is the gateway), where the whole of
 * a cut result is, and blocks that the client's version does not know.
 */
export function passedOn(
  result: ShapedResult,
  version: string,
  offer: (file: string) => ContentBlock,
): Params {
  const foreign = result._meta !== undefined && Object.hasOwn(result._meta, META.serverInfo);
  if (result.truncated === undefined && !foreign && version >= FIRST_LINK_VERSION) return { ...result };
  const { _meta, truncated, content, ...rest } = result;
  const { [META.serverInfo]: _server, ...meta } = _meta ?? {};
  const told =
    truncated === undefined ? meta : { ...meta, 'plugboard/truncated': { tokens: truncated.tokens } };
  const whole = truncated === undefined || truncated.file === '' ? [] : [offer(truncated.file)];
  return {
    ...rest,
    content: forVersion([...content, ...whole], version),
    ...(Object.keys(told).length === 0 ? {} : { _meta: told }),
  };
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

/** A tool nobody has is the client's mistake; everything else is told to the model, which can act on it. */
export function refused(error: PlugboardError): Params {
  if (error.code === 'UNKNOWN_TOOL') throw failureOf(error);
  const text = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
  return { content: [{ type: 'text', text }], isError: true, _meta: { 'plugboard/code': error.code } };
}
