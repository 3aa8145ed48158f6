/** Builds the results of a tool search for programs. */

import type { SearchHit } from '../catalog/search/tool-index.ts';
import { PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';

/** A tool that was found, as `search --json` prints it. */
export interface SearchResult {
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly description: string;
  /** The estimated probability that this tool is the right one. */
  readonly score: number;
  /** Set on every result of a search in which nothing fits well. */
  readonly weak?: true;
  /** Score relative to the best result, which has 1. */
  readonly relevance: number;
  /** The words of the query that were found in each part of the tool. */
  readonly why?: readonly { readonly field: string; readonly words: readonly string[] }[];
}

/** Checks that a value is a string: plain JavaScript often passes values straight from a model. */
export function givenText(what: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw new PlugboardError('INVALID_ARGUMENTS', `The ${what} is not a text`);
}

export function searchResult({
  tool: { name, server, tool, description },
  score,
  relevance,
  weak,
  why,
}: SearchHit): SearchResult {
  return { name, server, tool, description, score, relevance, ...defined({ weak, why }) };
}
