/**
 * What it costs to give 1,000 tools to each provider: converted for the first time after a warm start, and asked
 * for again when nothing changed.
 *
 *   node bench/adapters.mjs [folder of the search benchmark]
 *
 * With the folder, the tools are real ones of its catalogs; without it, made-up ones of usual size.
 */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const TOOLS = 1_000;
const ROUNDS = 15;
const TARGET_MS = 50;

const temp = mkdtempSync(join(tmpdir(), 'plugboard-adapters-'));
try {
  const outfile = join(temp, 'adapters.mjs');
  const entryPoints = ['src/adapters/index.ts'];
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' });
  const adapters = await import(pathToFileURL(outfile).href);
  const [folder = '../shared/toolsearch'] = process.argv.slice(2);
  const real = realTools(join(folder, 'catalogs'));
  report('made-up tools', madeUpTools(), adapters);
  if (real.length >= TOOLS) report('tools of real servers', real, adapters);
} finally {
  rmSync(temp, { recursive: true, force: true });
}

function report(title, definitions, adapters) {
  const text = JSON.stringify(definitions.map(({ inputSchema }) => inputSchema));
  console.log(
    `\n${definitions.length} ${title}, ${Math.round(text.length / 1024)} KB of schemas; target ${TARGET_MS} ms\n`,
  );
  console.log('| adapter | first, median CPU ms | best | unchanged |\n|---|---|---|---|');
  for (const [name, make] of Object.entries(looks(adapters))) {
    const rounds = Array.from({ length: ROUNDS }, () => measure(make, definitions));
    // The first rounds warm the compiler up.
    const warm = rounds.slice(5).sort((a, b) => a.first - b.first);
    const median = warm[Math.floor(warm.length / 2)];
    console.log(
      `| ${name} | ${median.first.toFixed(1)} | ${warm[0].first.toFixed(1)} | ${median.again.toFixed(3)} |`,
    );
  }
}

/** Each adapter as a function that looks at all its tools. */
function looks({ toAiSdk, toAnthropic, toGemini, toLangChain, toOpenAI }) {
  return {
    toAiSdk: (host) => {
      const tools = toAiSdk(host);
      return () => Object.keys(tools);
    },
    toOpenAI: (host) => {
      const openai = toOpenAI(host);
      return () => openai.tools;
    },
    'toOpenAI, not strict': (host) => {
      const openai = toOpenAI(host, { strict: false });
      return () => openai.tools;
    },
    toAnthropic: (host) => {
      const anthropic = toAnthropic(host);
      return () => anthropic.tools;
    },
    toGemini: (host) => {
      const gemini = toGemini(host);
      return () => gemini.tools;
    },
    toLangChain: (host) => {
      const tools = toLangChain(host);
      return () => tools.length;
    },
  };
}

function measure(make, definitions) {
  // New objects each time: nothing can be remembered of them.
  const tools = structuredClone(definitions);
  const host = { tools: () => tools, call: () => Promise.reject(new Error('nobody calls')) };
  const start = cpuMs();
  const look = make(host);
  look();
  const middle = cpuMs();
  look();
  return { first: middle - start, again: cpuMs() - middle };
}

/** Of this process: others on the machine do not count. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function madeUpTools() {
  return Array.from({ length: TOOLS }, (_, i) => ({
    name: `mcp__server_${i % 40}__tool_${i}`,
    server: `server_${i % 40}`,
    tool: `tool_${i}`,
    description: 'Lists what there is in a place, newest first, and can be told how much of it is wanted.',
    inputSchema: {
      type: 'object',
      properties: {
        place: { type: 'string', description: 'Where to look.' },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 10, description: 'How many at most.' },
        state: { type: 'string', enum: ['open', 'closed', 'all'], description: 'Which of them.' },
        labels: { type: 'array', items: { type: 'string' }, description: 'Only those with these labels.' },
      },
      required: ['place'],
    },
  }));
}

function realTools(catalogs) {
  if (!existsSync(catalogs)) return [];
  const files = readdirSync(catalogs).filter((file) => /^(coding|azure-2026|livemcp)/.test(file));
  const lines = files.flatMap((file) => readFileSync(join(catalogs, file), 'utf8').split('\n'));
  return lines
    .filter((line) => line !== '')
    .slice(0, TOOLS)
    .map((line, i) => {
      const { server, name, description, inputSchema } = JSON.parse(line);
      return { name: `tool_${i}`, server, tool: name, description, inputSchema };
    });
}
