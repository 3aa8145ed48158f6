/**
 * What a model reads: search answers with signatures next to complete definitions, estimates next to the o200k vocabulary,
 * and wrong calls that are repaired from their error alone.
 *
 *   node bench/diet.mjs [data folder]
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createArgumentChecker } from '../dist/call/argument-check.js';
import { definitionCost } from '../dist/catalog/deferral.js';
import { loadTokenCounter } from '../dist/catalog/token-counter.js';
import { createHost } from '../dist/index.js';
import { scriptedServer } from '../dist/testing/index.js';
import { DEFAULT_DATA, loadCatalog, loadQueries, SETS } from '../tools/search/data.mjs';
import { repaired, sample, wrongCalls } from './diet/wrong-calls.mjs';
import { record } from './records.mjs';

const SEARCHED = ['coding-agents', 'vendor-evals', 'azure-mcp-2026', 'livemcp-agent'];
const CATALOGS = ['coding', 'livemcp', 'azure-2026', 'toucan'];
const WRONG_CALLS = 500;

const [data = DEFAULT_DATA] = process.argv.slice(2);
const count = await loadTokenCounter();

console.log('| queries | definitions | signatures | smaller |\n|---|---|---|---|');
for (const set of SEARCHED) await searchAnswers(set);
console.log('\n| catalog | tools | o200k | estimate | difference |\n|---|---|---|---|---|');
for (const catalog of CATALOGS) estimates(catalog);
await wrong();

/** The same search, answered with signatures and with definitions (select: and the names that it found). */
async function searchAnswers(set) {
  const queries = loadQueries(data, set);
  if (queries.length === 0) return;
  const home = await mkdtemp(join(tmpdir(), 'plugboard-diet-'));
  const host = await createHost({
    home,
    servers: serversOf(SETS[set].catalog),
    toolSearch: true,
    watch: false,
    configuration: false,
  });
  try {
    await host.ready();
    let [whole, short] = [0, 0];
    for (const { query } of queries) {
      const session = host.session({ gateway: true });
      const signatures = await answerOf(session, query);
      const names = signatures.split('\n').flatMap((line) => /^([\w-]+)\(/.exec(line)?.[1] ?? []);
      if (names.length === 0) continue;
      short += count(signatures);
      whole += count(await answerOf(session, `select:${names.join(',')}`));
    }
    const smaller = 1 - short / whole;
    const each = (tokens) => Math.round(tokens / queries.length);
    console.log(`| ${set} (${queries.length}) | ${each(whole)} | ${each(short)} | ${percent(smaller)} |`);
    record({
      measure: `tokens of a search answer, ${set}`,
      name: 'signatures',
      value: each(short),
      unit: 'tokens',
      ratio: short / whole,
      base: 'definitions',
    });
  } finally {
    await host.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Without instructions of servers, which both answers have. */
async function answerOf(session, query) {
  const { content } = await session.call('tool_search', { query });
  return content[0].text;
}

function serversOf(catalog) {
  const groups = new Map();
  for (const tool of loadCatalog(data, catalog))
    groups.set(tool.server, [...(groups.get(tool.server) ?? []), tool]);
  return Object.fromEntries(
    [...groups].map(([name, tools]) => {
      const inProcess = scriptedServer({ name });
      for (const { tool, description, inputSchema } of tools)
        inProcess.tool(tool, { description, inputSchema });
      return [name, { inProcess }];
    }),
  );
}

function estimates(catalog) {
  let [real, estimate] = [0, 0];
  const tools = loadCatalog(data, catalog);
  for (const { server, tool, description, inputSchema } of tools) {
    const name = `mcp__${server}__${tool}`;
    real += count(name) + count(description) + count(JSON.stringify(inputSchema));
    estimate += definitionCost({ name, description, inputSchema });
  }
  const difference = estimate / real - 1;
  console.log(`| ${catalog} | ${tools.length} | ${real} | ${estimate} | ${percent(difference)} |`);
  record({
    measure: `estimated tokens, ${catalog}`,
    name: 'estimate',
    value: estimate,
    unit: 'tokens',
    ratio: estimate / real,
    base: 'o200k',
  });
}

/** Calls that are wrong in one place: the error must have that part of the schema and no other, and be enough to repair it. */
async function wrong() {
  const checker = await createArgumentChecker();
  const tools = CATALOGS.slice(0, 3).flatMap((catalog) => loadCatalog(data, catalog));
  const calls = [];
  for (const { inputSchema } of tools) {
    const valid = sample(inputSchema, inputSchema);
    // A schema that our generator cannot satisfy proves nothing.
    if (checker.checkFor(inputSchema)(valid).length > 0) continue;
    calls.push(...wrongCalls(inputSchema, valid).map((call) => ({ ...call, schema: inputSchema })));
  }
  const stride = Math.max(1, Math.floor(calls.length / WRONG_CALLS));
  const chosen = calls
    .filter((_, at) => at % stride === 0)
    .filter(({ schema, args }) => checker.checkFor(schema)(args).length > 0)
    .slice(0, WRONG_CALLS);
  const failures = [];
  let tokens = 0;
  for (const { kind, path, args, schema } of chosen) {
    const parts = checker.failedParts(schema, args);
    tokens += count(JSON.stringify(parts));
    const isExact = Object.keys(parts).length === 1 && Object.keys(parts)[0] === path;
    const again = repaired(args, parts);
    const isRepaired = checker.checkFor(schema)(again).length === 0;
    if (!isExact || !isRepaired) failures.push({ kind, path, parts, isExact, isRepaired });
  }
  const mean = Math.round(tokens / chosen.length);
  console.log(
    `\n${chosen.length} wrong calls: ${chosen.length - failures.length} have exactly the failing part and are repaired from it, ${mean} tokens each`,
  );
  for (const failure of failures.slice(0, 5)) console.log(JSON.stringify(failure).slice(0, 300));
  record({
    measure: 'wrong calls repaired from their error',
    name: 'repaired',
    value: chosen.length - failures.length,
    unit: 'calls',
    ratio: (chosen.length - failures.length) / chosen.length,
    base: 'all',
  });
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`;
}
