/** Calls of tools by clients: parses the request, finds arguments sent in headers, and converts refusals. */

import { type ParamHeader, readParamHeaders } from '../catalog/param-headers.ts';
import type { Tool } from '../catalog/tool.ts';
import { type HandedOn, passedMeta, without } from '../connection/handed-on.ts';
import { type ClientInfo, DEFAULT_LEVEL, type Params } from '../endpoint/client-era.ts';
import { invalidParams } from '../endpoint/rpc-failure.ts';
import type { PlugboardError } from '../errors.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { isRecord } from '../lib/json.ts';
import type { QuestionQueue } from './client-questions.ts';
import { errorText, failureOf, passedFailure } from './gateway-failure.ts';

function declaredOf({ name, inputSchema }: Tool): readonly (readonly [string, readonly ParamHeader[]])[] {
  const headers = readParamHeaders(inputSchema);
  return headers.ok && headers.declared.length > 0 ? [[name, headers.declared]] : [];
}

/** Returns the arguments that each tool also expects in headers, for the few that have any; read once for each list. */
export function createParamHeaders(): (
  tools: readonly Tool[],
) => ReadonlyMap<string, readonly ParamHeader[]> {
  const read = new WeakMap<readonly Tool[], ReadonlyMap<string, readonly ParamHeader[]>>();
  return (tools) => getOrMake(read, tools, () => new Map(tools.flatMap(declaredOf)));
}

export interface RequestedCall {
  readonly name: string;
  readonly args: Params;
  /** True through `call_tool_read`: other tools are refused. */
  readonly readOnly?: boolean;
  /** Through `call_tool`: the part of the result to return. */
  readonly select?: string;
}

/** Parses the call of a `tools/call` request. */
export function requestedCall({ name, arguments: args }: Params): RequestedCall {
  if (typeof name !== 'string') throw invalidParams('tools/call needs the name of a tool');
  if (args !== undefined && !isRecord(args)) throw invalidParams('The arguments of a tool must be an object');
  return { name, args: args ?? {} };
}

/**
 * An unknown tool is the client's mistake, a used-up budget has its own code, and a server's error response is passed on
 * as one; every other error is for the model, which can act on it.
 */
export function refused(error: PlugboardError): Params {
  const isOwn = error.code === 'UNKNOWN_TOOL' || error.code === 'RATE_LIMITED';
  const failure = isOwn ? failureOf(error) : passedFailure(error);
  if (failure !== undefined) throw failure;
  return errorResult(error, errorText(error));
}

/** Like `refused`, for a call inside `call_tool`: the model chose the name. */
export function refusedWrapped(error: PlugboardError): Params {
  if (error.code === 'RATE_LIMITED') throw failureOf(error);
  return errorResult(error, errorText(error));
}

function errorResult({ code }: PlugboardError, text: string): Params {
  return { content: [{ type: 'text', text }], isError: true, _meta: { 'plugboard/code': code } };
}

/** Params that the gateway reads itself; all others are forwarded. */
const READ_HERE: ReadonlySet<string> = new Set([
  '_meta',
  'name',
  'arguments',
  'uri',
  'ref',
  'argument',
  'context',
  'task',
  'inputResponses',
  'requestState',
]);

/** `capabilities`: those that `capabilitiesBy` returned for this client. */
export function handedOnBy(params: Params, { logLevel }: ClientInfo, capabilities: Params): HandedOn {
  const meta = passedMeta(params['_meta']);
  const more = without(params, isReadHere);
  // A level that was not chosen is the host's own.
  const level = logLevel === DEFAULT_LEVEL ? undefined : logLevel;
  return { meta, params: more, logLevel: level, capabilities };
}

/**
 * Returns the kinds of questions allowed during a request: those its client declared, and those a person at the page
 * can answer. `approvalQueue`: the page, while a person looks at it.
 */
export function capabilitiesBy(
  { capabilities }: ClientInfo,
  approvalQueue: QuestionQueue | undefined,
): Params {
  if (approvalQueue === undefined && declaresNothing(capabilities)) return NO_CAPABILITIES;
  const { elicitation, sampling, roots, experimental, extensions } = capabilities;
  const elicited = approvalQueue === undefined ? elicitation : { form: {}, url: {} };
  const sampled = sampling ?? (approvalQueue === undefined ? undefined : {});
  return {
    ...(isRecord(elicited) ? { elicitation: elicited } : {}),
    ...(isRecord(sampled) ? { sampling: sampled } : {}),
    ...(isRecord(roots) ? { roots: {} } : {}),
    ...(isRecord(experimental) ? { experimental } : {}),
    ...(isRecord(extensions) ? { extensions } : {}),
  };
}

const NO_CAPABILITIES: Params = Object.freeze({});

function declaresNothing(capabilities: Params): boolean {
  for (const _name in capabilities) return false;
  return true;
}

function isReadHere(key: string): boolean {
  return READ_HERE.has(key);
}
