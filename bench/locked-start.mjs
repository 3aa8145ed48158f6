/**
 * Thirty real servers from npm: locked, started in a network namespace without routes, and timed against `npx -y`,
 * interleaved. Prints a table of each server's tools, and of the ratios of time and CPU; the limit is the same program
 * started with Node, without a lock, whose own start no lock can make shorter.
 * After `npm run build`: node bench/locked-start.mjs [rounds] [name…] [--write]
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeMachine } from './rounds.mjs';

const GOAL = 0.35;
const PAGE = fileURLToPath(new URL('../docs/lock.md', import.meta.url));
const COMMAND = fileURLToPath(new URL('../dist/bin/plugboard.cjs', import.meta.url));
const SELF = fileURLToPath(import.meta.url);

/** They list their tools without a network; keys are never used. */
const SERVERS = [
  ['@modelcontextprotocol/server-filesystem', tmpdir()],
  ['@modelcontextprotocol/server-everything'],
  ['@modelcontextprotocol/server-memory'],
  ['@modelcontextprotocol/server-sequential-thinking'],
  ['@modelcontextprotocol/server-github'],
  ['@modelcontextprotocol/server-gitlab'],
  ['@modelcontextprotocol/server-slack'],
  ['@modelcontextprotocol/server-postgres', 'postgresql://127.0.0.1:1/x'],
  ['@modelcontextprotocol/server-google-maps'],
  ['@modelcontextprotocol/server-brave-search'],
  ['@modelcontextprotocol/server-everart'],
  ['@modelcontextprotocol/server-basic-vanillajs', '--stdio'],
  ['@cyanheads/git-mcp-server'],
  ['@upstash/context7-mcp'],
  ['mongodb-mcp-server'],
  ['shadcn', 'mcp'],
  ['@playwright/mcp', '--headless'],
  ['chrome-devtools-mcp', '--headless'],
  ['@notionhq/notion-mcp-server'],
  ['mcp-server-kubernetes'],
  ['@brave/brave-search-mcp-server', '--transport', 'stdio'],
  ['tavily-mcp'],
  ['mcp-server-commands'],
  ['@eslint/mcp'],
  ['@antv/mcp-server-chart'],
  ['exa-mcp-server'],
  ['firecrawl-mcp'],
  ['figma-developer-mcp', '--stdio'],
  ['@kazuph/mcp-fetch'],
  ['@wonderwhy-er/desktop-commander'],
  ['mcp-server-code-runner'],
  ['@hubspot/mcp-server'],
  ['@xexr/mcp-libsql', '--url', `file:${join(tmpdir(), 'locked-start.db')}`],
  ['@sentry/mcp-server', '--access-token=none'],
];
const KEYS = {
  GITHUB_PERSONAL_ACCESS_TOKEN: 'none',
  GITLAB_PERSONAL_ACCESS_TOKEN: 'none',
  SLACK_BOT_TOKEN: 'none',
  SLACK_TEAM_ID: 'none',
  GOOGLE_MAPS_API_KEY: 'none',
  BRAVE_API_KEY: 'none',
  EVERART_API_KEY: 'none',
  NOTION_TOKEN: 'none',
  TAVILY_API_KEY: 'none',
  EXA_API_KEY: 'none',
  FIRECRAWL_API_KEY: 'none',
  FIGMA_API_KEY: 'none',
  PRIVATE_APP_ACCESS_TOKEN: 'none',
};
const START_MS = 60_000;

/** Connects one server in this process; prints its tools, and the time and CPU until it has ended. */
async function connectOne() {
  const { createHost } = await import('../dist/index.js');
  const { BENCH_HOME: home } = process.env;
  const cpu = cpuMs();
  const began = performance.now();
  const host = await createHost({ home, cwd: home, watch: false, connect: 'none' });
  await host.connect('server');
  const ms = performance.now() - began;
  const tools = host.inspect('server').map(({ tool }) => tool.tool);
  await host.close();
  process.stdout.write(`\n${JSON.stringify({ ms, cpu: cpuMs() - cpu, tools: tools.sort() })}\n`);
}

/** The CPU of this process and of its children that have ended. */
function cpuMs() {
  const [, rest = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const [user, system, childUser, childSystem] = rest.split(' ').slice(11, 15).map(Number);
  return (user + system + childUser + childSystem) * 10;
}

if (process.env.BENCH_HOME !== undefined) {
  await connectOne();
  process.exit(0);
}

const words = process.argv.slice(2);
const rounds = Number(words.find((arg) => /^\d+$/.test(arg)) ?? 5);
const named = words.filter((arg) => !/^(?:\d+|--write)$/.test(arg));
const work = mkdtempSync(join(tmpdir(), 'plugboard-locked-'));
const { NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
const env = { ...inherited, npm_config_cache: join(work, 'npm'), PLUGBOARD_DAEMON: '0' };

function homeOf(at, kind, launch) {
  const home = join(work, `${at}-${kind}`);
  mkdirSync(home, { recursive: true });
  const entry = { env: KEYS, startupTimeoutMs: START_MS, ...launch };
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers: { server: entry } }));
  return home;
}

/** The program of a locked package, started with Node as it is. */
function bareLaunch(home, [name, ...args]) {
  const store = join(home, 'store', 'npm');
  const [key] = readdirSync(store).filter((each) => /^[0-9a-f]{40}$/.test(each));
  const folder = join(store, key, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const short = name.split('/').at(-1);
  const file = typeof bin === 'string' ? bin : (bin[short] ?? Object.values(bin)[0]);
  return { command: process.execPath, args: [join(folder, file), ...args] };
}

function start(home, isOffline = false) {
  const program = [process.execPath, SELF];
  const line = isOffline ? ['unshare', '--map-root-user', '--net', ...program] : program;
  const { stdout, stderr } = spawnSync(line[0], line.slice(1), {
    env: { ...env, BENCH_HOME: home },
    encoding: 'utf8',
    timeout: 2 * START_MS,
  });
  const last = stdout.trim().split('\n').at(-1);
  if (!last?.startsWith('{'))
    throw new Error((stderr.match(/^.*Error: (.*)$/m)?.[1] ?? stderr.slice(-200)).trim());
  return JSON.parse(last);
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

console.log(describeMachine());
const rows = [];
for (const [at, args] of SERVERS.entries()) {
  const [name] = args;
  if (named.length > 0 && !named.includes(name)) continue;
  try {
    const launch = { command: 'npx', args: ['-y', ...args] };
    const locked = homeOf(at, 'locked', launch);
    const npx = homeOf(at, 'npx', { ...launch, directStart: false });
    execFileSync(process.execPath, [COMMAND, 'lock', '--yes'], {
      env: { ...env, PLUGBOARD_HOME: locked },
      cwd: work,
      stdio: 'ignore',
      timeout: 4 * START_MS,
    });
    const { servers } = JSON.parse(readFileSync(join(locked, 'mcp.lock.json'), 'utf8'));
    const { version, packages } = servers.server;
    // npx installs the package first.
    execFileSync('npx', ['--yes', '--package', name, '--call', 'exit 0'], {
      env,
      cwd: work,
      stdio: 'ignore',
    });
    const bare = homeOf(at, 'bare', bareLaunch(locked, args));
    const turns = [];
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? [locked, npx, bare] : [bare, npx, locked];
      const ends = new Map(order.map((home) => [home, start(home)]));
      turns.push([locked, npx, bare].map((home) => ends.get(home)));
    }
    // Not timed: some servers wait for a network that they do not need.
    const offline = start(locked, true);
    const ratioOf = (key, which = 0) => median(turns.map((ends) => ends[which][key] / ends[1][key]));
    const isSame = turns.every(([, theirs]) => offline.tools.join() === theirs.tools.join());
    const row = {
      name,
      version,
      packages: Object.keys(packages).length,
      tools: offline.tools.length,
      isSame,
      time: ratioOf('ms'),
      cpu: ratioOf('cpu'),
      limit: ratioOf('ms', 2),
      cpuLimit: ratioOf('cpu', 2),
      ms: median(turns.map(([ours]) => ours.ms)),
    };
    rows.push(row);
    console.log(JSON.stringify(row));
  } catch (error) {
    console.log(JSON.stringify({ name, error: String(error.message ?? error).slice(0, 300) }));
  }
}
rmSync(work, { recursive: true, force: true });

const ratios = ['time', 'limit', 'cpu', 'cpuLimit'];
const lines = [
  '| server | version | packages | tools offline | start ÷ `npx -y` | limit | CPU ÷ `npx -y` | limit |',
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
  ...rows.map(
    ({ name, version, packages, tools, isSame, ...row }) =>
      `| ${name} | ${version} | ${packages} | ${tools}${isSame ? '' : ' (others)'} | ${ratios.map((key) => row[key].toFixed(2)).join(' | ')} |`,
  ),
  `| **median of ${rows.length}** | | | | ${ratios.map((key) => `**${median(rows.map((row) => row[key])).toFixed(2)}**`).join(' | ')} |`,
];
console.log(lines.join('\n'));
console.log(
  `goal: at most ${GOAL}; ${rows.filter(({ time }) => time <= GOAL).length} of ${rows.length} servers`,
);
if (process.argv.includes('--write')) {
  const page = readFileSync(PAGE, 'utf8');
  const marked = /(<!-- measured -->\n\n)[\s\S]*?(\n\n<!-- \/measured -->)/;
  writeFileSync(PAGE, page.replace(marked, `$1${lines.join('\n')}$2`));
}
