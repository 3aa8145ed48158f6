/** The real programs of npm are the referees: what they write comes over, and what export writes they read and use. */

import { execFile } from 'node:child_process';
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
  const { status, value } = await place.json(['import', agent], place.here(env));
  expect(status).toBe(0);
  const { value: listed } = await place.json(['list', '--no-connect']);
  expect((listed as { problems: unknown }).problems).toEqual([]);
  const { servers } = value as {
    servers: { name: string; scope: string; action: string; lost: unknown[] }[];
  };
  return servers.map(({ name, scope, action, lost }) => [name, scope, action, lost]);
}

it(
  'CFG-6: what claude mcp add writes comes over, in all three scopes',
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
  'CFG-6: what codex mcp add writes comes over',
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
  'CFG-6: what opencode mcp add writes comes over',
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
  'CFG-6: what export writes is read by claude, codex and opencode, which connect, and gone after undo',
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
