/** The real programs of npm are the referees: what they write comes over, and what export writes they read and use. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { opencode } from '../../scripts/install-real-clients.mjs';
import { FIXTURES } from './command.ts';
import { Machine } from './machine.ts';

const AGENTS = fileURLToPath(new URL('../../.cache/real-servers/node_modules', import.meta.url));
/** Agents take a while to start, on a machine that does other things too. */
const AGENT_MS = 180_000;

const exec = promisify(execFile);
let place: Machine;
let env: Record<string, string>;
beforeEach(() => {
  place = new Machine();
  env = {
    HOME: place.userHome,
    PATH: process.env['PATH'] ?? '',
    DISABLE_AUTOUPDATER: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
  };
});
afterEach(() => place.remove());

/** What an agent prints; its warnings about the folder that it lives in are its own business. */
async function run(file: string, args: readonly string[]): Promise<string> {
  const child = exec(file, args, { cwd: place.project, env });
  child.child.stdin?.end();
  return stripVTControlCharacters((await child).stdout);
}

const claude = (...args: readonly string[]): Promise<string> =>
  run(process.execPath, [join(AGENTS, '@anthropic-ai/claude-code/cli.js'), 'mcp', ...args]);
const codex = (...args: readonly string[]): Promise<string> =>
  run(process.execPath, [join(AGENTS, '@openai/codex/bin/codex.js'), 'mcp', ...args]);
const openCode = (...args: readonly string[]): Promise<string> => run(opencode, ['mcp', ...args]);

async function imported(agent: string): Promise<unknown> {
  const { status, value } = await place.json(['import', agent, '--yes'], place.here(env));
  expect(status).toBe(0);
  const { value: listed } = await place.json(['list', '--no-connect']);
  expect((listed as { problems: unknown }).problems).toEqual([]);
  const { servers } = value as {
    servers: { name: string; scope: string; action: string; lost: unknown[] }[];
  };
  return servers.map(({ name, scope, action, lost }) => [name, scope, action, lost]);
}

it(
  'CFG-6: imports what claude mcp add writes, in all three scopes',
  async () => {
    await claude('add', '-s', 'user', 'mine', '-e', 'KEY=value', '--', 'npx', '-y', 'srv', '--flag');
    await claude('add', '-t', 'http', 'here', 'https://example.com/mcp', '-H', 'X-Key: abc');
    await claude('add', '-s', 'project', '-t', 'sse', 'shared', 'https://example.com/sse');
    expect(await imported('claude-code')).toEqual([
      ['here', 'local', 'add', []],
      ['mine', 'user', 'add', []],
      ['shared', 'project', 'same', []],
    ]);
    expect(place.read(place.userFile)).toEqual({
      projects: {
        [place.project]: {
          mcpServers: { here: { type: 'http', url: 'https://example.com/mcp', headers: { 'X-Key': 'abc' } } },
        },
      },
      mcpServers: {
        mine: { type: 'stdio', command: 'npx', args: ['-y', 'srv', '--flag'], env: { KEY: 'value' } },
      },
    });
  },
  AGENT_MS,
);

it(
  'CFG-6: imports what codex mcp add writes',
  async () => {
    await codex('add', 'local', '--env', 'A=b', '--', 'npx', '-y', 'srv');
    await codex('add', 'remote', '--url', 'https://example.com/mcp', '--bearer-token-env-var', 'TOK');
    expect(await imported('codex')).toEqual([
      ['local', 'user', 'add', []],
      ['remote', 'user', 'add', []],
    ]);
    expect(place.read(place.userFile)).toEqual({
      mcpServers: {
        local: { command: 'npx', args: ['-y', 'srv'], env: { A: 'b' } },
        remote: { url: 'https://example.com/mcp', bearerTokenEnvVar: 'TOK' },
      },
    });
  },
  AGENT_MS,
);

it(
  'CFG-6: imports what opencode mcp add writes',
  async () => {
    await openCode('add', 'local', '--env', 'K=v', '--', 'npx', '-y', 'srv');
    await openCode('add', 'remote', '--url', 'https://example.com/mcp', '--header', 'X-Key=abc');
    expect(await imported('opencode')).toEqual([
      ['local', 'user', 'add', []],
      ['remote', 'user', 'add', []],
    ]);
    expect(place.read(place.userFile)).toEqual({
      mcpServers: {
        local: { command: 'npx', args: ['-y', 'srv'], env: { K: 'v' } },
        remote: { url: 'https://example.com/mcp', headers: { 'X-Key': 'abc' } },
      },
    });
  },
  AGENT_MS,
);

it(
  'CFG-6: claude, codex and opencode read what export writes and connect; undo removes it',
  async () => {
    place.write(place.userFile, {
      mcpServers: { echo: { command: process.execPath, args: [join(FIXTURES, 'echo.mjs')] } },
    });
    await codex('add', 'other', '--', 'true');
    for (const agent of ['claude-code', 'codex', 'opencode']) {
      expect(await place.json(['export', '--to', agent], place.here(env))).toMatchObject({ status: 0 });
    }
    expect(await claude('list')).toMatch(/^plugboard: .*serve --stdio - .*Connected$/m);
    expect(JSON.parse(await codex('get', 'plugboard', '--json'))).toMatchObject({
      enabled: true,
      transport: { type: 'stdio', command: process.execPath, env: { PLUGBOARD_HOME: place.home } },
    });
    expect(await openCode('list')).toMatch(/plugboard connected/);
    for (const agent of ['claude-code', 'codex', 'opencode']) {
      expect(await place.json(['export', '--to', agent, '--undo'], place.here(env))).toMatchObject({
        status: 0,
      });
    }
    const left = JSON.parse(await codex('list', '--json')) as { name: string }[];
    expect(left.map(({ name }) => name)).toEqual(['other']);
    expect(await openCode('list')).not.toContain('plugboard');
    expect(await claude('list')).not.toContain('plugboard');
  },
  AGENT_MS,
);

it(
  'MOV-14: after up, claude, codex and opencode have Plugboard alone and connect; after down, what they had',
  async () => {
    const echo = [process.execPath, join(FIXTURES, 'echo.mjs')] as const;
    await claude('add', '-s', 'user', 'mine', '--', ...echo);
    await claude('add', '-s', 'local', 'here', '--', ...echo, 'here');
    await codex('add', 'coded', '--env', 'A=b', '--', ...echo, 'coded');
    await openCode('add', 'opened', '--', ...echo, 'opened');
    place.write(place.projectFile, {
      mcpServers: { shared: { command: echo[0], args: [echo[1], 'shared'] } },
    });
    await place.run(['trust', 'shared', '--yes']);
    const texts = (): string[] =>
      ['.claude.json', '.codex/config.toml', '.config/opencode/opencode.jsonc'].map((path) =>
        readFileSync(join(place.userHome, path), 'utf8'),
      );
    const before = texts();
    const agents = ['claude-code', 'codex', 'opencode'].flatMap((id) => ['--agent', id]);
    const moved = await place.json(['up', '--yes', ...agents], place.here(env));
    expect(moved).toMatchObject({ status: 0, value: { changed: true } });
    const listed = await claude('list');
    expect(listed).toMatch(/^plugboard: .*serve --stdio - .*Connected$/m);
    expect(listed).not.toMatch(/^(?:mine|here):/m);
    const left = JSON.parse(await codex('list', '--json')) as { name: string }[];
    expect(left.map(({ name }) => name)).toEqual(['plugboard']);
    const opened = await openCode('list');
    expect(opened).toMatch(/plugboard connected/);
    expect(opened).not.toContain('opened');
    const disabled = place.read(join(place.userHome, '.claude.json'));
    expect(disabled).toMatchObject({ projects: { [place.project]: { disabledMcpServers: ['shared'] } } });
    expect(await place.json(['down'], place.here(env))).toMatchObject({ status: 0 });
    // Claude Code counts its starts in its file.
    const [claudeText = '', ...others] = texts();
    expect(others).toEqual(before.slice(1));
    const servers = (text: string): unknown => {
      const { mcpServers, projects } = JSON.parse(text) as {
        mcpServers: unknown;
        projects: Record<string, { mcpServers: unknown; disabledMcpServers?: unknown }>;
      };
      const { mcpServers: local, disabledMcpServers } = projects[place.project] ?? {};
      return { mcpServers, local, disabledMcpServers };
    };
    expect(servers(claudeText)).toEqual(servers(before[0] ?? ''));
    expect(await claude('list')).toMatch(/^mine: .*Connected$/m);
  },
  AGENT_MS,
);
