/**
 * One command from its start to its end: the list of three servers with whether they answer, and one call. Ours beside
 * mcporter, the inspector, and the lists of Claude Code, OpenCode and Codex, and the least that a program has to do for
 * it. What commands cost through the daemon is in daemon.mjs. After `npm run build`: node bench/one-shot.mjs [rounds]
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { command, opened } from './peers.mjs';
import { describeMachine, interleave, roundsOf, table } from './rounds.mjs';

const ROUNDS = roundsOf(process.argv[2], 7);
const MAX_COMMAND_MS = 60_000;
const NAMES = ['one', 'two', 'three'];
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const server = path('./echo-server.mjs');
const ours = [process.execPath, path('../dist/bin/plugboard.cjs')];
const limit = [process.execPath, path('./one-shot-limit.mjs')];

const root = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
const project = join(root, 'project');
const home = join(root, 'home');
mkdirSync(join(project, '.git'), { recursive: true });
const entry = { command: process.execPath, args: [server] };
const mcpServers = Object.fromEntries(NAMES.map((name) => [name, entry]));
write(join(home, 'plugboard', 'config.json'), { mcpServers });
write(join(home, 'mcporter.json'), { mcpServers, imports: [] });
write(join(home, 'inspector.json'), { mcpServers });
write(join(home, '.claude.json'), { mcpServers, hasCompletedOnboarding: true });
write(join(home, '.config', 'opencode', 'opencode.json'), {
  mcp: Object.fromEntries(
    NAMES.map((name) => [name, { type: 'local', command: [entry.command, ...entry.args] }]),
  ),
});
mkdirSync(join(home, '.codex'));
writeFileSync(
  join(home, '.codex', 'config.toml'),
  NAMES.map((name) => `[mcp_servers.${name}]\ncommand = "${entry.command}"\nargs = ["${server}"]\n`).join(
    '\n',
  ),
);

const { NODE_EXTRA_CA_CERTS: _certificates, PLUGBOARD_DAEMON: _asked, ...inherited } = process.env;
const base = { ...inherited, CI: '1', HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
const env = { ...base, PLUGBOARD_HOME: join(home, 'plugboard'), CODEX_HOME: join(home, '.codex') };
const LIST = 'a list of three servers, one command';
const CALL = 'a call, one command';
const config = join(home, 'mcporter.json');
const shown = ['--config', join(home, 'inspector.json'), '--server', NAMES[0]];

/** What it prints shows that it did what is measured. */
const contender = (name, first, words, expected) => ({
  name,
  async open() {
    const all = [...(await first()), ...words];
    const run = () => {
      const from = performance.now();
      const options = { cwd: project, env, encoding: 'utf8', timeout: MAX_COMMAND_MS };
      const { status, stdout, stderr } = spawnSync(all[0], all.slice(1), options);
      if (status !== 0 || !expected.test(stdout))
        throw new Error(`ended with ${status}: ${(stderr || stdout).trim().slice(0, 60)}`);
      return performance.now() - from;
    };
    run();
    return { run };
  },
});
const our = async () => ours;
const least = async () => limit;
const their = (name) => () => command(name);

console.log(describeMachine());
await measure(LIST, 'One command: a list of three servers', [
  contender('bare program (limit)', least, ['list', server], /three/),
  contender('plugboard list', our, ['list'], /three/),
  contender('mcporter list', their('mcporter'), ['list', '--config', config], /three/),
  contender('claude mcp list', their('claude'), ['mcp', 'list'], /three.*Connected/),
  contender('opencode mcp list', their('opencode'), ['mcp', 'list'], /three/),
  contender('codex mcp list, not connecting', their('codex'), ['mcp', 'list'], /three/),
]);
await measure(CALL, 'One command: a call', [
  contender('bare program (limit)', least, ['call', server], /hello/),
  contender('plugboard call', our, ['call', 'one', 'echo', 'message=hello'], /hello/),
  contender(
    'mcporter call',
    their('mcporter'),
    ['call', 'one.echo', 'message=hello', '--config', config],
    /hello/,
  ),
  contender(
    'inspector --cli',
    their('inspector'),
    [...shown, '--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hello'],
    /hello/,
  ),
]);
rmSync(root, { recursive: true, force: true });

async function measure(title, headline, candidates) {
  const contenders = await opened(candidates, [title]);
  const results = await interleave(contenders, ROUNDS, ({ run }) => run());
  const goals = { 'plugboard list': ['most', 1.4], 'plugboard call': ['most', 1.4] };
  table(`${title} (${ROUNDS} rounds)`, results, { base: contenders[0].name, unit: 'ms', goals, headline });
}

function write(file, value) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value));
}
