import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseToml } from '../../src/config/import/toml.ts';
import { startAuthServer } from '../fixtures/auth-server.mjs';
import { COMMAND, FIXTURES } from './command.ts';
import { Machine } from './machine.ts';
import {
  CLAUDE,
  CODEX,
  CURSOR,
  ECHO_FILE,
  GEMINI,
  OPENCODE,
  treeOf,
  WINDSURF,
  writeOddAgents,
  ZED,
} from './odd-agents.ts';
import { onTerminal } from './on-terminal.ts';

let place: Machine;
beforeEach(() => {
  place = new Machine();
});
afterEach(() => place.remove());

interface Told {
  readonly changed: boolean;
  readonly steps: Record<string, string>;
  readonly servers: readonly { name: string; source: string; action: string }[];
  readonly values: readonly unknown[];
  readonly exports: readonly { agent: string; action: string; reason?: string }[];
  readonly moves: readonly { agent: string; name: string; action: string; reason?: string }[];
  readonly connected: readonly { name: string; status: string; tools: number; error?: { code: string } }[];
  readonly logins: readonly unknown[];
  readonly page: { readonly command: string; readonly page?: string };
}

async function up(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Told> {
  const { status, value } = await place.json(['up', '--yes', ...args], place.here(env));
  expect({ status, value }).toMatchObject({ status: 0 });
  return value as Told;
}

/** Without connecting, which these tests are not about. */
const quickly = (...args: readonly string[]): Promise<Told> => up(['--skip', 'connect', ...args]);

async function down(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { status, value } = await place.json(['down', ...args], place.here());
  expect({ status, value }).toMatchObject({ status: 0 });
  return value as Record<string, unknown>;
}

const file = (path: string): string => join(place.userHome, path);
const text = (path: string): string => readFileSync(file(path), 'utf8');
const moves = ({ moves: all }: Told): string[] =>
  all.map(({ agent, name, action }) => `${agent} ${name} ${action}`).toSorted();

const OWN = { command: process.execPath, args: [COMMAND, 'serve', '--stdio'] };
const ECHO = { command: process.execPath, args: [ECHO_FILE] };

describe('up and down', () => {
  it('UI-5, MOV-1: up then down restores every file byte for byte, links and modes included', async () => {
    writeOddAgents(place);
    const before = treeOf(place.userHome);
    const told = await quickly();
    expect(told.exports.map(({ agent, action }) => [agent, action])).toEqual([
      ['claude-code', 'add'],
      ['codex', 'add'],
      ['opencode', 'add'],
      // The other server of that name is imported and served from now on.
      ['cursor', 'replace'],
      ['gemini', 'add'],
      ['windsurf', 'add'],
      ['zed', 'add'],
    ]);
    expect(moves(told)).toEqual([
      'claude-code docs remove',
      'claude-code echo remove',
      'claude-code mine-here remove',
      'codex echo remove',
      'codex github remove',
      'codex with space remove',
      'cursor solo remove',
      'opencode github keep',
      'opencode quick remove',
      'windsurf surf keep',
    ]);
    for (const path of [CLAUDE, CODEX, OPENCODE, CURSOR, GEMINI, WINDSURF, ZED])
      expect(text(path)).toContain(JSON.stringify(COMMAND));
    await down();
    expect(treeOf(place.userHome)).toEqual(before);
    expect(place.read(place.userFile)).toBeUndefined();
  });

  it('UI-5, MOV-2: a second up changes nothing, and down after two of them restores the original', async () => {
    writeOddAgents(place);
    const before = treeOf(place.userHome);
    await quickly();
    const [agents, home] = [treeOf(place.userHome), treeOf(join(place.home, 'exports'))];
    const config = readFileSync(place.userFile, 'utf8');
    const again = await quickly();
    expect(again).toMatchObject({
      changed: false,
      steps: { import: 'nothing', export: 'nothing', move: 'nothing' },
    });
    expect(treeOf(place.userHome)).toEqual(agents);
    expect(treeOf(join(place.home, 'exports'))).toEqual(home);
    expect(readFileSync(place.userFile, 'utf8')).toBe(config);
    await down();
    expect(treeOf(place.userHome)).toEqual(before);
  });

  it('UI-5, MOV-3: --dry-run changes nothing and starts nothing', async () => {
    writeOddAgents(place);
    const before = treeOf(place.dir);
    const { status, value } = await place.json(['up', '--dry-run'], place.here());
    expect({ status, value }).toMatchObject({
      status: 0,
      value: {
        dryRun: true,
        changed: false,
        steps: { import: 'preview', connect: 'preview' },
        connected: [],
      },
    });
    expect(moves(value as Told)).toContain('codex echo remove');
    expect(treeOf(place.dir)).toEqual(before);
    await quickly();
    const moved = treeOf(place.userHome);
    expect(await down('--dry-run')).toMatchObject({ dryRun: true, changed: false });
    expect(treeOf(place.userHome)).toEqual(moved);
  });

  it('UI-5, MOV-3: without a terminal and --yes, changes nothing and reports it', async () => {
    writeOddAgents(place);
    const before = treeOf(place.dir);
    const { status, stdout } = await place.run(['up'], place.here());
    expect(status).toBe(5);
    expect(stdout).toContain(
      'Nothing was changed, because there is no terminal for questions. Run it with --yes',
    );
    expect(stdout).toContain('  + with space  user');
    expect(treeOf(place.dir)).toEqual(before);
  });

  it('UI-5, MOV-4: down reverses only its own edits in files that were changed since', async () => {
    writeOddAgents(place);
    const before = Object.fromEntries([CLAUDE, CODEX, OPENCODE, WINDSURF].map((path) => [path, text(path)]));
    await quickly();
    // One line more, far from ours.
    writeFileSync(file(CODEX), text(CODEX).replace('model = "x"', 'model = "new"'));
    writeFileSync(file(WINDSURF), text(WINDSURF).replace('[1,  2]', '[1,  2,  3]'));
    writeFileSync(file(OPENCODE), text(OPENCODE).replace('// settings', '// my settings'));
    // Written again by a program, with a server more, as Claude Code does.
    const claude = JSON.parse(text(CLAUDE)) as { mcpServers: Record<string, unknown> };
    claude.mcpServers['added'] = { type: 'stdio', command: 'added' };
    writeFileSync(file(CLAUDE), JSON.stringify({ ...claude, numStartups: 8 }, null, 2));
    // Ours is not the last one any longer.
    const cursor = JSON.parse(text(CURSOR)) as { mcpServers: Record<string, unknown> };
    cursor.mcpServers['later'] = { command: 'later' };
    writeFileSync(file(CURSOR), JSON.stringify(cursor, null, 1));
    const { agents } = await down();
    expect(agents).toContainEqual({ agent: 'codex', files: [{ file: file(CODEX), action: 'removed' }] });
    expect(text(CODEX)).toBe(before[CODEX]?.replace('model = "x"', 'model = "new"'));
    expect(text(WINDSURF)).toBe(before[WINDSURF]?.replace('[1,  2]', '[1,  2,  3]'));
    expect(text(OPENCODE)).toBe(before[OPENCODE]?.replace('// settings', '// my settings'));
    const original = JSON.parse(before[CLAUDE] ?? '') as { mcpServers: object };
    expect(JSON.parse(text(CLAUDE))).toEqual({
      ...original,
      numStartups: 8,
      mcpServers: { ...original.mcpServers, added: { type: 'stdio', command: 'added' } },
    });
    expect(JSON.parse(text(CURSOR))).toEqual({
      mcpServers: {
        plugboard: { ...ECHO, args: [ECHO_FILE, 'other'] },
        solo: { ...ECHO, args: [ECHO_FILE, 'solo'] },
        later: { command: 'later' },
      },
    });
  });

  it('UI-5, MOV-4: down keeps an entry that the person put there in place of the Plugboard entry, or of one that was taken out', async () => {
    place.write(file(CURSOR), { mcpServers: { a: { command: 'a' }, b: { command: 'b' } } });
    await quickly();
    place.write(file(CURSOR), { mcpServers: { plugboard: { command: 'theirs' }, a: { command: 'new' } } });
    await down();
    expect(place.read(file(CURSOR))).toEqual({
      mcpServers: { plugboard: { command: 'theirs' }, a: { command: 'new' }, b: { command: 'b' } },
    });
  });

  it('UI-5, MOV-5: servers that were added between two ups are moved too, and are there again after down', async () => {
    writeOddAgents(place);
    const before = text(CODEX);
    await quickly();
    const later = '\r\n[mcp_servers.later]\r\ncommand = "later"\r\n';
    writeFileSync(file(CODEX), text(CODEX) + later);
    expect(moves(await quickly())).toContain('codex later remove');
    expect(text(CODEX)).not.toContain('later');
    await down();
    const { value } = parseToml('', text(CODEX));
    const { value: original } = parseToml('', before);
    const { mcp_servers: servers } = original as { mcp_servers: object };
    expect(value).toEqual({
      ...(original as object),
      mcp_servers: { ...servers, later: { command: 'later' } },
    });
    expect(text(CODEX)).toContain('# about the next one');
  });

  it('UI-5, MOV-6: a file that does not parse is left alone, and the other agents are moved', async () => {
    place.write(file(CLAUDE), '{ "mcpServers": ');
    place.write(file(CURSOR), { mcpServers: { echo: ECHO } });
    const told = await quickly();
    expect(told.exports).toMatchObject([
      { agent: 'claude-code', action: 'failed' },
      { agent: 'cursor', action: 'add' },
    ]);
    expect(text(CLAUDE)).toBe('{ "mcpServers": ');
    writeFileSync(file(CURSOR), '{ broken');
    const { status, value } = await place.json(['down', '--all', '--yes'], place.here());
    expect({ status, value }).toMatchObject({ status: 2, value: { agents: [{ agent: 'cursor' }] } });
    // The record is the only way back, so it stays.
    expect(existsSync(join(place.home, 'exports', 'cursor-user.json'))).toBe(true);
  });

  it('UI-5, MOV-6: only the named agents are touched, also ones without any file, whose folders go again', async () => {
    place.write(file(CURSOR), { mcpServers: { echo: ECHO } });
    const before = treeOf(place.userHome);
    const told = await quickly('--agent', 'pi');
    expect(told.exports).toEqual([
      {
        agent: 'pi',
        file: file('.pi/agent/mcp.json'),
        action: 'add',
        entry: { ...OWN, env: { PLUGBOARD_HOME: '<home>' } },
      },
    ]);
    expect(text(CURSOR)).not.toContain(COMMAND);
    await down();
    expect(treeOf(place.userHome)).toEqual(before);
  });

  it('UI-5, MOV-7: project files are never edited; Claude Code has its own switch, the others are reported', async () => {
    place.write(place.projectFile, { mcpServers: { shared: ECHO, unknown: { command: 'x' } } });
    place.write(join(place.project, '.cursor/mcp.json'), {
      mcpServers: { shared: ECHO, own: { command: 'y' } },
    });
    place.write(file(CLAUDE), { numStartups: 1 });
    place.write(file(CURSOR), {});
    await place.run(['trust', 'shared', '--yes'], place.here());
    const [project, home] = [treeOf(place.project), treeOf(place.userHome)];
    const told = await quickly();
    expect(told.servers.map(({ source, name, action }) => `${source} ${name} ${action}`)).toEqual([
      'claude-code shared same',
      'claude-code unknown same',
      'cursor shared same',
      'cursor own skip',
    ]);
    expect(told.moves.map(({ agent, name, action, reason }) => [agent, name, action, reason])).toEqual([
      ['claude-code', 'shared', 'disable', undefined],
      ['claude-code', 'unknown', 'keep', 'To let Plugboard run it: plugboard trust unknown'],
      [
        'cursor',
        'shared',
        'keep',
        'It is in a project file, and Cursor cannot switch it off for one project.',
      ],
    ]);
    expect(place.read(file(CLAUDE))).toMatchObject({
      projects: { [place.project]: { disabledMcpServers: ['shared'] } },
    });
    expect(treeOf(place.project)).toEqual(project);
    expect(await quickly()).toMatchObject({ changed: false });
    // Claude Code adds to the same list.
    const claude = place.read(file(CLAUDE)) as { projects: Record<string, { disabledMcpServers: string[] }> };
    claude.projects[place.project]?.disabledMcpServers.push('mine');
    place.write(file(CLAUDE), claude);
    await down();
    expect(place.read(file(CLAUDE))).toEqual({
      numStartups: 1,
      projects: { [place.project]: { disabledMcpServers: ['mine'] } },
    });
    place.write(file(CLAUDE), { numStartups: 1 });
    expect(treeOf(place.userHome)).toEqual(home);
  });

  it('UI-5, MOV-8: values of the shell are stored and referred to; down takes them out again', async () => {
    const claude = {
      mcpServers: {
        local: { ...ECHO, env: { KEY: `\${MY_KEY}`, HOME: `\${HOME}` } },
        remote: { type: 'http', url: 'https://127.0.0.1:1/mcp', headers: { 'X-Key': `\${MY_KEY}` } },
      },
    };
    const codex = '[mcp_servers.tok]\nurl = "https://127.0.0.1:1/x"\nbearer_token_env_var = "TOK"\n';
    place.write(file(CLAUDE), claude);
    place.write(file(CODEX), codex);
    const env = { MY_KEY: 'secret-1', TOK: 'secret-2' };
    const told = await up(['--skip', 'connect', '--skip', 'move'], env);
    expect(told.values).toEqual([
      { variable: 'MY_KEY', servers: ['local', 'remote'] },
      { variable: 'TOK', servers: ['tok'] },
    ]);
    expect(place.read(place.userFile)).toMatchObject({
      mcpServers: {
        local: { env: { KEY: `\${input:MY_KEY}`, HOME: `\${HOME}` } },
        remote: { headers: { 'X-Key': `\${input:MY_KEY}` } },
        tok: { url: 'https://127.0.0.1:1/x', headers: { Authorization: `Bearer \${input:TOK}` } },
      },
    });
    expect(text(CODEX)).not.toContain('env_vars');
    const { value } = await place.json(['input', 'list'], place.here());
    expect(value).toMatchObject({
      inputs: [
        { id: 'MY_KEY', kept: 'file' },
        { id: 'TOK', kept: 'file' },
      ],
    });
    // The agents' entries are the same servers still.
    expect(moves(await quickly())).toEqual([
      'claude-code local remove',
      'claude-code remote remove',
      'codex tok remove',
    ]);
    await down();
    expect(place.read(file(CLAUDE))).toEqual(claude);
    expect(text(CODEX)).toBe(codex);
    expect(readFileSync(join(place.home, 'credentials.json'), 'utf8')).not.toContain('secret-');
  });

  it('UI-5, MOV-8: values that are not stored are named to agents with a small environment', async () => {
    place.write(place.userFile, {
      mcpServers: { a: { ...ECHO, env: { K: `\${MY_KEY}`, H: `\${HOME}` }, envVars: ['OTHER'] } },
    });
    place.write(file(CODEX), '');
    place.write(file(GEMINI), '{}');
    await up(['--skip', 'connect', '--skip', 'values'], { MY_KEY: 'x' });
    expect(parseToml('', text(CODEX)).value).toMatchObject({
      mcp_servers: { plugboard: { env_vars: ['MY_KEY', 'OTHER'] } },
    });
    expect(place.read(file(GEMINI))).toMatchObject({
      mcpServers: { plugboard: { env: { MY_KEY: '$MY_KEY' } } },
    });
    // From another project, with other servers: names that are there stay.
    place.write(place.userFile, { mcpServers: { b: { ...ECHO, envVars: ['THIRD'] } } });
    await up(['--skip', 'connect', '--skip', 'values'], {});
    expect(parseToml('', text(CODEX)).value).toMatchObject({
      mcp_servers: { plugboard: { env_vars: ['MY_KEY', 'OTHER', 'THIRD'] } },
    });
    await down();
    expect([text(CODEX), text(GEMINI)]).toEqual(['', '{}']);
  });

  it('UI-5, MOV-9: connects every server once; one that hangs is reported and not waited for', async () => {
    place.write(file(CURSOR), {
      mcpServers: {
        echo: ECHO,
        hangs: { command: process.execPath, args: [join(FIXTURES, 'cli-silent.mjs')] },
        broken: { command: process.execPath, args: ['-e', 'process.exit(3)'] },
      },
    });
    const { connected, page } = await up();
    expect(connected.map(({ name, status, tools, error }) => [name, status, tools, error?.code])).toEqual([
      ['echo', 'connected', 5, undefined],
      ['hangs', 'connecting', 0, 'TIMEOUT'],
      ['broken', 'failed', 0, 'START_FAILED'],
    ]);
    expect(page).toEqual({
      command: 'plugboard dashboard',
      page: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#token=/),
    });
    const shown = await fetch(page.page ?? '');
    expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining('<title>')]);
    const { value } = await place.json(['list', '--no-connect']);
    expect(value).toMatchObject({ servers: [{ name: 'echo', tools: 5 }, { tools: 0 }, { tools: 0 }] });
  });

  it('UI-5, MOV-9: a login that no one can be asked for is listed with its command', async () => {
    const server = await startAuthServer();
    try {
      place.write(file(CURSOR), { mcpServers: { docs: { url: server.url } } });
      const { logins, steps } = await up();
      expect(logins).toEqual([{ server: 'docs', command: 'plugboard login docs' }]);
      expect(steps).toMatchObject({ login: 'skipped' });
    } finally {
      await server.close();
    }
  });

  it('UI-5, MOV-10: at a terminal every step is asked about, and a no skips it', async () => {
    place.write(file(CURSOR), { mcpServers: { echo: ECHO } });
    const before = text(CURSOR);
    const { env } = place.here();
    const { status, screen } = await onTerminal(place, ['up'], {
      env: env ?? {},
      answers: [
        { after: 'Import 1 server?', type: 'y' },
        { after: 'Write Plugboard into Cursor?', type: 'y' },
        { after: 'Remove 1 server from your agents?', type: 'n' },
        { after: 'Connect every server once?', type: 'y' },
        { after: 'Open the page?', type: 'n' },
      ],
    });
    expect(status).toBe(0);
    expect(screen).toContain('5 tools');
    expect(place.read(file(CURSOR))).toMatchObject({ mcpServers: { echo: ECHO, plugboard: OWN } });
    await down();
    expect(text(CURSOR)).toBe(before);
  });

  it('UI-5, MOV-11: down --all removes the service, the secrets and the home', async () => {
    place.write(file(CURSOR), { mcpServers: { echo: { ...ECHO, env: { K: `\${MY_KEY}` } } } });
    const before = treeOf(place.userHome);
    await up([], { MY_KEY: 'secret-1' });
    await place.run(['service', 'install'], place.here());
    expect(await down('--all', '--yes')).toMatchObject({
      service: { removed: true },
      home: { removed: true },
    });
    expect(existsSync(place.home)).toBe(false);
    rmSync(file('.config'), { recursive: true });
    expect(treeOf(place.userHome)).toEqual(before);
  });

  it('UI-5, MOV-11: down --all leaves what is not ours in a home that a variable names', async () => {
    place.write(join(place.home, 'thesis.txt'), 'mine');
    place.write(file(CURSOR), { mcpServers: { echo: ECHO } });
    await quickly();
    expect(await down('--all', '--yes')).toMatchObject({ home: { removed: false, left: ['thesis.txt'] } });
  });

  it('UI-5, MOV-12: undoes what 0.1.0 exported, and replaces its launcher by an absolute one', async () => {
    const after =
      '{\n  "mcpServers": {\n    "plugboard": {\n      "command": "npx",\n      "args": ["-y", "plugboard", "serve", "--stdio"]\n    }\n  }\n}\n';
    const record = {
      file: file(CURSOR),
      format: 'json',
      path: ['mcpServers', 'plugboard'],
      before: null,
      after,
      previous: null,
    };
    place.write(file(CURSOR), after);
    place.write(join(place.home, 'exports', 'cursor-user.json'), record);
    expect(await quickly()).toMatchObject({ exports: [{ agent: 'cursor', action: 'replace' }] });
    expect(place.read(file(CURSOR))).toMatchObject({ mcpServers: { plugboard: OWN } });
    await down();
    expect(existsSync(file(CURSOR))).toBe(false);
  });
});

describe('a hostile project', () => {
  it('A10: up --yes imports, starts and names nothing that comes with the project', async () => {
    const ran = join(place.project, 'ran');
    const evil = {
      command: process.execPath,
      args: ['-e', `require("fs").writeFileSync(${JSON.stringify(ran)}, "")`],
      env: { STOLEN: `\${MY_KEY}` },
    };
    place.write(place.projectFile, { mcpServers: { evil } });
    for (const path of ['.cursor/mcp.json', '.gemini/settings.json'])
      place.write(join(place.project, path), { mcpServers: { [`evil-${path}`]: evil } });
    place.write(
      join(place.project, '.codex/config.toml'),
      `[mcp_servers.evil-codex]\ncommand = "touch"\nargs = [${JSON.stringify(ran)}]\n`,
    );
    for (const path of [CLAUDE, CURSOR, GEMINI]) place.write(file(path), {});
    place.write(file(CODEX), '');
    const told = await up([], { MY_KEY: 'secret-1' });
    expect(told.values).toEqual([]);
    expect(told.connected.map(({ name, status }) => [name, status])).toEqual([['evil', 'untrusted']]);
    expect(existsSync(ran)).toBe(false);
    expect(place.read(place.userFile)).toBeUndefined();
    expect(text(CODEX) + text(GEMINI)).not.toContain('MY_KEY');
    await down();
    expect([text(CODEX), text(GEMINI)]).toEqual(['', '{}']);
  });
});

describe('export --move', () => {
  it('UI-5, MOV-13: takes out what Plugboard serves equally, keeps the rest with a reason, and undo restores it', async () => {
    writeOddAgents(place);
    const before = text(CODEX);
    place.write(place.userFile, {
      mcpServers: { echo: ECHO, github: { ...ECHO, args: [ECHO_FILE, 'github'], env: { WHO: 'me' } } },
    });
    const exporting = (...args: string[]): Promise<{ status: number | null; value: unknown }> =>
      place.json(['export', '--to', 'codex', ...args], place.here());
    const dry = await exporting('--move', '--dry-run');
    expect(text(CODEX)).toBe(before);
    const done = await exporting('--move');
    const moved = [
      { agent: 'codex', name: 'echo', file: file(CODEX), action: 'remove' },
      {
        agent: 'codex',
        name: 'with space',
        file: file(CODEX),
        action: 'keep',
        reason: 'Plugboard does not serve it: plugboard import codex',
      },
      {
        agent: 'codex',
        name: 'github',
        file: file(CODEX),
        action: 'keep',
        reason: 'It differs from the one that Plugboard serves.',
      },
    ];
    expect(dry.value).toMatchObject({ moved });
    expect(done.value).toMatchObject({ moved });
    const { value } = parseToml('', text(CODEX));
    expect(Object.keys((value as { mcp_servers: object }).mcp_servers)).toEqual([
      'with space',
      'github',
      'plugboard',
    ]);
    expect((await exporting('--undo')).value).toMatchObject({ action: 'restored' });
    expect(text(CODEX)).toBe(before);
    expect(await exporting('--move', '-s', 'project')).toMatchObject({ status: 2 });
  });
});
