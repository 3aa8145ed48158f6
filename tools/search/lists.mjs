/** What the ranker learns from and is judged by: queries with the features of their candidates. */

import { random } from './data.mjs';
import { mean, meanOfCore, percent, scoreRanking } from './metrics.mjs';
import { trainRanker } from './ranker.mjs';

/** How many queries of the large sets the ranker learns from. */
const MAX_QUERIES_PER_SET = 400;

/** A fold's queries among their catalogs' tools and `distractors`, measured with vectors that never saw their answers. */
export function measure({ queries, catalogs, distractors, vectors, fold, src, seed }) {
  const next = random(seed);
  const sizes = {};
  for (const q of queries) sizes[q.set] = (sizes[q.set] ?? 0) + 1;
  const kept = queries.filter((q) => next() <= MAX_QUERIES_PER_SET / sizes[q.set] && q.fold === fold);
  const lists = [];
  for (const catalog of new Set(kept.map((q) => q.catalog))) {
    const tools = [...catalogs[catalog], ...distractors].map((t) => t.tool);
    const matcher = new src.Matcher(tools, vectors);
    for (const query of kept.filter((q) => q.catalog === catalog)) {
      const question = matcher.question(query.query);
      const { list: candidates, coverage } = matcher.candidates(question);
      const ids = candidates.map((c) => tools[c.position].name);
      lists.push({
        query,
        asked: { weights: question.weights, terms: question.terms, coverage },
        ids,
        features: candidates.map((c) => c.features),
        relevant: ids.map((id) => query.relevant.includes(id)),
        every: query.labels === 'all',
      });
    }
  }
  return lists;
}

/** Larger sets count for more than small ones, but not by as much as they are larger (`evenness` 1: all the same). */
export function weigh(lists, { others, evenness }) {
  const sizes = {};
  for (const { query } of lists) sizes[query.set] = (sizes[query.set] ?? 0) + 1;
  for (const list of lists) {
    list.weight = (list.query.core ? 1 : others) * (100 / sizes[list.query.set]) ** evenness;
  }
}

/** The catalog in which the queries of another one have no answer. */
const ELSEWHERE = {
  coding: 'livemcp',
  livemcp: 'coding',
  'azure-2026': 'coding',
  'azure-2025': 'livemcp',
  mcpproxy: 'toolalpaca',
  metatool: 'coding',
  bfcl: 'livemcp',
  toolalpaca: 'coding',
};

/** A fold's queries asked of catalogs that do not have their servers: nothing there is right. */
export function measureUnanswerable({ queries, catalogs, ...rest }) {
  const sourcesOf = (catalog) => new Set(catalogs[catalog].map((t) => t.source));
  const asked = queries.flatMap((q) => {
    const catalog = ELSEWHERE[q.catalog];
    const own = catalogs[q.catalog].filter((t) => q.relevant.includes(t.tool.name));
    const there = sourcesOf(catalog);
    return own.some((t) => there.has(t.source)) ? [] : [{ ...q, catalog, relevant: [] }];
  });
  return measure({ queries: asked, catalogs, ...rest });
}

/** Prints what weights do on lists that they were learnt without: `part` says what is held out together. */
export function reportHeldOut(title, lists, part, { seed, log, limits }) {
  const scores = {};
  const heldOut = [];
  for (const held of new Set(lists.map(part))) {
    const weights = trainRanker({ lists: lists.filter((list) => part(list) !== held), seed, limits });
    for (const { query, features, ids } of lists.filter((list) => part(list) === held)) {
      const s = features.map((f) => weights.reduce((sum, w, k) => sum + w * f[k], 0));
      const ranked = [...s.keys()].sort((a, b) => s[b] - s[a]).map((i) => ids[i]);
      scores[query.set] ??= [];
      scores[query.set].push(scoreRanking(ranked, query.relevant, query.labels));
    }
    heldOut.push({ held, weights });
  }
  const rows = Object.fromEntries(Object.entries(scores).map(([set, all]) => [set, mean(all)]));
  log(`${title.padEnd(40)}  R@1    R@5   nDCG`);
  for (const [set, row] of Object.entries(rows)) log(`  ${set.padEnd(38)}${percent(row)}`);
  log(`  ${'mean of the seven'.padEnd(38)}${percent(meanOfCore(rows))}`);
  return heldOut;
}
