/**
 * Learns what tool search knows and writes `assets/tool-search.bin`.
 *
 *   node tools/search/train.mjs [data folder]
 *
 * Word vectors are learnt once for each fold without that fold's targets; the features of a fold's queries are measured
 * with vectors that never saw their answers. The ranker learns from those, and the figures printed are of targets held
 * out from both. The vectors that ship are then learnt from all folds. Seeded: the same data gives the same file.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CATALOGS, DEFAULT_DATA, foldOf, loadCatalog, loadQueries, random, SETS } from './data.mjs';
import { encodeModel, quantise } from './encode.mjs';
import { GLOVE_DIMENSIONS, loadGlove } from './glove.mjs';
import { mean, meanOfCore, percent, scoreRanking } from './metrics.mjs';
import { importSearch, PROJECT } from './project.mjs';
import { trainRanker } from './ranker.mjs';
import { startVectors, trainVectors } from './vectors.mjs';

const FOLDS = 4;
const SEED = 7;
const EPOCHS = 6;
/** No target teaches the vectors with more of its queries than this, however many it has. */
const MAX_QUERIES_PER_TARGET = 8;
/** How many queries of the large sets, which look less like a host's, the ranker learns from. */
const MAX_QUERIES_PER_SET = 400;
const OTHER_SETS_WEIGHT = 0.4;
const HARD_NEGATIVE_DEPTH = 12;

const data = process.argv[2] ?? DEFAULT_DATA;
const src = await importSearch(
  'terms.ts',
  'fields.ts',
  'bm25f.ts',
  'embedding.ts',
  'features.ts',
  'matcher.ts',
);
const log = (line) => console.error(line);

const catalogs = Object.fromEntries(
  CATALOGS.map((name) => [name, loadCatalog(data, name).map((tool) => analysed(name, tool))]),
);
const queries = Object.entries(SETS).flatMap(([set, about]) =>
  loadQueries(data, set).map((q) => ({
    ...q,
    ...about,
    set,
    fold: foldOf(q.group, FOLDS),
    terms: unique(src.termsOf(q.query)),
  })),
);
const thesaurus = readFileSync(join(PROJECT, 'tools', 'search', 'thesaurus.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) =>
    line
      .split(',')
      .map((phrase) => src.termsOf(phrase))
      .filter((terms) => terms.length > 0),
  );
log(
  `${Object.values(catalogs).flat().length} tools, ${queries.length} queries, ${thesaurus.length} groups of synonyms`,
);

const start = startVectors({
  documents: Object.values(catalogs)
    .flat()
    .map((tool) => tool.fields),
  queries: queries.map((q) => q.terms),
  glove: loadGlove(60_000),
  dimensions: GLOVE_DIMENSIONS,
  analyse: src.termsOf,
});
const labelled = labelledQueries();

const lists = [];
for (let fold = 0; fold < FOLDS; fold++) {
  log(`fold ${fold + 1} of ${FOLDS}`);
  lists.push(...measured(vectorsWithout(fold), fold));
}
weigh(lists);
report();
const weights = trainRanker({ lists, seed: SEED });
const file = join(PROJECT, 'assets', 'tool-search.bin');
log('all folds');
const bytes = encodeModel({
  vectors: vectorsWithout(undefined),
  terms: start.terms,
  features: src.FEATURES,
  weights,
});
writeFileSync(file, bytes);
log(`${file}: ${(bytes.length / 1e6).toFixed(2)} MB`);

function analysed(catalog, tool) {
  const texts = src.fieldTexts(tool);
  return {
    tool,
    server: `${catalog}/${tool.server}`,
    fields: src.FIELDS.map((field) => src.termsOf(texts[field])),
    firstSentence: src.termsOf(texts.description.split(/(?<=[.!?])\s|\n/)[0] ?? ''),
  };
}

function unique(terms) {
  return [...new Set(terms)];
}

/** The queries with their answers and with wrong answers that share words with them. */
function labelledQueries() {
  const out = [];
  const seen = new Map();
  const indexes = {};
  for (const q of queries) {
    const tools = catalogs[q.catalog];
    indexes[q.catalog] ??= lexicalIndex(tools);
    const key = `${q.set} ${q.group}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
    const relevant = tools.filter((t) => q.relevant.includes(t.tool.name)).map((t) => t.fields);
    if (relevant.length === 0 || seen.get(key) > MAX_QUERIES_PER_TARGET) continue;
    const negatives = indexes[q.catalog](q.terms)
      .map((position) => tools[position])
      .filter((t) => !q.relevant.includes(t.tool.name))
      .map((t) => t.fields);
    out.push({ catalog: q.catalog, fold: q.fold, terms: q.terms, relevant, negatives });
  }
  return out;
}

function lexicalIndex(tools) {
  const vocabulary = new src.Vocabulary();
  const bm25f = new src.Bm25f(
    tools.map((t) => t.fields.map((terms) => terms.map((term) => vocabulary.addTerm(term)))),
    vocabulary.size,
  );
  return (terms) => {
    const scores = bm25f.scores(terms.map((term) => vocabulary.idOf(term) ?? -1));
    return [...scores.keys()].sort((a, b) => scores[b] - scores[a]).slice(0, HARD_NEGATIVE_DEPTH);
  };
}

function vectorsWithout(fold) {
  const values = trainVectors({
    start,
    tools: Object.values(catalogs).flat(),
    labelled: labelled.filter((l) => l.fold !== fold),
    thesaurus,
    dimensions: GLOVE_DIMENSIONS,
    termShares: src.termShares,
    epochs: EPOCHS,
    labelRepeats: 1,
    seed: SEED,
    log,
  });
  return quantise(start.terms, values, GLOVE_DIMENSIONS);
}

/** A fold's queries with the features of their candidates. */
function measured(vectors, fold) {
  const next = random(SEED);
  const matchers = {};
  const counts = {};
  for (const q of queries) counts[q.set] = (counts[q.set] ?? 0) + 1;
  const out = [];
  for (const q of queries) {
    if (next() > MAX_QUERIES_PER_SET / counts[q.set] || q.fold !== fold) continue;
    const tools = catalogs[q.catalog];
    matchers[q.catalog] ??= new src.Matcher(
      tools.map((t) => t.tool),
      vectors,
    );
    const matcher = matchers[q.catalog];
    const candidates = matcher.candidates(matcher.question(q.query));
    const ids = candidates.map((c) => tools[c.position].tool.name);
    out.push({
      query: q,
      fold,
      ids,
      features: candidates.map((c) => c.features),
      relevant: ids.map((id) => q.relevant.includes(id)),
      every: q.labels === 'all',
    });
  }
  return out;
}

/** Large sets count for more than small ones, but not by as much as they are larger. */
function weigh(all) {
  const counts = {};
  for (const { query } of all) counts[query.set] = (counts[query.set] ?? 0) + 1;
  for (const list of all)
    list.weight = (list.query.core ? 1 : OTHER_SETS_WEIGHT) * Math.sqrt(100 / counts[list.query.set]);
}

/** Each fold, and each catalog, ranked with weights that were learnt without it. */
function report() {
  const held = { 'targets held out': (list) => list.fold, 'catalogs held out': (list) => list.query.catalog };
  for (const [title, key] of Object.entries(held)) {
    const scores = {};
    for (const part of new Set(lists.map(key))) {
      const w = trainRanker({ lists: lists.filter((list) => key(list) !== part), seed: SEED });
      for (const list of lists.filter((l) => key(l) === part)) {
        const s = list.features.map((f) => w.reduce((sum, x, k) => sum + x * f[k], 0));
        const ranked = [...s.keys()].sort((a, b) => s[b] - s[a]).map((i) => list.ids[i]);
        scores[list.query.set] ??= [];
        scores[list.query.set].push(scoreRanking(ranked, list.query.relevant, list.query.labels));
      }
    }
    const rows = Object.fromEntries(Object.entries(scores).map(([set, all]) => [set, mean(all)]));
    log(`${title.padEnd(20)}   R@1    R@5   nDCG`);
    for (const [set, row] of Object.entries(rows)) log(`  ${set.padEnd(18)}  ${percent(row)}`);
    log(`  ${'mean of the seven'.padEnd(18)}  ${percent(meanOfCore(rows))}`);
  }
}
