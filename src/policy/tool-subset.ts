/** Selects the tools that a session may use, by server and by name. */

import { type Spellings, toolMatcher } from './approval.ts';

/** Which tools of which servers a session has. */
export interface ToolSubset {
  /** Only tools of these servers. */
  readonly servers?: readonly string[] | undefined;
  /** Only these tools: names in any spelling, or patterns such as `mcp__github__get_*`. */
  readonly include?: readonly string[] | undefined;
  /** Without these tools, even if `include` has them. */
  readonly exclude?: readonly string[] | undefined;
}

export type Offers = (server: string, names: Spellings) => boolean;

/** Compiles a subset; undefined if it excludes nothing. */
export function compileSubset({ servers, include, exclude }: ToolSubset = {}): Offers | undefined {
  if (servers === undefined && include === undefined && exclude === undefined) return undefined;
  const wanted = servers === undefined ? undefined : new Set(servers);
  const included = include?.map((rule) => toolMatcher(rule, 'allow'));
  const excluded = exclude?.map((rule) => toolMatcher(rule, 'refuse')) ?? [];
  return (server, names) =>
    (wanted === undefined || wanted.has(server)) &&
    (included === undefined || included.some((matches) => matches(names))) &&
    !excluded.some((matches) => matches(names));
}
