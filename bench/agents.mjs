/**
 * Claude Code, Codex and OpenCode with the same six servers, configured in each agent and through Plugboard after
 * `plugboard up`: two stdio servers from npm, one over HTTP, one behind a login, one that hangs, one that crashes. A
 * whole run writes bench/agents.json and the table in docs/numbers.md.
 *
 *   node scripts/build.mjs && node bench/agents.mjs [rounds]    about five minutes; one round: nothing is written
 *   node bench/agents.mjs --readme [--check]                   no run: the table from bench/agents.json, or whether it is
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { agentsTable, withAgents } from './agents-table.mjs';
import { machine, median } from './rounds.mjs';

const DEFAULT_ROUNDS = 5;
const TITLES = { 'claude-code': 'Claude Code', codex: 'Codex', opencode: 'OpenCode' };
const BOTH = ['alone', 'plugboard'];
const LOGIN_SERVER = 'crm';
const SERVER = /server-(?:filesystem|everything)\/dist|cli-silent\.mjs$/;
const PLUGBOARD = /plugboard\.cjs$|daemon\.cjs$|^plugboard daemon|reaper/;

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const results = at('agents.json');
const page = at('../docs/numbers.md');
const npm = at('../.cache/real-servers/node_modules/@modelcontextprotocol');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { readme: { type: 'boolean' }, check: { type: 'boolean' } },
});

if (values.readme) publish(JSON.parse(readFileSync(results, 'utf8')));
else await main(Number(positionals[0] ?? DEFAULT_ROUNDS));

function publish(found) {
  const before = readFileSync(page, 'utf8');
  const after = withAgents(before, found);
  if (!values.check) return writeFileSync(page, after);
  if (before === after) return undefined;
  console.error('docs/numbers.md does not show bench/agents.json: node bench/agents.mjs --readme');
  process.exitCode = 1;
  return undefined;
}

async function main(rounds) {
  // The worlds of the tests are TypeScript.
  register('../scripts/typescript-hooks.mjs', import.meta.url);
  const { AgentsWorld } = await import('../test/world/agents-world.ts');
  const { Gate } = await import('../test/agents/gate.ts');
  const { startAuthServer } = await import('../test/fixtures/auth-server.mjs');
  const sides = {};
  for (const side of BOTH) sides[side] = await open(side, AgentsWorld, startAuthServer);
  const found = { ...machine(), rounds, agents: {}, together: {} };
  try {
    for (const id of Object.keys(TITLES)) {
      const runs = { alone: [], plugboard: [] };
      for (let round = 0; round < rounds; round += 1)
        for (const side of BOTH) runs[side].push(await firstRequest(sides[side], id));
      found.agents[id] = Object.fromEntries(
        BOTH.map((side) => [
          side,
          {
            tools: median(runs[side].map(({ tools }) => tools)),
            seconds: median(runs[side].map(({ seconds }) => seconds)),
          },
        ]),
      );
      console.error(TITLES[id], JSON.stringify(found.agents[id]));
    }
    for (const side of BOTH) found.together[side] = await together(sides[side], Gate);
  } finally {
    for (const { world, auth } of Object.values(sides)) {
      await world.close();
      await auth.close();
    }
  }
  console.log(agentsTable(found));
  if (rounds === 1) return;
  writeFileSync(results, `${JSON.stringify(found, null, 2)}\n`);
  publish(found);
}

async function open(side, AgentsWorld, startAuthServer) {
  const auth = await startAuthServer();
  const world = await AgentsWorld.create();
  const servers = {
    files: { command: process.execPath, args: [join(npm, 'server-filesystem/dist/index.js'), world.project] },
    everything: {
      command: process.execPath,
      args: [join(npm, 'server-everything/dist/index.js'), 'stdio'],
    },
    web: await world.httpServer(),
    [LOGIN_SERVER]: { url: auth.url },
    hangs: world.fixture('cli-silent.mjs'),
    crashes: world.fixture('stdio-exit.mjs', '1'),
  };
  world.configureAgents(servers, false);
  if (side === 'plugboard') {
    await world.moveIn();
    await world.logIn(LOGIN_SERVER);
  } else {
    await codexLogIn(world);
  }
  const entries = side === 'plugboard' ? ['plugboard'] : Object.keys(servers);
  for (const agent of world.agents) agent.entries = entries;
  return { world, auth, side, servers };
}

/** Tools of MCP servers in the first request of an agent, and how long after its start that was sent. */
async function firstRequest({ world, side }, id) {
  const agent = world.agent(id);
  const from = performance.now();
  let seconds = 0;
  const first = () => {
    seconds = (performance.now() - from) / 1000;
    return { text: 'Done.' };
  };
  const at = agent.model.requests.length;
  await agent.start([first], { cwd: world.project, env: world.env }).ended;
  const asked = agent.model.requests.slice(at).find(({ body }) => body.tools?.length > 0);
  return { tools: offered(agent, asked, side).length, seconds };
}

/** Tools of all servers as `server__tool`; Claude Code adds tools of its own to a server without a login. */
function offered(agent, { body }, side) {
  const named =
    side === 'plugboard'
      ? agent.program.offered(body, 'plugboard')
      : agent.entries.flatMap((entry) =>
          agent.program.offered(body, entry).map((tool) => `${entry}__${tool}`),
        );
  return named.filter((tool) => !/authenticat/.test(tool));
}

/** All three at the same time, after a call of each stdio server: processes, memory, and who could use the login. */
async function together({ world, side, servers: configured }, Gate) {
  // Codex would go without servers that it does not wait for.
  if (side === 'alone') world.configureAgents(configured, true);
  const [arrived, leave] = [new Gate(world.agents.length), new Gate()];
  const from = world.agents.map(({ model }) => model.requests.length);
  const call = (entry, tool, args) =>
    side === 'plugboard' ? { call: `${entry}__${tool}`, args } : { call: tool, entry, args };
  const runs = world.startAgents(() => [
    call('files', 'list_allowed_directories', {}),
    call('everything', 'echo', { message: 'hi' }),
    async () => {
      arrived.arrive();
      await leave.opened;
      return { text: 'Done.' };
    },
  ]);
  await world.reached(arrived, runs);
  const all = world.processes().map((pid) => ({ pid, words: argumentsOf(pid) }));
  const servers = all.filter(({ words }) => words.some((word) => SERVER.test(word)));
  const ours = all.filter(({ words }) => words.some((word) => PLUGBOARD.test(word)));
  const bytes = [...servers, ...ours].map(({ pid }) => proportionalBytes(pid));
  const loggedIn = world.agents.filter((agent, number) => {
    const first = agent.model.requests.slice(from[number]).find(({ body }) => body.tools?.length > 0);
    return offered(agent, first, side).includes(`${LOGIN_SERVER}__echo`);
  });
  leave.open();
  await world.turnsOf(runs);
  return {
    servers: servers.length,
    processes: servers.length + ours.length,
    megabytes: bytes.reduce((sum, one) => sum + one, 0) / 1024 / 1024,
    loggedIn: loggedIn.length,
  };
}

function argumentsOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** Pages that several processes share count once for all of them. */
function proportionalBytes(pid) {
  const [, kilobytes = '0'] =
    /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

/** One login by the one agent that can do it without a screen; the browser follows the redirect. */
async function codexLogIn(world) {
  const { browse } = await import('../test/world/login-world.ts');
  const [program, ...args] = world.agent('codex').program.command('', []).slice(0, 2);
  const child = spawn(program, [...args, 'mcp', 'login', LOGIN_SERVER], {
    cwd: world.project,
    env: world.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let isOpen = false;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
      const address = /(http:\S+authorize\S+)\s/.exec(printed)?.[1];
      if (address === undefined || isOpen) return;
      isOpen = true;
      void browse(address);
    });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`codex mcp login ended with ${code}:\n${printed}`);
}
