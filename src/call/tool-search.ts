/**
 * Pipeline stage: answers `tool_search`: finds deferred tools, loads them into the caller's session, and returns
 * their signatures; tools that were selected by name are returned with their complete definitions.
 */

import type { CallResult } from '../catalog/accept-result.ts';
import { type Instructions, joinInstructions } from '../catalog/catalog.ts';
import { CALL_TOOL, CALL_TOOL_READ, TOOL_SEARCH } from '../catalog/deferral.ts';
import { parseQuery } from '../catalog/search/query.ts';
import { summaryOf } from '../catalog/signature.ts';
import { type Tool, toolId } from '../catalog/tool.ts';
import { PlugboardError } from '../errors.ts';
import { isReadOnly } from './approve.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { resolvedCall } from './resolved-call.ts';
import type { Session } from './session.ts';
import { deferralFor, offersContent, searchFor, snapshotFor } from './session-view.ts';

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;
/** Number of results if nothing fits well. */
const NEAREST = 3;
/** Limit on all matches, for a session that may use only some of the tools. */
const MAX_SEARCHED = 1_000;
/** Limit on the instructions in one result; a server has at most about half of it. */
const MAX_INSTRUCTIONS_CHARS = 8_192;

export const toolSearch: Stage = (context, next) => (call) =>
  call.name === TOOL_SEARCH && deferralFor(context, call.session).searchTool !== undefined
    ? searched(context, call)
    : next(call);

async function searched(context: CallContext, call: Call): Promise<CallResult> {
  const { query, limit } = call.arguments;
  if (typeof query !== 'string' || query.trim() === '') {
    throw new PlugboardError(
      'INVALID_ARGUMENTS',
      'tool_search needs a query: a few words, or "select:" and names',
      {
        hint: 'For example: { "query": "create a pull request" }',
      },
    );
  }
  const wanted =
    typeof limit === 'number' ? Math.min(Math.max(Math.trunc(limit), 1), MAX_LIMIT) : DEFAULT_LIMIT;
  const { session } = call;
  const { found, isWeak } = await offeredTools(context, call, query, wanted);
  for (const tool of found) {
    const id = toolId(tool);
    session.loaded.add(id);
    session.found.set(id, query);
  }
  if (found.length === 0) return nothing(query);
  const about = newInstructions(context, call, found);
  const isWhole = parseQuery(query).kind === 'select';
  if (!session.gateway && call.viaCallTool !== true) {
    return foundTools({ found, isWhole, isWeak, howToCall: 'they can be called by name now.', about });
  }
  const named = session.gateway ? withGatewayNames(context, session, found) : found;
  const example = `{"name":${JSON.stringify(named[0]?.name)},"arguments":{…}}`;
  const howToCall = isWhole
    ? `call one with ${CALL_TOOL}: its name, and arguments as its inputSchema requires, as in ${example}`
    : `call one with ${CALL_TOOL}, as ${example}`;
  if (!session.gateway) return foundTools({ found: named, isWhole, isWeak, howToCall, about });
  const readOnly = found.map((tool) => isKnownReadOnly(context, call, tool));
  const marked = isWhole ? '"readOnly" is true' : 'marked readOnly';
  const alsoRead = readOnly.includes(true) ? `; with ${CALL_TOOL_READ} where ${marked}` : '';
  return foundTools({ found: named, isWhole, isWeak, howToCall: `${howToCall}${alsoRead}`, about, readOnly });
}

/**
 * Returns the instructions of the servers of found tools that this session has not received yet: its system prompt
 * could not contain them. Those that do not fit are added by the next search that finds a tool of their server.
 */
function newInstructions(
  context: CallContext,
  { session }: Call,
  found: readonly Tool[],
): readonly Instructions[] {
  const { instructed } = session;
  const { direct } = deferralFor(context, session);
  const given: Instructions[] = [];
  let chars = 0;
  for (const server of new Set(found.map((tool) => tool.server))) {
    // They may name tools that the session does not have.
    if (!offersContent(session, server)) continue;
    const text = context.catalog.listing(server)?.instructions;
    if (text === undefined || text.trim() === '' || instructed.get(server) === text) continue;
    // Servers with directly listed tools are in the instructions from the start.
    if (direct.some((tool) => tool.server === server)) continue;
    chars += text.length;
    if (chars > MAX_INSTRUCTIONS_CHARS) break;
    instructed.set(server, text);
    given.push({ server, text });
  }
  return given;
}

async function offeredTools(
  context: CallContext,
  { session }: Call,
  query: string,
  wanted: number,
): Promise<{ readonly found: readonly Tool[]; readonly isWeak: boolean }> {
  const { offers } = session;
  const hits = await searchFor(context, session)(query, offers === undefined ? wanted : MAX_SEARCHED);
  const snapshot = snapshotFor(context, session);
  const offered = hits.filter(
    ({ tool }) => offers === undefined || offers(tool.server, snapshot.ruleNames(tool).assigned),
  );
  const isWeak = offered[0]?.weak === true;
  const { withoutTail } = await import('../catalog/search/tool-index.ts');
  const found = withoutTail(offered.slice(0, isWeak ? Math.min(wanted, NEAREST) : wanted)).map(
    ({ tool }) => tool,
  );
  return { found, isWeak };
}

function withGatewayNames(context: CallContext, session: Session, found: readonly Tool[]): readonly Tool[] {
  const snapshot = snapshotFor(context, session);
  return found.map((tool) => ({
    ...tool,
    name: snapshot.nameOf(tool, context.gatewayNaming) ?? tool.name,
  }));
}

/** True if every call of a tool only reads; rules with conditions depend on arguments. */
function isKnownReadOnly(context: CallContext, { session }: Call, tool: Tool): boolean {
  const spec = context.connection(tool.server, session)?.spec;
  if (spec === undefined) return false;
  const names = context.catalog.snapshot.ruleNames(tool);
  return isReadOnly({ tool, spec, names, settings: context.settings(), started: context.started });
}

interface Found {
  readonly found: readonly Tool[];
  /** True for complete definitions. */
  readonly isWhole: boolean;
  /** True if nothing fits well. */
  readonly isWeak: boolean;
  readonly howToCall: string;
  readonly about: readonly Instructions[];
  readonly readOnly?: readonly boolean[];
}

/** One line for each tool: its signature, or its definition as JSON. */
function foundTools({ found, isWhole, isWeak, howToCall, about, readOnly = [] }: Found): CallResult {
  const lines = found.map((tool, at) => {
    const isReadOnlyTool = readOnly[at] === true;
    if (!isWhole) return summaryOf(tool, isReadOnlyTool ? ' readOnly' : '');
    const { name, description, inputSchema } = tool;
    return JSON.stringify({ name, description, ...(isReadOnlyTool ? { readOnly: true } : {}), inputSchema });
  });
  const count = found.length === 1 ? '1 tool' : `${found.length} tools`;
  const head = isWeak ? `Nothing fits well. The nearest: ${count}` : `${count} found`;
  const text = `${head}; ${howToCall}\n${lines.join('\n')}`;
  if (about.length === 0) return { content: [{ type: 'text', text }], isError: false };
  // A separate block: readers parse every line of the first one as a tool.
  const instructions = `Instructions of the servers of these tools:\n\n${joinInstructions(about)}`;
  const content = [text, instructions].map((each) => ({ type: 'text', text: each }) as const);
  return { content, isError: false };
}

function nothing(query: string): CallResult {
  const text = `No tool matches ${JSON.stringify(query)}. Try other words, or fewer; the description of ${TOOL_SEARCH} lists what there is.`;
  return { content: [{ type: 'text', text }], isError: false };
}

// Pipeline stage: records in the search usage that a tool found by a search was called.

export const recordUsage: Stage = (context, next) => (call) =>
  call.session.found.size === 0 ? next(call) : learning(context, call, next);

async function learning(context: CallContext, call: Call, next: Handler): ReturnType<Handler> {
  const { tool } = resolvedCall(call);
  const id = toolId(tool);
  const result = await next(call);
  const query = call.session.found.get(id);
  if (query !== undefined && !result.isError) {
    call.session.found.delete(id);
    context.searchUsage?.learn(query, tool.name);
  }
  return result;
}
