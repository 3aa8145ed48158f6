/** Pipeline of `list_mcp_resources` and `read_mcp_resource`: the stages of a call, ending with the servers' resources. */

import type { Resource, ResourceTemplate } from '../catalog/accept-lists.ts';
import type { ContentBlock } from '../catalog/accept-result.ts';
import {
  DEFAULT_LISTED,
  LIST_METHOD,
  READ_METHOD,
  READ_RESOURCE,
  RESOURCE_TOOLS,
  resourceRuleNames,
} from '../catalog/resource-tool-definitions.ts';
import type { ListedResource, ListedTemplate, ReadResult } from '../catalog/resources.ts';
import { unknownServer } from '../config/unknown-server.ts';
import { abortable } from '../connection/alarm.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { signalOf } from '../lib/cancellation.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { RuleNames } from '../policy/approval.ts';
import { clean } from '../policy/clean.ts';
import { approve, OWN } from './approve.ts';
import { budget } from './budget.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { limit } from './limit.ts';
import { observe } from './observe.ts';
import { resolvedCall } from './resolved-call.ts';
import { shape } from './shape.ts';
import { telemetry } from './telemetry.ts';
import { validate } from './validate.ts';

const [LIST, READ] = RESOURCE_TOOLS;
const MAX_NAMED_SERVERS = 20;

export function createResourceHandler(context: CallContext): Handler {
  const join = (stages: readonly Stage[], last: Handler): Handler =>
    stages.reduceRight((next, stage) => stage(context, next), last);
  const list = join([observe, telemetry, validate], (call) => listed(context, call));
  const read = join([observe, telemetry, validate, connected, approve, budget, shape, limit], (call) =>
    readFor(context, call),
  );
  const names = new Map<string, RuleNames>();
  return async (call) => {
    if (context.closing.aborted) throw closed();
    const { server } = call.arguments;
    // `validate` refuses any other value, with the reason.
    if (typeof server === 'string') checkServer(context, call, server);
    if (call.name === LIST.name) {
      call.method = LIST_METHOD;
      call.tool = { ...LIST, server: typeof server === 'string' ? server : OWN, tool: LIST_METHOD };
      return list(call);
    }
    call.method = READ_METHOD;
    if (typeof server !== 'string') {
      call.tool = { ...READ, server: OWN, tool: READ_METHOD };
      return read(call);
    }
    call.names = getOrMake(names, server, () => resourceRuleNames(server));
    call.tool = { ...READ, server, tool: READ_METHOD };
    call.connection = context.connection(server, call.session);
    return read(call);
  };
}

/** A server that the session may not use is reported as unknown. */
function checkServer(context: CallContext, { session }: Call, server: string): void {
  const { resources } = context;
  const isThere = resources.isOffered(server, session);
  // A server that fails, or that a rule denies, is refused with that reason later.
  if (isThere && resources.mayHave(server)) return;
  const known = resources.servers(session);
  const some = known.slice(0, MAX_NAMED_SERVERS).map((name) => JSON.stringify(name));
  const more = known.length - some.length;
  const all = `${some.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const hint = known.length === 0 ? 'No server has resources now.' : `Servers with resources: ${all}.`;
  throw isThere
    ? new PlugboardError('INVALID_ARGUMENTS', `${server} has no resources`, { server, hint })
    : unknownServer(server, { known, hint });
}

/** Connects first, so that a person is not asked about a server that fails to start. */
const connected: Stage = (_context, next) => async (call) => {
  const { connection } = resolvedCall(call);
  if (!connection.isLive) await connection.ready(signalOf(call));
  return next(call);
};

async function readFor(context: CallContext, call: Call): ReturnType<Handler> {
  const { tool } = resolvedCall(call);
  // `validate` has checked it.
  const uri = String(call.arguments['uri']);
  try {
    const result = await context.resources.read(call, tool.server, uri);
    return { content: blocksOf(result, uri, call), isError: false, ...metaOf(result) };
  } catch (thrown) {
    const error = asPlugboardError(thrown);
    if (error.code === 'CONNECTION_LOST' && context.closing.aborted) throw closed(error);
    if (error.code !== 'INVALID_ARGUMENTS') throw error;
    const modelHint = `${LIST.name} with ${JSON.stringify({ server: tool.server })} lists what there is.`;
    const { code, message, hint, cause, detail } = error;
    throw new PlugboardError(code, message, {
      server: tool.server,
      hint,
      cause,
      detail: { ...detail, modelHint },
    });
  }
}

function closed(cause?: PlugboardError): PlugboardError {
  return new PlugboardError('CANCELLED', 'The call was cancelled: the host was closed', { cause });
}

function metaOf({ _meta }: ReadResult): Pick<ReadResult, '_meta'> {
  return _meta === undefined ? {} : { _meta };
}

/** Media types of text, which some servers send as bytes. */
const TEXTUAL = /^text\/|[/+](?:json|xml|yaml|javascript)\b/i;

/** Returns undefined if the bytes are not UTF-8 text. */
function textIn(base64: string): string | undefined {
  return attempt(
    () => new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64')),
    undefined,
  );
}

/**
 * Converts contents to blocks. A single text needs no address: the caller asked for this one. Images and audio keep
 * their types.
 */
function blocksOf({ contents }: ReadResult, uri: string, { session }: Call): readonly ContentBlock[] {
  return contents.map((part): ContentBlock => {
    if ('text' in part) {
      // Also where other readers get every byte: a model reads it.
      const text = session.forModel ? clean(part.text) : part.text;
      const isAll = contents.length === 1 && part.uri === uri;
      return isAll ? { type: 'text', text } : { type: 'resource', resource: { ...part, text } };
    }
    const { blob: data, mimeType = '' } = part;
    const decoded = session.forModel && TEXTUAL.test(mimeType) ? textIn(data) : undefined;
    if (decoded !== undefined) return { type: 'text', text: clean(decoded) };
    if (/^image\//i.test(mimeType)) return { type: 'image', data, mimeType };
    if (/^audio\//i.test(mimeType)) return { type: 'audio', data, mimeType };
    return { type: 'resource', resource: part };
  });
}

// Answers `list_mcp_resources`: one page of the servers' resources, one JSON object per line.

const MAX_PAGE_CHARS = 20_000;
const MAX_DESCRIPTION_CHARS = 300;
const MAX_REASON_CHARS = 300;
/** Pages of user interfaces: hosts show them; they are not for models. */
const FOR_APPS = /^ui:/i;

type Listed = ListedResource | ListedTemplate;

export async function listed(context: CallContext, call: Call): ReturnType<Handler> {
  const { server, query = '', limit = DEFAULT_LISTED, offset = 0 } = call.arguments as ListArguments;
  const servers = server === undefined ? context.resources.servers(call.session) : [server];
  const signal = signalOf(call);
  const failures: string[] = [];
  const lists = await Promise.all(
    servers.map(async (name) => {
      try {
        return await abortable(context.resources.list(name), signal);
      } catch (thrown) {
        const error = asPlugboardError(thrown);
        // For one server, or if the caller is gone, the failure is the result.
        if (server !== undefined || signal?.aborted) throw error;
        const why = clean(error.message, { multiline: false, max: MAX_REASON_CHARS });
        failures.push(`The resources of ${name} could not be listed: ${why}`);
        return { resources: [], templates: [] };
      }
    }),
  );
  // Templates are few, and each leads to many resources: they come first.
  const all: readonly Listed[] = [
    ...lists.flatMap(({ templates }) => templates),
    ...lists.flatMap(({ resources }) => resources),
  ].filter((item) => !FOR_APPS.test(addressOf(item)));
  const found = matching(all, query);
  const lines = page(found.slice(offset, offset + limit));
  const text = [
    heading(found.length, { offset, shown: lines.length, isSearch: found !== all }),
    ...lines,
    ...failures,
  ].join('\n');
  return { content: [{ type: 'text', text }], isError: false };
}

/** The arguments, checked by `validate`. */
interface ListArguments {
  readonly server?: string;
  readonly query?: string;
  readonly limit?: number;
  readonly offset?: number;
}

function heading(
  total: number,
  {
    offset,
    shown,
    isSearch,
  }: { readonly offset: number; readonly shown: number; readonly isSearch: boolean },
): string {
  if (total === 0)
    return isSearch ? 'No resource matches; try other words, or none.' : 'There are no resources.';
  const end = offset + shown;
  if (shown === 0) return `There are ${total} in all, and none after ${offset}.`;
  const part = shown === total ? `${total} in all` : `${offset + 1} to ${end} of ${total}`;
  const next = end < total ? ` The next ones: "offset": ${end}.` : '';
  return `${part}; read one with ${READ_RESOURCE}, its server and its uri (a uriTemplate with its parts filled in).${next}`;
}

/** Returns as many lines as fit, at least one. */
function page(items: readonly Listed[]): readonly string[] {
  const lines: string[] = [];
  let chars = 0;
  for (const item of items) {
    const line = lineOf(item);
    chars += line.length;
    if (lines.length > 0 && chars > MAX_PAGE_CHARS) break;
    lines.push(line);
  }
  return lines;
}

function lineOf(item: Listed): string {
  const { server, name, title, description, mimeType } = item;
  const address = 'uri' in item ? { uri: item.uri } : { uriTemplate: item.uriTemplate };
  return JSON.stringify({
    server,
    ...address,
    ...(name === addressOf(item) ? {} : { name }),
    ...(title === undefined || title === name ? {} : { title }),
    ...(description === undefined ? {} : { description: clean(description, { max: MAX_DESCRIPTION_CHARS }) }),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...('size' in item ? { size: item.size } : {}),
  });
}

function addressOf(item: Resource | ResourceTemplate): string {
  return 'uri' in item ? item.uri : item.uriTemplate;
}

/** Returns the items that contain every word of the query, case-insensitively; the same list without a query. */
function matching(all: readonly Listed[], query: string): readonly Listed[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return all;
  return all.filter((item) => {
    const { server, name, title = '', description = '' } = item;
    const text = [server, addressOf(item), name, title, description].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
