/**
 * Measures tool search on servers that no training data contains, next to its BM25F and plain BM25:
 *
 *   node bench/search-blind.mjs [data folder] [--json] [--misses]
 *
 * The queries of bench/search-blind were written before any ranker was run on them. Each ranker is measured on their
 * 808 tools alone and, if the data folder is there, with the 1,513 tools of its coding catalog.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DEFAULT_DATA, loadCatalog } from '../tools/search/data.mjs';
import { areaUnderCurve, mean, percent, scoreRanking } from '../tools/search/metrics.mjs';
import { importSearch, PROJECT } from '../tools/search/project.mjs';
import { record } from './records.mjs';
import { rankers } from './search-rankers.mjs';

const FOLDER = join(PROJECT, 'bench', 'search-blind');
const KINDS = { keywords: ['kw'], tasks: ['task'], paraphrases: ['para'], 'wrong terms': ['wrong'] };
const LANGUAGES = ['de', 'es', 'fr', 'pt', 'zh', 'ja'];
const UNANSWERABLE = 'none';

const json = process.argv.includes('--json');
const data = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? DEFAULT_DATA;
const search = await importSearch(
  'tool-index.ts',
  'search-model.ts',
  'search-fields.ts',
  'terms.ts',
  'stem.ts',
  'bm25f.ts',
);
const model = search.decodeModel(readFileSync(join(PROJECT, 'assets', 'tool-search.bin')));
const queries = readQueries();
const tools = readTools();
const catalogs = { 'their tools': tools };
if (existsSync(join(data, 'catalogs')))
  catalogs['with 1,513 others'] = [...tools, ...loadCatalog(data, 'coding')];

const { plain, bm25f, plugboard } = rankers(search, model);
const result = {};
for (const [size, all] of Object.entries(catalogs)) {
  result[size] = {
    'plain BM25': measured(plain(all)),
    BM25F: measured(bm25f(all)),
    plugboard: measured(plugboard(all), process.argv.includes('--misses')),
  };
}
if (json) console.log(JSON.stringify(result));
else print();

/** A ranker returns `{ name, score }`, best first. */
function measured(rank, showMisses = false) {
  const rows = queries.map((query) => {
    const hits = rank(query.text);
    const ranked = hits.map((hit) => hit.name);
    const answerable = query.relevant.length > 0;
    const row = {
      ...query,
      answerable,
      score: hits[0]?.score ?? 0,
      ...scoreRanking(ranked, query.relevant, 'any'),
    };
    if (showMisses && answerable && row.r1 === 0)
      console.log(
        `${query.kind}\t${query.text}\t${query.relevant.join('|')}\t${ranked.slice(0, 3).join(' ')}`,
      );
    return row;
  });
  const answerable = rows.filter((row) => row.answerable);
  const english = answerable.filter((row) => !LANGUAGES.includes(row.kind));
  const foreign = answerable.filter((row) => LANGUAGES.includes(row.kind));
  const groups = Object.entries(KINDS).map(([title, kinds]) => [
    title,
    mean(answerable.filter((row) => kinds.includes(row.kind))),
  ]);
  return {
    all: mean(answerable),
    english: mean(english),
    ...Object.fromEntries(groups),
    'other languages': mean(foreign),
    ...Object.fromEntries(LANGUAGES.map((kind) => [kind, mean(foreign.filter((row) => row.kind === kind))])),
    auc: areaUnderCurve(rows.map(({ score, answerable: positive }) => ({ score, positive }))),
    firstRight: rows.map(({ score, r1, answerable: isAnswerable }) => ({
      score,
      right: isAnswerable ? r1 : 0,
    })),
  };
}

function readQueries() {
  return readFileSync(join(FOLDER, 'queries.tsv'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [kind, text, relevant = ''] = line.split('\t');
      return { kind, text, relevant: kind === UNANSWERABLE ? [] : relevant.split('|') };
    });
}

function readTools() {
  const lines = gunzipSync(readFileSync(join(FOLDER, 'tools.jsonl.gz')))
    .toString('utf8')
    .split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ id, name, ...tool }) => ({ ...tool, name: id, tool: name }));
}

function print() {
  for (const [size, rows] of Object.entries(result)) {
    console.log(`\n${size.padEnd(30)}  R@1    R@5   nDCG   AUC`);
    for (const [name, { all, auc }] of Object.entries(rows)) {
      console.log(`${name.padEnd(30)}${percent(all)}  ${(100 * auc).toFixed(1)}`);
      record({ measure: `search, blind set, nDCG@10, ${size}`, name, value: all.ndcg * 100, unit: '%' });
    }
    const { auc: _auc, firstRight, all: _all, ...parts } = rows.plugboard;
    for (const [title, row] of Object.entries(parts)) console.log(`  ${title.padEnd(28)}${percent(row)}`);
    console.log('  first result right, by its score:');
    for (const [from, to] of [
      [0, 0.2],
      [0.2, 0.4],
      [0.4, 0.6],
      [0.6, 0.8],
      [0.8, 1.01],
    ]) {
      const bin = firstRight.filter(({ score }) => score >= from && score < to);
      const right = bin.reduce((sum, row) => sum + row.right, 0);
      console.log(`    ${from} to ${Math.min(1, to)}: ${right} of ${bin.length}`);
    }
  }
}
