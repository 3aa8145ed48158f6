/**
 * What a task costs in tokens of tool definitions, with and without search: 500 tools of real servers, a window of
 * 200,000 tokens, and tasks that each need three tools. What a search answers with counts as well.
 *
 *   node bench/tokens.mjs [folder of the search benchmark]
 */

import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost } from '../dist/index.js';
import { scriptedServer } from '../dist/testing/index.js';
import { record } from './records.mjs';

const TOOLS = 500;
const TOOLS_PER_TASK = 3;
const TASKS = 20;
const WINDOW_TOKENS = 200_000;
const CHARS_PER_TOKEN = 4;
const MAX_QUERY_CHARS = 200;
const TARGET_PERCENT = 5;

const [folder = '../shared/toolsearch'] = process.argv.slice(2);
const tools = realTools(join(folder, 'catalogs'));
const home = await mkdtemp(join(tmpdir(), 'plugboard-tokens-'));
const host = await openHost();
try {
  await host.ready();
  const { all } = host.definitionTokens();
  const rows = [];
  for (let task = 0; task < TASKS; task++) rows.push(await runTask(host, all, task));
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const percent = (sum('with') / sum('without')) * 100;
  console.log(
    `${TOOLS} tools of ${new Set(tools.map(({ server }) => server)).size} servers, ${all} tokens of definitions\n`,
  );
  console.log(
    '| tasks | requests | tokens without search | with search | share | found |\n|---|---|---|---|---|---|',
  );
  console.log(
    `| ${TASKS} | ${sum('requests')} | ${sum('without')} | ${sum('with')} | ${percent.toFixed(1)} % (target ${TARGET_PERCENT} %) | ${sum('found')} of ${TASKS * TOOLS_PER_TASK} |`,
  );
  const measure = `tokens of definitions, ${TOOLS} tools`;
  record({
    measure,
    name: 'with search',
    value: sum('with'),
    unit: 'tokens',
    ratio: percent / 100,
    base: 'without',
  });
} finally {
  await host.close();
  await rm(home, { recursive: true, force: true });
}

/** A model that searches for a tool, calls it, and so on; every request carries the definitions given at that moment. */
async function runTask(host, all, task) {
  const session = host.session({ approve: () => 'allow' });
  let requests = 0;
  let spent = 0;
  let found = 0;
  const request = () => {
    requests++;
    spent += cost(session.tools());
  };
  for (let step = 0; step < TOOLS_PER_TASK; step++) {
    const wanted = tools[(task * 37 + step * 131) % tools.length];
    request();
    const [sentence = wanted.name] = wanted.description.split(/[.\n]/).filter((each) => each.trim() !== '');
    const answer = await session.call('tool_search', { query: sentence.slice(0, MAX_QUERY_CHARS) });
    // The answer stays in the conversation, and so is paid for in every request that follows.
    const read = Math.ceil(JSON.stringify(answer.content).length / CHARS_PER_TOKEN);
    spent += read * (TOOLS_PER_TASK * 2 - requests + 1);
    if (session.tools().some(({ server, tool }) => server === wanted.server && tool === wanted.name)) found++;
    request();
  }
  request();
  return { requests, without: all * requests, with: spent, found };
}

function cost(given) {
  const texts = given.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, inputSchema }),
  );
  return Math.ceil(texts.join('').length / CHARS_PER_TOKEN);
}

function openHost() {
  const servers = grouped();
  const scripted = new Map(
    [...servers].map(([name, own]) => {
      const server = scriptedServer({ name });
      for (const { name: tool, description, inputSchema } of own)
        server.tool(tool, { description, inputSchema });
      return [name, server];
    }),
  );
  return createHost({
    home,
    servers: Object.fromEntries([...scripted].map(([name, inProcess]) => [name, { inProcess }])),
    model: { contextTokens: WINDOW_TOKENS },
    toolSearch: true,
    watch: false,
  });
}

function grouped() {
  const groups = new Map();
  for (const tool of tools) groups.set(tool.server, [...(groups.get(tool.server) ?? []), tool]);
  return groups;
}

function realTools(catalogs) {
  const files = readdirSync(catalogs).filter((file) => /^(coding|azure-2026|livemcp)/.test(file));
  const lines = files.flatMap((file) => readFileSync(join(catalogs, file), 'utf8').split('\n'));
  const all = lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  // Spread over all of them, so that many servers take part.
  const stride = Math.floor(all.length / TOOLS);
  return all.filter((_, at) => at % stride === 0).slice(0, TOOLS);
}
