/** Decides which definitions a model gets directly and which it has to search for (CAT-7). */

import type { Settings } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { Snapshot } from './catalog.ts';
import { RESULT_ID, RESULT_TOOL } from './result-tool-definition.ts';
import { estimateDefinition } from './tokens.ts';
import { isForModel, type Tool, toolId } from './tool.ts';
import type { NameForm } from './tool-names.ts';

export type ToolSearchMode = NonNullable<Settings['toolSearch']>;

/** Share of the context window that definitions may use before they are deferred. */
const DEFAULT_SHARE_PERCENT = 10;
export const DEFAULT_CONTEXT_TOKENS = 200_000;
export const TOOL_SEARCH = 'tool_search';
/** Calls a found tool for callers whose tool list may be fixed. */
export const CALL_TOOL = 'call_tool';
/** The same for tools that are known to be read-only, so that agents can approve it once. */
export const CALL_TOOL_READ = 'call_tool_read';
/** Tools of a gateway that offers an agent; reserved, because the plain form lists names without their server. */
export const AGENT = 'agent';
export const AGENT_REPLY = 'agent_reply';

/** Limits on the listing in the search tool's description. */
const MAX_LISTED_SERVERS = 60;
const MAX_LISTED_TOOLS_PER_SERVER = 8;
const MAX_LISTING_CHARS = 4_000;

export interface Deferral {
  /** Given to the model directly. */
  readonly direct: readonly Tool[];
  /** Found through `tool_search`, by identity (`toolId`); empty if everything is given directly. */
  readonly deferred: ReadonlyMap<string, Tool>;
  /** Only for user interfaces of servers: never given to a model. */
  readonly appTools: readonly Tool[];
  readonly searchTool: Tool | undefined;
  /** The search tool for gateway clients, which call found tools through `call_tool`. */
  readonly gatewaySearchTool: Tool | undefined;
  /** Estimated tokens of all definitions together. */
  readonly definitionTokens: number;
}

export interface DeferralOptions {
  readonly mode: ToolSearchMode;
  readonly contextTokens: number;
  /** True for tools that are always given directly. */
  readonly alwaysLoad: (server: string, tool: Tool) => boolean;
  /** Returns the estimated tokens of a definition; default: not remembered. */
  readonly costOf?: (tool: Tool) => number;
  /** True if the caller may use the tool (default: all). */
  readonly offers?: (tool: Tool) => boolean;
}

/** Parses `ENABLE_TOOL_SEARCH`; throws for an invalid value. */
export function parseMode(text: string): ToolSearchMode {
  const word = text.trim().toLowerCase();
  if (word === 'true' || word === '1') return true;
  if (word === 'false' || word === '0') return false;
  if (word === 'auto') return 'auto';
  const share = /^auto:(\d{1,3}(?:\.\d+)?)$/.exec(word)?.[1];
  if (share !== undefined && Number(share) <= 100) return `auto:${Number(share)}`;
  throw new PlugboardError('CONFIG_INVALID', `ENABLE_TOOL_SEARCH is ${JSON.stringify(text)}`, {
    hint: 'It takes auto, auto:N (a percentage), true or false.',
  });
}

/** Returns the deferral of the newest snapshot, computed once per version. */
export function createDeferral(snapshot: () => Snapshot, options: () => DeferralOptions): () => Deferral {
  let made: { readonly version: number; readonly deferral: Deferral } | undefined;
  // Each snapshot has new tools with the same schemas.
  const costs = new WeakMap<object, number>();
  const costOf = (tool: Tool): number =>
    textCost(tool) + getOrMake(costs, tool.inputSchema, () => schemaCost(tool));
  return () => {
    const now = snapshot();
    if (made?.version !== now.version)
      made = { version: now.version, deferral: defer(now, { costOf, ...options() }) };
    return made.deferral;
  };
}

/** Returns the tools for a model, with the host's `own`: in stable order, then `loaded` ones (ids) as found. */
export function visibleTools(
  deferral: Deferral,
  loaded: Iterable<string>,
  own: readonly Tool[] = [],
): readonly Tool[] {
  const { direct, searchTool } = deferral;
  const found = foundTools(deferral, loaded);
  if (searchTool === undefined)
    return own.length === 0 && found.length === 0 ? direct : [...direct, ...own, ...found];
  return [...direct, ...own, searchTool, ...found];
}

/** Returns the deferred tools among these identities, and `result`; tools that no longer exist are omitted. */
function foundTools({ deferred }: Deferral, loaded: Iterable<string>): readonly Tool[] {
  return [...loaded].flatMap((id) => (id === RESULT_ID ? RESULT_TOOL : (deferred.get(id) ?? [])));
}

export function defer(snapshot: Snapshot, options: DeferralOptions): Deferral {
  const { mode, contextTokens, alwaysLoad, offers, costOf = definitionCost } = options;
  const all = offers === undefined ? snapshot.tools : snapshot.tools.filter(offers);
  const tools = all.every(isForModel) ? all : all.filter(isForModel);
  const appTools = tools === all ? [] : all.filter((tool) => !isForModel(tool));
  const definitionTokens = tools.reduce((sum, tool) => sum + costOf(tool), 0);
  const candidates = tools.filter((tool) => !alwaysLoad(tool.server, tool));
  const on = typeof mode === 'boolean' ? mode : definitionTokens > (contextTokens * shareOf(mode)) / 100;
  if (!on || candidates.length === 0) {
    const none = { searchTool: undefined, gatewaySearchTool: undefined };
    return { direct: tools, deferred: new Map(), appTools, ...none, definitionTokens };
  }
  const found = listing(candidates);
  return {
    direct: tools.filter((tool) => alwaysLoad(tool.server, tool)),
    appTools,
    deferred: new Map(candidates.map((tool) => [toolId(tool), { ...tool, deferred: true }])),
    searchTool: searchTool(found, 'with how to call them'),
    gatewaySearchTool: searchTool(found, `are called through ${CALL_TOOL}, with the name given there`),
    definitionTokens,
  };
}

/** Estimates the tokens of a definition: name, description and parameters. */
export function definitionCost(tool: Tool): number {
  return textCost(tool) + schemaCost(tool);
}

function textCost({ name, description }: Tool): number {
  return estimateDefinition(name) + estimateDefinition(description);
}

function schemaCost({ inputSchema }: Tool): number {
  return estimateDefinition(JSON.stringify(inputSchema));
}

function shareOf(mode: 'auto' | `auto:${number}`): number {
  return mode === 'auto' ? DEFAULT_SHARE_PERCENT : Number(mode.slice('auto:'.length));
}

/** Creates the search tool: an ordinary tool, so that every model can use it. Its description lists tools to find. */
function searchTool(found: string, howToCall: string): Tool {
  return {
    name: TOOL_SEARCH,
    server: '',
    tool: TOOL_SEARCH,
    description:
      'Finds tools that are not loaded yet. Say in a few words what you want to do; the best matches come back ' +
      `with their signatures and ${howToCall}. "select:name_a,name_b" loads tools by ` +
      'their exact names, with complete definitions; "+word" makes a word mandatory.\n\n' +
      found,
    inputSchema: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: 'What you want to do, "+word" for musts, or "select:" and exact names.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 20,
          description: 'How many tools to load at most (5).',
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

function listing(deferred: readonly Tool[]): string {
  const byServer = new Map<string, string[]>();
  for (const { server, tool } of deferred) getOrMake(byServer, server, () => []).push(tool);
  const lines: string[] = [];
  let chars = 0;
  for (const [server, tools] of [...byServer].slice(0, MAX_LISTED_SERVERS)) {
    const more = tools.length - MAX_LISTED_TOOLS_PER_SERVER;
    const line = `- ${server}: ${tools.slice(0, MAX_LISTED_TOOLS_PER_SERVER).join(', ')}${more > 0 ? `, ${more} more` : ''}`;
    chars += line.length;
    if (chars > MAX_LISTING_CHARS) break;
    lines.push(line);
  }
  const left = byServer.size - lines.length;
  if (left > 0) lines.push(`- and ${left} more servers`);
  return `${deferred.length} more tools can be found this way:\n${lines.join('\n')}`;
}

/** Lists the tools of a session under the names that gateway clients see. */
export type GatewayView = (
  snapshot: Snapshot,
  deferral: Deferral,
  loaded: Iterable<string>,
  /** True for a client that shows user interfaces of servers: it calls their tools too. */
  isWithApps: boolean,
) => readonly Tool[];

/** Renames direct tools once per snapshot, so that the same list is the same array. */
export function createGatewayView(form: NameForm): GatewayView {
  const withApps = new WeakMap<readonly Tool[], readonly Tool[]>();
  const withoutApps = new WeakMap<readonly Tool[], readonly Tool[]>();
  return (snapshot, deferral, loaded, isWithApps) => {
    const rename = (tool: Tool): Tool => ({ ...tool, name: snapshot.nameOf(tool, form) ?? tool.name });
    const direct = getOrMake(isWithApps ? withApps : withoutApps, deferral.direct, () =>
      [...deferral.direct, ...(isWithApps ? deferral.appTools : [])].map(rename),
    );
    const { gatewaySearchTool } = deferral;
    const found = foundTools(deferral, loaded).map(rename);
    if (gatewaySearchTool === undefined) return found.length === 0 ? direct : [...direct, ...found];
    return [...direct, gatewaySearchTool, ...found];
  };
}
