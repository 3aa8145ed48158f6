/** All that is learnt from, as terms: the tools of every catalog, the queries with their answers, the thesaurus. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CATALOGS, foldOf, loadCatalog, loadQueries, SETS, sourceOf } from './data.mjs';
import { PROJECT } from './project.mjs';

/** No target teaches the vectors with more of its queries than this, however many it has. */
const MAX_QUERIES_PER_TARGET = 8;
/** Targets are also left out by part, while the other tools of their servers are learnt from. */
export const PARTS = 2;
/** The catalog without queries. Its servers have names like `org_github-mcp`. */
const UNLABELLED = 'toucan';
/** Wrong answers are taken from so many of a query's best by words alone. */
const HARD_NEGATIVE_DEPTH = 12;

export function loadCorpus(data, src, folds) {
  const catalogs = Object.fromEntries(
    CATALOGS.map((name) => [name, loadCatalog(data, name).map((tool) => analysed(name, tool, src, folds))]),
  );
  const queries = Object.entries(SETS).flatMap(([set, about]) => {
    const foldOfTool = new Map(catalogs[about.catalog].map(({ tool, fold }) => [tool.name, fold]));
    return loadQueries(data, set).map((q) => ({
      ...q,
      ...about,
      set,
      // A query is left out with the server of its first answer; learning skips it if any of its answers is left out.
      fold: foldOfTool.get(q.relevant[0]) ?? 0,
      part: foldOf(
        String(q.group)
          .replace(/^azmcp_/, '')
          .replace(/:+/g, ':'),
        PARTS,
      ),
      folds: new Set(q.relevant.map((id) => foldOfTool.get(id) ?? 0)),
      terms: [...new Set(src.termsOf(q.query))],
    }));
  });
  return {
    catalogs,
    tools: Object.values(catalogs).flat(),
    queries,
    labelled: labelledQueries(queries, catalogs, src),
    thesaurus: loadThesaurus(src),
  };
}

/** Returns true if a tool may not be learnt from when a fold is left out: one of its servers under any name. */
export function leftOut(corpus, fold) {
  const names = new Set(
    corpus.tools.filter((t) => t.catalog !== UNLABELLED && t.fold === fold).map((t) => t.source),
  );
  return ({ catalog, source, fold: own }) =>
    catalog === UNLABELLED ? source.split('-').some((part) => names.has(part)) : own === fold;
}

function analysed(catalog, tool, src, folds) {
  const texts = src.fieldTexts(tool);
  const source = sourceOf(catalog, tool.server);
  return {
    tool,
    catalog,
    source,
    server: `${catalog}/${tool.server}`,
    fold: foldOf(source, folds),
    fields: src.FIELDS.map((field) => src.termsOf(texts[field])),
    firstSentence: src.termsOf(texts.description.split(/(?<=[.!?])\s|\n/)[0] ?? ''),
  };
}

function loadThesaurus(src) {
  return readFileSync(join(PROJECT, 'tools', 'search', 'thesaurus.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(',').map((phrase) => src.termsOf(phrase)))
    .map((phrases) => phrases.filter((terms) => terms.length > 0));
}

/** The queries with their answers and with wrong answers that share words with them. */
function labelledQueries(queries, catalogs, src) {
  const out = [];
  const seen = new Map();
  const indexes = {};
  for (const q of queries) {
    const tools = catalogs[q.catalog];
    indexes[q.catalog] ??= lexicalIndex(tools, src);
    const target = `${q.set} ${q.group}`;
    seen.set(target, (seen.get(target) ?? 0) + 1);
    const relevant = tools.filter((t) => q.relevant.includes(t.tool.name)).map((t) => t.fields);
    if (relevant.length === 0 || seen.get(target) > MAX_QUERIES_PER_TARGET) continue;
    const negatives = indexes[q.catalog](q.terms)
      .map((position) => tools[position])
      .filter((t) => !q.relevant.includes(t.tool.name))
      .map((t) => t.fields);
    out.push({ catalog: q.catalog, part: q.part, folds: q.folds, terms: q.terms, relevant, negatives });
  }
  return out;
}

function lexicalIndex(tools, src) {
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
