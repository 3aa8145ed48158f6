/** Reports what servers and tools cost a model: tokens of definitions and of results, calls, and what is unused (CAT-13). */

import { compactTool } from '../catalog/compact-definition.ts';
import type { Deferral } from '../catalog/deferral.ts';
import { summaryOf } from '../catalog/signature.ts';
import type { TokenCounter } from '../catalog/token-counter.ts';
import type { Tool } from '../catalog/tool.ts';
import { groupBy } from '../lib/group-by.ts';
import type { AuditUsage, ToolUsage } from './audit-usage.ts';

const CHARS_PER_TOKEN = 4;
/** Tools in the command of a hint. */
const MAX_HINTED_TOOLS = 30;

/** Tokens of definitions in each form. */
export interface DefinitionCost {
  /** As servers define them. */
  readonly full: number;
  /** With `definitions: "compact"`. */
  readonly compact: number;
  /** Behind tool search: the line in a search result, paid only for tools that are found. */
  readonly deferred: number;
}

export interface UseCost {
  readonly calls: number;
  /** Estimated from the sizes in the audit log. */
  readonly resultTokens: number;
  /** ISO 8601. */
  readonly lastCall?: string;
}

export interface ToolCost extends UseCost {
  readonly tool: string;
  readonly definitions: DefinitionCost;
}

export interface ServerCost extends UseCost {
  readonly server: string;
  readonly definitions: DefinitionCost;
  /** Available, and not called in the period; only if the log covers all of it. */
  readonly unused: boolean;
  readonly tools: readonly ToolCost[];
}

export interface CostReport {
  /** The period of calls, in days. */
  readonly days: number;
  /** When the oldest call of the audit log was made; ISO 8601. */
  readonly since?: string;
  /** Whether tools are found by search, so that definitions cost nothing until they are found. */
  readonly search: boolean;
  /** What a model is given with each request now. */
  readonly given: number;
  readonly definitions: DefinitionCost;
  readonly servers: readonly ServerCost[];
  /** The change that saves most. */
  readonly saving?: CostSaving;
}

export interface CostSaving {
  /** Tokens with each request. */
  readonly tokens: number;
  readonly reason: string;
  /** The command, as argv. */
  readonly command: readonly string[];
}

export interface CostInput {
  readonly tools: readonly Tool[];
  readonly usage: AuditUsage;
  readonly days: number;
  /** The current time, in milliseconds since the epoch. */
  readonly now: number;
  /** Which tools are deferred. */
  readonly deferral: Pick<Deferral, 'direct' | 'searchTool'>;
  readonly count: TokenCounter;
}

const DAY_MS: number = 24 * 60 * 60 * 1000;
/** A log of fewer days does not show what is needed once a week: it gives no advice. */
export const ADVICE_DAYS = 7;

/** True if the audit log begins early enough for advice. */
export function isLongEnough(since: number | undefined, now: number): since is number {
  return since !== undefined && since <= now - ADVICE_DAYS * DAY_MS;
}

export function costReport({ tools, usage, days, now, deferral, count }: CostInput): CostReport {
  const { since } = usage;
  const isCovered = since !== undefined && since <= now - days * DAY_MS;
  const servers = [...groupBy(tools, ({ server }) => server)].map(([server, own]): ServerCost => {
    const used = usage.servers.get(server);
    const costs = own.map(
      (tool): ToolCost => ({
        tool: tool.tool,
        definitions: definitionsOf(tool, count),
        ...useOf([used?.get(tool.tool)]),
      }),
    );
    costs.sort(byTokens);
    const use = useOf([...(used?.values() ?? [])]);
    return { server, definitions: sumOf(costs), ...use, unused: isCovered && use.calls === 0, tools: costs };
  });
  servers.sort(byTokens);
  const { direct, searchTool } = deferral;
  const given = searchTool === undefined ? direct : [...direct, searchTool];
  const period = isLongEnough(since, now) && !isCovered ? `since ${dateOf(since)}` : `in ${days} days`;
  const known = isLongEnough(since, now) ? period : undefined;
  // Deferred definitions cost nothing until they are found.
  const saving = searchTool === undefined && known !== undefined ? savingIn(servers, known) : undefined;
  return {
    days,
    ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
    search: searchTool !== undefined,
    given: given.reduce((sum, tool) => sum + count(definitionText(tool)), 0),
    definitions: sumOf(servers),
    servers,
    ...(saving === undefined ? {} : { saving }),
  };
}

function byTokens(
  a: { readonly definitions: DefinitionCost },
  b: { readonly definitions: DefinitionCost },
): number {
  return b.definitions.full - a.definitions.full;
}

function definitionText({ name, description, inputSchema }: Tool): string {
  return JSON.stringify({ name, description, inputSchema });
}

function definitionsOf(tool: Tool, count: TokenCounter): DefinitionCost {
  return {
    full: count(definitionText(tool)),
    compact: count(definitionText(compactTool(tool))),
    deferred: count(summaryOf(tool)),
  };
}

function sumOf(costs: readonly { readonly definitions: DefinitionCost }[]): DefinitionCost {
  const sum = (key: keyof DefinitionCost): number =>
    costs.reduce((total, { definitions }) => total + definitions[key], 0);
  return { full: sum('full'), compact: sum('compact'), deferred: sum('deferred') };
}

function useOf(given: readonly (ToolUsage | undefined)[]): UseCost {
  const usages = given.filter((usage) => usage !== undefined);
  const calls = usages.reduce((sum, usage) => sum + usage.calls, 0);
  const chars = usages.reduce((sum, usage) => sum + usage.chars, 0);
  const lastAt = Math.max(0, ...usages.map((usage) => usage.lastAt));
  return {
    calls,
    resultTokens: Math.ceil(chars / CHARS_PER_TOKEN),
    ...(lastAt === 0 ? {} : { lastCall: new Date(lastAt).toISOString() }),
  };
}

/** Returns the server that was never called, or the tools of a server, whose removal saves most. */
function savingIn(servers: readonly ServerCost[], known: string): CostSaving | undefined {
  const savings = servers.flatMap(({ server, calls, definitions, tools }): CostSaving[] => {
    if (calls === 0)
      return [
        {
          tokens: definitions.full,
          reason: `${server} was not called ${known}`,
          command: ['plugboard', 'disable', server],
        },
      ];
    const idle = tools.filter((tool) => tool.calls === 0);
    if (idle.length === 0 || idle.length > MAX_HINTED_TOOLS) return [];
    return [
      {
        tokens: sumOf(idle).full,
        reason: `${idle.length} of the ${tools.length} tools of ${server} ${idle.length === 1 ? 'was' : 'were'} not called ${known}`,
        command: [
          'plugboard',
          'set',
          server,
          `disabledTools=${JSON.stringify(idle.map(({ tool }) => tool))}`,
        ],
      },
    ];
  });
  return savings.sort((a, b) => b.tokens - a.tokens)[0];
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length);
}
