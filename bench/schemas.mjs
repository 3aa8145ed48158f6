/**
 * Converts the tools of real servers, and the catalogs of the search benchmark, for every provider, and prints
 * how many were accepted as they are, repaired or quarantined.
 *
 *   node bench/schemas.mjs [folder of the search benchmark] [--no-servers] [--only=name,…]
 *
 * The servers are installed into a temporary cache and asked over stdio; nothing is called but `tools/list`.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { build } from 'esbuild';

const PROVIDERS = ['openai', 'openai-strict', 'anthropic', 'gemini', 'ai-sdk'];
/** Installing takes most of it. */
const SERVER_DEADLINE_MS = 240_000;
const MAX_LIST_PAGES = 20;

const temp = mkdtempSync(join(tmpdir(), 'plugboard-schemas-'));

/** Servers that start without an account; values they insist on are made up. */
const SERVERS = {
  everything: ['@modelcontextprotocol/server-everything'],
  filesystem: ['@modelcontextprotocol/server-filesystem', temp],
  memory: ['@modelcontextprotocol/server-memory'],
  'sequential-thinking': ['@modelcontextprotocol/server-sequential-thinking'],
  playwright: ['@playwright/mcp'],
  'chrome-devtools': ['chrome-devtools-mcp'],
  context7: ['@upstash/context7-mcp'],
  mongodb: ['mongodb-mcp-server', '--connectionString', 'mongodb://127.0.0.1:1/x'],
  shadcn: ['shadcn', 'mcp'],
  git: ['@cyanheads/git-mcp-server'],
  notion: ['@notionhq/notion-mcp-server'],
  kubernetes: ['mcp-server-kubernetes'],
  github: ['@modelcontextprotocol/server-github'],
  slack: ['@modelcontextprotocol/server-slack'],
  'brave-search': ['@modelcontextprotocol/server-brave-search'],
  puppeteer: ['@modelcontextprotocol/server-puppeteer'],
  postgres: ['@modelcontextprotocol/server-postgres', 'postgresql://127.0.0.1:1/x'],
  codex: ['@openai/codex@0.151.0', 'mcp-server'],
  'claude-code': ['@anthropic-ai/claude-code', 'mcp', 'serve'],
  'basic-vanillajs': ['@modelcontextprotocol/server-basic-vanillajs', '--stdio'],
  map: ['@modelcontextprotocol/server-map', '--stdio'],
};
const MADE_UP = {
  SLACK_BOT_TOKEN: 'x',
  SLACK_TEAM_ID: 'x',
  BRAVE_API_KEY: 'x',
  NOTION_TOKEN: 'x',
  PUPPETEER_SKIP_DOWNLOAD: '1',
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1',
};

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'plugboard-bench', version: '0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

async function load(entry) {
  const file = join(temp, `${basename(entry, '.ts')}.mjs`);
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return import(pathToFileURL(file).href);
}

/** All tools of one server, as it sent them. */
async function listTools([spec, ...args]) {
  const child = spawn('npx', ['-y', spec, ...args], {
    cwd: temp,
    env: {
      PATH: process.env.PATH,
      HOME: temp,
      npm_config_cache: join(temp, 'npm'),
      ...MADE_UP,
      ...npmSettings(),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-500);
  });
  child.stdin.on('error', () => {});
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    try {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
    } catch {
      // Noise on stdout.
    }
  });
  const ended = new Promise((_, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer in time')), SERVER_DEADLINE_MS);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`exit ${code}: ${stderr.trim().split('\n').at(-1) ?? ''}`));
    });
    child.once('error', reject);
  });
  ended.catch(() => {});
  let id = 0;
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const request = (method, params) => {
    id += 1;
    const answer = new Promise((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    return Promise.race([answer, ended]);
  };
  try {
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'plugboard-bench', version: '0' },
    };
    const opened = await request('initialize', hello);
    const meta = opened.error === undefined ? {} : { _meta: MODERN_META };
    if (opened.error === undefined) send({ method: 'notifications/initialized' });
    const tools = [];
    let cursor;
    for (let page = 0; page < MAX_LIST_PAGES; page += 1) {
      const { result, error } = await request('tools/list', { ...meta, ...(cursor ? { cursor } : {}) });
      if (error) throw new Error(`tools/list: ${error.message}`);
      tools.push(...(result.tools ?? []));
      cursor = result.nextCursor;
      if (!cursor) break;
    }
    return tools;
  } finally {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

/** Where packages come from is the user's own npm configuration. */
function npmSettings() {
  const entries = Object.entries(process.env).filter(([key]) => /^npm_config_(?!cache)/i.test(key));
  const userconfig = [process.env.npm_config_userconfig, join(process.env.HOME ?? '', '.npmrc')].find(
    (file) => file && existsSync(file),
  );
  return { ...Object.fromEntries(entries), ...(userconfig ? { npm_config_userconfig: userconfig } : {}) };
}

function readCatalog(file) {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

const { acceptTool } = await load('src/catalog/accept.ts');
const { convert } = await load('src/catalog/schemas/convert.ts');
const { faultsOf } = await load('test/catalog/schemas/rules.ts');

const reasons = new Map();
const faults = new Map();

function measure(name, tools) {
  const row = { name, tools: tools.length, rejected: 0, bytes: 0, ms: 0, cells: {} };
  for (const provider of PROVIDERS)
    row.cells[provider] = { asIs: 0, repaired: 0, quarantined: 0, refused: 0 };
  for (const raw of tools) {
    row.bytes += Buffer.byteLength(JSON.stringify(raw.inputSchema ?? null));
    const accepted = acceptTool(raw);
    if ('reject' in accepted) {
      row.rejected += 1;
      count(reasons, `${name}: ${accepted.name ?? '?'}: ${accepted.reject}`);
      continue;
    }
    for (const provider of PROVIDERS) {
      const cell = row.cells[provider];
      const begin = performance.now();
      const outcome = convert(accepted.tool.inputSchema, provider);
      row.ms += performance.now() - begin;
      if (!outcome.ok) {
        cell.quarantined += 1;
        count(reasons, `${name}: ${raw.name} (${provider}): ${outcome.reason}`);
        continue;
      }
      // The dialect and an empty `required` say nothing.
      const { $schema: _dialect, ...written } = raw.inputSchema ?? {};
      if (written.required?.length === 0) delete written.required;
      if (isDeepStrictEqual(outcome.schema, written)) cell.asIs += 1;
      else cell.repaired += 1;
      const found = faultsOf(outcome.schema, provider);
      if (found.length > 0) {
        cell.refused += 1;
        count(faults, `${name}: ${raw.name} (${provider}): ${found[0]}`);
      }
    }
  }
  return row;
}

function count(map, key) {
  map.set(key, (map.get(key) ?? 0) + 1);
}

function print(rows) {
  console.log(`| tools of | tools | rejected | KB | ms per tool | ${PROVIDERS.join(' | ')} |`);
  console.log(`|---|---|---|---|---|${PROVIDERS.map(() => '---|').join('')}`);
  for (const { name, tools, rejected, bytes, ms, cells } of rows) {
    const figures = PROVIDERS.map((provider) => {
      const { asIs, repaired, quarantined, refused } = cells[provider];
      return `${asIs} / ${repaired} / ${quarantined}${refused ? ` (${refused} refused)` : ''}`;
    });
    const perTool = tools === 0 ? '–' : (ms / tools / PROVIDERS.length).toFixed(2);
    console.log(
      `| ${name} | ${tools} | ${rejected} | ${Math.round(bytes / 1024)} | ${perTool} | ${figures.join(' | ')} |`,
    );
  }
}

try {
  const flags = process.argv.slice(2).filter((arg) => arg.startsWith('--'));
  const [folder = '../shared/toolsearch'] = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
  const only = flags
    .find((flag) => flag.startsWith('--only='))
    ?.slice('--only='.length)
    .split(',');
  const rows = [];
  if (!flags.includes('--no-servers')) {
    for (const [name, command] of Object.entries(SERVERS)) {
      if (only && !only.includes(name)) continue;
      try {
        rows.push(measure(name, await listTools(command)));
      } catch (error) {
        console.error(`${name}: ${error.message}`);
      }
    }
  }
  const catalogs = join(folder, 'catalogs');
  if (!only && existsSync(catalogs)) {
    for (const file of readdirSync(catalogs))
      rows.push(measure(`catalog ${basename(file, '.jsonl')}`, readCatalog(join(catalogs, file))));
  }
  console.log(
    'Each cell: accepted as is / repaired / quarantined; "refused" is what the independent rules of the tests object to.\n',
  );
  print(rows);
  for (const [title, map] of [
    ['Rejected or quarantined', reasons],
    ['Refused', faults],
  ]) {
    if (map.size > 0)
      console.log(
        `\n${title}:\n${[...map.keys()]
          .slice(0, 40)
          .map((key) => `- ${key}`)
          .join('\n')}`,
      );
  }
} finally {
  rmSync(temp, { recursive: true, force: true });
}
