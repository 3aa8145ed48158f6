/** The search index over a snapshot's tools: built once per version. */

import type { Tool } from '../tool.ts';
import { confidenceInputs, probability, WEAK_SCORE } from './confidence.ts';
import { Matcher } from './matcher.ts';
import { type ParsedQuery, parseQuery } from './query.ts';
import type { Question } from './question.ts';
import type { Field } from './search-fields.ts';
import { lexicalModel, loadModel, type SearchModel, weightsFor } from './search-model.ts';
import {
  IN_DESCRIPTION,
  IN_NAME,
  IN_PARAMETER_TEXTS,
  IN_PARAMETERS,
  IN_SERVER,
  type Profile,
} from './search-profile.ts';
import { wordsOf } from './split-words.ts';
import { stem } from './stem.ts';
import { isStopWord, type Vocabulary } from './terms.ts';
import { type UsageCounts, usageScores } from './usage.ts';

export interface SearchHit {
  readonly tool: Tool;
  /** The estimated probability that this tool is the right one. */
  readonly score: number;
  /** Set on every result of a search in which nothing fits well. */
  readonly weak?: true;
  /** Score relative to the best result, which has 1. */
  readonly relevance: number;
  /** The query's words that were found, by part of the tool. */
  readonly why?: readonly Reason[];
}

export interface SearchOptions {
  readonly limit?: number;
  /** Search usage on this machine; without it, past use does not affect the ranking. */
  readonly usage?: UsageCounts;
  /** Finds a tool by another spelling of its name, for `select:`. */
  readonly find?: (name: string) => Tool | undefined;
}

export interface ToolIndex {
  readonly size: number;
  search(query: string, options?: SearchOptions): SearchHit[];
}

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 100;
/** Maximum score from search usage. Words seen once, common words and words shared by tools add far less. */
const USAGE_WEIGHT = 10;

/**
 * Builds an index over tools.
 *
 * @example
 * const index = buildIndex(host.tools());
 * index.search('look at the history of a repository', { limit: 3 })[0]?.tool.name // 'mcp__git__git_log'
 */
export function buildIndex(
  tools: readonly Tool[],
  model: SearchModel = loadModel() ?? lexicalModel(),
): ToolIndex {
  const matcher = new Matcher(tools, model.vectors, model.glossary);
  const weights = weightsFor(model, tools.length);
  return {
    size: tools.length,
    search(query, { limit = DEFAULT_LIMIT, usage, find } = {}) {
      const parsed = parseQuery(query);
      // `select:` returns all named tools; the limit applies to ranked results.
      if (parsed.kind === 'select') return select(tools, parsed.names, find).slice(0, MAX_LIMIT);
      const count = Math.min(MAX_LIMIT, Math.max(0, Math.floor(limit)));
      const hits = rank({ tools, matcher, weights, confidence: model.confidence, parsed, usage, count });
      return hits.length > 0 ? hits : byNameAlone(tools, parsed.text).slice(0, count);
    },
  };
}

/** Returns exactly the named tools in the given order; by full name in any spelling, or by the server's own name. */
function select(
  tools: readonly Tool[],
  names: readonly string[],
  find: SearchOptions['find'] = (name) => tools.find((tool) => tool.name === name),
): SearchHit[] {
  const found = new Set<Tool>();
  for (const name of names) {
    const exact = find(name);
    for (const tool of exact === undefined ? tools.filter((each) => each.tool === name) : [exact]) {
      found.add(tool);
    }
  }
  return [...found].map((tool) => ({ tool, score: 1, relevance: 1 }));
}

/** A query of only stop words matches nothing, unless it is a tool's name: `give`, `who am i`. */
function byNameAlone(tools: readonly Tool[], text: string): SearchHit[] {
  const words = wordsOf(text);
  if (words.length === 0 || !words.every(isStopWord)) return [];
  const wanted = words.join(' ');
  return tools
    .filter((tool) => wordsOf(tool.tool).join(' ') === wanted)
    .map((tool) => ({ tool, score: 1, relevance: 1, why: [{ field: 'name', words }] }));
}

interface RankInput {
  readonly tools: readonly Tool[];
  readonly matcher: Matcher;
  readonly weights: Float32Array;
  readonly confidence: Float32Array;
  readonly parsed: ParsedQuery & { readonly kind: 'rank' };
  readonly usage: UsageCounts | undefined;
  readonly count: number;
}

function rank({ tools, matcher, weights, confidence, parsed, usage, count }: RankInput): SearchHit[] {
  const question = matcher.question(parsed.text);
  const searchUsage = usage ? searchUsageOf(usage, tools, question) : new Map<number, number>();
  const { list, coverage } = matcher.candidates(question, { musts: parsed.musts, also: searchUsage.keys() });
  const scored = list.map(({ position, features }) => {
    const past = searchUsage.get(position) ?? 0;
    let score = USAGE_WEIGHT * past;
    for (let k = 0; k < features.length; k++) score += (features[k] as number) * (weights[k] as number);
    return { position, score, features, past };
  });
  scored.sort((a, b) => b.score - a.score || a.position - b.position);
  const first = scored[0];
  if (first === undefined) return [];
  const scores = scored.map(({ score }) => score);
  const inputs = confidenceInputs({ ...question, coverage }, { scores, first: first.features });
  const certainty = Math.max(first.past, probability(inputs, confidence));
  const asked = askedWords(parsed.text, matcher.vocabulary);
  return scored.slice(0, count).map(({ position, score }) => ({
    tool: tools[position] as Tool,
    score: certainty * Math.exp(score - first.score),
    // From the raw sums, which fall more slowly than probabilities.
    relevance: first.score > 0 ? Math.max(0, score / first.score) : score === first.score ? 1 : 0,
    ...(certainty < WEAK_SCORE ? { weak: true as const } : {}),
    why: reasonsFor(asked, matcher.profile(position)),
  }));
}

/** Probability relative to the best result below which results are unrelated to it. */
const TAIL_SHARE = 0.002;

/** Returns the results up to where their scores fall off. */
export function withoutTail<Hit extends { readonly score: number }>(hits: readonly Hit[]): readonly Hit[] {
  const least = TAIL_SHARE * (hits[0]?.score ?? 0);
  const end = hits.findIndex(({ score }) => score < least);
  return end < 0 ? hits : hits.slice(0, end);
}

/** Maps usage scores to tool positions; tools that no longer exist are ignored. */
function searchUsageOf(
  usage: UsageCounts,
  tools: readonly Tool[],
  { words, weights }: Question,
): Map<number, number> {
  const searchUsage = new Map<number, number>();
  const asked = words.map((term, i) => ({ term, weight: weights[i] as number }));
  const scores = usageScores(usage, asked);
  if (scores.size === 0) return searchUsage;
  for (let position = 0; position < tools.length; position++) {
    const score = scores.get((tools[position] as Tool).name);
    if (score !== undefined) searchUsage.set(position, score);
  }
  return searchUsage;
}

// Explains a search result: the query's words found in each part of the tool.

export interface Reason {
  readonly field: Field;
  /** As written in the query. */
  readonly words: readonly string[];
}

const FIELD_OF_BIT: readonly (readonly [number, Field])[] = [
  [IN_NAME, 'name'],
  [IN_SERVER, 'server'],
  [IN_DESCRIPTION, 'description'],
  [IN_PARAMETERS, 'parameters'],
  [IN_PARAMETER_TEXTS, 'parameterTexts'],
];

/** A query's word with its term in an index; computed once per query. */
export interface AskedWord {
  readonly word: string;
  readonly term: number;
}

export function askedWords(query: string, vocabulary: Vocabulary): AskedWord[] {
  return [...new Set(wordsOf(query))].flatMap((word) => {
    const term = isStopWord(word) ? undefined : vocabulary.idOf(stem(word));
    return term === undefined ? [] : [{ word, term }];
  });
}

/** Returns the reasons; empty if the tool was found only semantically. */
export function reasonsFor(asked: readonly AskedWord[], profile: Profile): Reason[] {
  const reasons: Reason[] = [];
  for (const [bit, field] of FIELD_OF_BIT) {
    const found = asked.filter(({ term }) => ((profile.where.get(term) ?? 0) & bit) !== 0);
    if (found.length > 0) reasons.push({ field, words: found.map(({ word }) => word) });
  }
  return reasons;
}
