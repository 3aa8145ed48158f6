/** The entry point `@plugboard/tool-search`: an index over the tools of any agent, without a host. */

import { buildIndex, type Reason } from '../catalog/search/tool-index.ts';
import { addUse, type UsageCounts } from '../catalog/search/usage.ts';
import type { Tool } from '../catalog/tool.ts';

export type { Reason } from '../catalog/search/tool-index.ts';
export type { UsageCounts } from '../catalog/search/usage.ts';

/** A tool to be found: the definition that a model would get, in the form of MCP. */
export interface SearchableTool {
  readonly name: string;
  /** For people; searched too. */
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** The names and descriptions of its parameters are searched. */
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  /** The server or group that it belongs to; a query may name it. */
  readonly server?: string | undefined;
}

/** A tool that was found. */
export interface Found<Each extends SearchableTool> {
  readonly tool: Each;
  /** From 0 to 1, comparable within one search only. */
  readonly score: number;
  /** Score relative to the best result, which has 1. */
  readonly relevance: number;
  /** The query's words that were found, by part of the tool. */
  readonly why?: readonly Reason[] | undefined;
}

/** Options of a search. */
export interface FindOptions {
  /** Most results; default 5, at most 100. */
  readonly limit?: number | undefined;
}

/** An index over the tools of one agent. */
export interface ToolSearch<Each extends SearchableTool> {
  readonly size: number;
  /**
   * Returns the tools that fit a query, the best first. `+word` requires a word; `select:a,b` returns tools by name.
   */
  search(query: string, options?: FindOptions): readonly Found<Each>[];
  /** Records that a tool was called after a query: later searches rank it higher. */
  used(query: string, tool: Each): void;
  /** The recorded use, to be stored and passed to `createToolSearch` again. */
  readonly usage: UsageCounts;
}

/** Options of an index. */
export interface ToolSearchOptions {
  /** Use that an earlier index recorded. */
  readonly usage?: UsageCounts | undefined;
}

/**
 * Builds an index over tools, with a ranker and word vectors that were trained for this: nothing is downloaded, and
 * nothing leaves the process. A changed list of tools needs a new index; 500 tools take some milliseconds.
 *
 * @param tools - The definitions of the tools.
 * @param options - Use that an earlier index recorded.
 * @returns The index.
 * @example
 * const index = createToolSearch([
 *   { name: 'git_log', description: 'Shows the commits of a repository.' },
 *   { name: 'send_mail', description: 'Sends an e-mail.' },
 * ]);
 * index.search('history of the project')[0]?.tool.name; // → 'git_log'
 */
export function createToolSearch<Each extends SearchableTool>(
  tools: readonly Each[],
  options: ToolSearchOptions = {},
): ToolSearch<Each> {
  const given = new Map<Tool, Each>(tools.map((tool) => [toTool(tool), tool]));
  const index = buildIndex([...given.keys()]);
  let { usage = new Map() } = options;
  return {
    size: tools.length,
    search(query, { limit } = {}) {
      const hits = index.search(query, { usage, ...(limit === undefined ? {} : { limit }) });
      return hits.flatMap(({ tool, ...hit }) => {
        const found = given.get(tool);
        return found === undefined ? [] : [{ tool: found, ...hit }];
      });
    },
    used(query, { name }) {
      usage = addUse(usage, query, name);
    },
    get usage() {
      return usage;
    },
  };
}

function toTool({ name, title, description = '', inputSchema = {}, server = '' }: SearchableTool): Tool {
  return { name, tool: name, server, description, inputSchema, ...(title === undefined ? {} : { title }) };
}
