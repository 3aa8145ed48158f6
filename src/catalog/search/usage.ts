/** Search usage: counts which tools were called after which query terms, for ranking. */

import { MAX_QUERY_CHARS, parseQuery } from './query.ts';
import { termsOf } from './terms.ts';

/** For each term of past queries, how often each tool (by its full name) was called after it. */
export type UsageCounts = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** Limits on stored data; the least recently used terms and the least used tools are dropped first. */
const MAX_TERMS = 4000;
const MAX_TOOLS_PER_TERM = 16;
/** Counts are halved when one reaches this, so that old usage fades. */
const MAX_COUNT = 64;
/** Number of calls after a term that gives half of the maximum weight. */
const HALF_TRUST = 1;

/** Returns the counts after a call of a tool that this query had found. */
export function addUse(counts: UsageCounts, query: string, tool: string): UsageCounts {
  const parsed = parseQuery(query.slice(0, MAX_QUERY_CHARS));
  if (parsed.kind === 'select') return counts;
  const next = new Map(counts);
  for (const term of new Set(termsOf(parsed.text))) {
    const tools = new Map(next.get(term));
    tools.set(tool, (tools.get(tool) ?? 0) + 1);
    // Deleted and set again: the order of the map is the order of last use.
    next.delete(term);
    next.set(term, bounded(tools));
  }
  for (const term of next.keys()) {
    if (next.size <= MAX_TERMS) break;
    next.delete(term);
  }
  return next;
}

function bounded(tools: Map<string, number>): Map<string, number> {
  let entries = [...tools];
  if (entries.some(([, count]) => count >= MAX_COUNT))
    entries = entries.map(([tool, count]) => [tool, count / 2]);
  return new Map(entries.sort((a, b) => b[1] - a[1]).slice(0, MAX_TOOLS_PER_TERM));
}

/**
 * Scores past use for each tool from 0 to 1: the share of the query's terms (by weight) after which the tool was
 * called; lower for terms after which other tools were called, and for terms seen once.
 */
export function usageScores(
  counts: UsageCounts,
  terms: readonly { readonly term: string; readonly weight: number }[],
): Map<string, number> {
  const scores = new Map<string, number>();
  for (const { term, weight } of terms) {
    const tools = counts.get(term);
    if (!tools) continue;
    let total = 0;
    for (const count of tools.values()) total += count;
    for (const [tool, count] of tools) {
      const share = (count / total) * (count / (count + HALF_TRUST));
      scores.set(tool, (scores.get(tool) ?? 0) + weight * share);
    }
  }
  return scores;
}
