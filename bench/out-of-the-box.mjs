/**
 * Twenty real servers from npm, each added with one command and called once: in the private folder that servers of a
 * person start in, and in the project (`cwd: "."`, approved). Prints a table of what each needs.
 *
 *   node bench/out-of-the-box.mjs [name…]
 */

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../dist/bin/plugboard.cjs', import.meta.url));
const START_MS = 240_000;

/** `args`: what its documentation says; `needs`: what has to be in the entry, in words. */
const SERVERS = [
  {
    name: 'filesystem',
    args: ['@modelcontextprotocol/server-filesystem', '${PROJECT_DIR}'],
    call: ['list_directory', 'path=@'],
    needs: '`${PROJECT_DIR}` as its argument',
  },
  { name: 'everything', args: ['@modelcontextprotocol/server-everything'], call: ['echo', 'message=hi'] },
  { name: 'memory', args: ['@modelcontextprotocol/server-memory'], call: ['read_graph'] },
  {
    name: 'thinking',
    args: ['@modelcontextprotocol/server-sequential-thinking'],
    call: [
      'sequentialthinking',
      'thought=x',
      'nextThoughtNeeded:=false',
      'thoughtNumber:=1',
      'totalThoughts:=1',
    ],
  },
  { name: 'git', args: ['@cyanheads/git-mcp-server'], call: ['git_status', 'path=@'] },
  { name: 'context7', args: ['@upstash/context7-mcp'] },
  { name: 'mongodb', args: ['mongodb-mcp-server'] },
  {
    name: 'shadcn',
    args: ['shadcn', 'mcp'],
    call: ['get_project_registries'],
    says: '@own',
    needs: '`"cwd": "."`: it reads `components.json` there',
  },
  { name: 'playwright', args: ['@playwright/mcp', '--headless'] },
  { name: 'devtools', args: ['chrome-devtools-mcp', '--headless'] },
  { name: 'notion', args: ['@notionhq/notion-mcp-server'], env: { NOTION_TOKEN: 'x' }, needs: 'a token' },
  { name: 'kubernetes', args: ['mcp-server-kubernetes'] },
  { name: 'github', args: ['@modelcontextprotocol/server-github'], needs: 'a token' },
  {
    name: 'slack',
    args: ['@modelcontextprotocol/server-slack'],
    env: { SLACK_BOT_TOKEN: 'x', SLACK_TEAM_ID: 'x' },
    needs: 'a token',
  },
  {
    name: 'brave',
    args: ['@brave/brave-search-mcp-server', '--transport', 'stdio'],
    env: { BRAVE_API_KEY: 'x' },
    needs: 'a key',
  },
  { name: 'tavily', args: ['tavily-mcp'], env: { TAVILY_API_KEY: 'x' }, needs: 'a key' },
  {
    name: 'postgres',
    args: ['@modelcontextprotocol/server-postgres', 'postgresql://127.0.0.1:1/x'],
    needs: 'an address',
  },
  {
    name: 'commands',
    args: ['mcp-server-commands'],
    call: ['run_command', 'command=cat marker.txt'],
    says: 'in the project',
    needs: '`"cwd": "."` to run commands in the project',
  },
  { name: 'eslint', args: ['@eslint/mcp'] },
  {
    name: 'basic-app',
    args: ['@modelcontextprotocol/server-basic-vanillajs', '--stdio'],
    call: ['get-time'],
  },
];

const wanted = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), 'plugboard-box-'));
const project = join(dir, 'project');
mkdirSync(project, { recursive: true });
execFileSync('git', ['init', '-q', project]);
writeFileSync(join(project, 'marker.txt'), 'in the project\n');
writeFileSync(
  join(project, 'components.json'),
  '{"registries":{"@own":"https://example.com/{name}.json"}}\n',
);

function run(home, args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [COMMAND, '--json', ...args], {
      cwd: project,
      env: { ...process.env, PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file', PLUGBOARD_DAEMON: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.once('close', () => resolve(JSON.parse(text || '{}')));
  });
}

async function tryOut({ name, args, env = {}, call, says = '' }, cwd) {
  const home = join(dir, `${name}-${cwd ? 'project' : 'private'}`);
  const flags = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
  const where = cwd ? ['--server-cwd', '.'] : [];
  await run(home, [
    'add',
    name,
    '-s',
    'user',
    ...flags,
    ...where,
    '--startup-timeout',
    String(START_MS),
    '--',
    'npx',
    '-y',
    ...args,
  ]);
  const file = join(home, 'config.json');
  const config = JSON.parse(readFileSync(file, 'utf8'));
  config.mcpServers[name].approval = 'approve';
  writeFileSync(file, JSON.stringify(config));
  if (cwd) await run(home, ['trust', name]);
  const { servers = [] } = await run(home, ['list']);
  const [{ status, tools } = {}] = servers;
  if (call === undefined || status !== 'connected') return { status, tools, called: '' };
  const words = call.map((word) => word.replace('@', project));
  const result = await run(home, ['call', name, ...words]);
  const text = JSON.stringify(result.content ?? result.error ?? '');
  const failed = result.error || result.isError || !text.includes(says);
  return { status, tools, called: failed ? `does not find it: ${text.slice(0, 80)}` : 'works' };
}

console.log('| server | tools | in its private folder | in the project | needs |\n|---|---|---|---|---|');
for (const server of SERVERS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const own = await tryOut(server, false);
  const inside = await tryOut(server, true);
  const cell = ({ status, called }) =>
    called === '' ? (status === 'connected' ? 'connects' : status) : called;
  console.log(
    `| \`${server.args[0]}\` | ${own.tools ?? inside.tools} | ${cell(own)} | ${cell(inside)} | ${server.needs ?? '–'} |`,
  );
}
rmSync(dir, { recursive: true, force: true });
