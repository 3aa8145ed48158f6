/**
 * Measures tool search beside other rankers, on the same data:
 *
 *   npm run bench:search [data folder] [-- --json]
 *
 * Quality on every set, quality with 16,000 tools, what learning from use adds, and the time that index and query take.
 * The ranker learnt from the visible queries: what it does on targets that it never saw is what tools/search/train.mjs
 * prints, and what the sealed half shows.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_DATA, loadCatalog, loadQueries, SETS } from '../tools/search/data.mjs';
import { mean, meanOfCore, percent, scoreRanking } from '../tools/search/metrics.mjs';
import { importSearch, PROJECT } from '../tools/search/project.mjs';
import { record } from './records.mjs';
import { rankers } from './search-rankers.mjs';

const MINISEARCH = 'minisearch@7.2.0';
const DEPTH = 10;
const MORE_BUILDS = 3;
/** Short and long queries; whole tasks among them. */
const TIMED_SETS = ['coding-agents', 'vendor-evals', 'livemcp-task', 'azure-mcp-2026'];

const json = process.argv.includes('--json');
const data = process.argv.slice(2).find((argument) => !argument.startsWith('--')) ?? DEFAULT_DATA;
const search = await importSearch(
  'tool-index.ts',
  'search-model.ts',
  'search-fields.ts',
  'terms.ts',
  'stem.ts',
  'bm25f.ts',
  'usage.ts',
);
const model = search.decodeModel(readFileSync(join(PROJECT, 'assets', 'tool-search.bin')));

/** Each takes tools and gives a function from a query to the names of the best. */
const scored = rankers(search, model);
const RANKERS = {
  'plain BM25 (name, description)': namesOf(scored.plain),
  'minisearch, defaults': minisearch(),
  'Codex-like BM25 (stems, stop words, schema text)': namesOf(scored.codex),
  BM25F: namesOf(scored.bm25f),
  plugboard: namesOf(scored.plugboard),
};

function namesOf(build) {
  return (tools) => {
    const rank = build(tools);
    return (query) => rank(query).map((hit) => hit.name);
  };
}

const catalogs = new Map();
const catalog = (name) => {
  if (!catalogs.has(name)) catalogs.set(name, loadCatalog(data, name));
  return catalogs.get(name);
};

const result = {
  // First, while the heap is small.
  times: {
    '1,513 tools': times(catalog('coding')),
    '16,475 tools': times([...catalog('coding'), ...catalog('toucan')]),
  },
  quality: Object.fromEntries(Object.entries(RANKERS).map(([name, build]) => [name, quality(build, [])])),
  crowded: Object.fromEntries(
    ['BM25F', 'plugboard'].map((name) => [name, quality(RANKERS[name], catalog('toucan'))]),
  ),
  learning: learning(),
};
if (json) console.log(JSON.stringify(result));
else print(result);

function quality(build, distractors) {
  const rows = {};
  const built = new Map();
  for (const [set, { catalog: name, labels }] of Object.entries(SETS)) {
    const queries = loadQueries(data, set);
    if (queries.length === 0) continue;
    if (!built.has(name)) built.set(name, build([...catalog(name), ...distractors]));
    rows[set] = mean(queries.map((q) => scoreRanking(built.get(name)(q.query), q.relevant, labels)));
  }
  return { rows, mean: meanOfCore(rows) };
}

/** Each target's first query was searched and its tool called; how the target's other queries do then. */
function learning() {
  const before = {};
  const after = {};
  for (const [set, { catalog: name, labels, core }] of Object.entries(SETS)) {
    if (!core) continue;
    const index = search.buildIndex(catalog(name), model);
    let usage = new Map();
    const seen = new Set();
    const rest = [];
    for (const q of loadQueries(data, set)) {
      if (seen.has(q.group)) rest.push(q);
      else usage = search.addUse(usage, q.query, q.relevant[0]);
      seen.add(q.group);
    }
    if (rest.length === 0) continue;
    const score = (q, options) =>
      scoreRanking(
        index.search(q.query, { limit: DEPTH, ...options }).map((hit) => hit.tool.name),
        q.relevant,
        labels,
      );
    before[set] = mean(rest.map((q) => score(q, {})));
    after[set] = mean(rest.map((q) => score(q, { usage })));
  }
  return {
    before: { rows: before, mean: meanOfCore(before) },
    after: { rows: after, mean: meanOfCore(after) },
  };
}

/** The first index of a process is made before the engine has compiled anything, and is what a command pays; then the best of some more. */
function times(tools) {
  const t0 = performance.now();
  const index = search.buildIndex(tools, model);
  const firstMs = performance.now() - t0;
  const againMs = Math.min(
    ...Array.from({ length: MORE_BUILDS }, () => {
      const t = performance.now();
      search.buildIndex(tools, model);
      return performance.now() - t;
    }),
  );
  const all = TIMED_SETS.flatMap((set) => loadQueries(data, set));
  const ms = all.map(({ query }) => {
    const t = performance.now();
    index.search(query, { limit: 5 });
    return performance.now() - t;
  });
  ms.sort((a, b) => a - b);
  return { firstMs, againMs, p50Ms: ms[ms.length >> 1], p99Ms: ms[Math.floor(ms.length * 0.99)] };
}

/** Installed into a cache on first use: a peer to measure against, not a dependency. */
function minisearch() {
  const cache = join(tmpdir(), 'plugboard-bench-cache');
  mkdirSync(cache, { recursive: true });
  if (!existsSync(join(cache, 'node_modules', 'minisearch'))) {
    writeFileSync(join(cache, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', MINISEARCH], {
      cwd: cache,
      stdio: 'ignore',
    });
  }
  const loaded = createRequire(join(cache, 'package.json'))('minisearch');
  const MiniSearch = loaded.default ?? loaded;
  return (tools) => {
    const index = new MiniSearch({ fields: ['tool', 'server', 'description'] });
    index.addAll(
      tools.map((tool, id) => ({ id, tool: tool.tool, server: tool.server, description: tool.description })),
    );
    return (query) =>
      index
        .search(query)
        .slice(0, DEPTH)
        .map((hit) => tools[hit.id].name);
  };
}

function print({ quality: measured, crowded, learning: learnt, times: took }) {
  const line = (title, row) => console.log(`${title.padEnd(52)}${percent(row)}`);
  console.log(`${'mean of the seven sets'.padEnd(52)}  R@1    R@5   nDCG`);
  for (const [name, { mean: row }] of Object.entries(measured)) {
    line(name, row);
    record({ measure: 'search, nDCG@10, visible half', name, value: row.ndcg * 100, unit: '%' });
  }
  console.log('\nplugboard, set by set');
  for (const [set, row] of Object.entries(measured.plugboard.rows)) line(`  ${set}`, row);
  console.log('\nwith 14,962 more tools, set by set: BM25F (R@1 R@5 nDCG), then plugboard');
  for (const [set, row] of Object.entries(crowded.BM25F.rows)) {
    console.log(`  ${set.padEnd(24)}${percent(row)}     ${percent(crowded.plugboard.rows[set])}`);
  }
  console.log(
    '\nlearning from use: the first query of each target was followed by a call of it; its other queries',
  );
  line('  before', learnt.before.mean);
  line('  after', learnt.after.mean);
  console.log('\ntimes');
  for (const [title, { firstMs, againMs, p50Ms, p99Ms }] of Object.entries(took)) {
    console.log(
      `  ${title}: index ${firstMs.toFixed(0)} ms the first time, ${againMs.toFixed(0)} ms again, query p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`,
    );
    record({ measure: 'search, query p99', name: title, value: p99Ms, unit: 'ms' });
    record({ measure: 'search, index the first time', name: title, value: firstMs, unit: 'ms' });
  }
}
