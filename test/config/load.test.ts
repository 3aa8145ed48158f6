import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { MAX_CONFIG_BYTES } from '../../src/config/document.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type Scratch, scratch } from '../world/scratch.ts';

const stdio = (command: string) => ({ command });

const MANAGED_FILES = ['/etc/plugboard/managed-mcp.json', '/etc/plugboard/policy.json'];
/** The machine that tests run on has no managed configuration. */
const UNMANAGED = {
  servers: [],
  policyFile: '/etc/plugboard/policy.json',
  denied: [],
  problems: [],
  files: MANAGED_FILES,
};

function locksOf(...folders: readonly string[]): string[] {
  return folders.map((folder) => join(folder, 'mcp.lock.json'));
}

/** Name, scope and command of what counts. */
async function winners(place: Scratch, cwd = place.root): Promise<string[]> {
  const { servers } = await loadConfig({ cwd, home: place.home });
  return servers.map(
    ({ name, scope, entry }) =>
      `${name} ${scope} ${'command' in entry ? entry.command : 'url' in entry ? entry.url : ''}`,
  );
}

describe('loadConfig: CFG-3', () => {
  it('nothing configured is nothing wrong', async () => {
    const { root, home } = scratch();
    expect(await loadConfig({ cwd: root, home })).toEqual({
      servers: [],
      shadowed: [],
      waiting: [],
      settings: {},
      problems: [],
      files: [home.config, join(root, '.mcp.json'), ...locksOf(home.dir, root), ...MANAGED_FILES],
      managed: UNMANAGED,
      inputs: [],
      unreadable: [],
      projectRoot: root,
    });
  });

  it('code > local > project > user, each with where it came from', async () => {
    const { root, home, write } = scratch();
    const all = { a: stdio('user'), b: stdio('user'), c: stdio('user'), d: stdio('user') };
    write(
      home.config,
      JSON.stringify({
        mcpServers: all,
        projects: {
          [root]: { mcpServers: { a: stdio('local'), b: stdio('local') } },
          '/elsewhere': { mcpServers: { z: stdio('z') } },
        },
        defaults: { toolTimeoutMs: 7 },
      }),
    );
    write(
      '.mcp.json',
      JSON.stringify({ mcpServers: { a: stdio('project'), b: stdio('project'), c: stdio('project') } }),
    );
    const sub = join(root, 'sub');
    mkdirSync(sub);
    const config = await loadConfig({ cwd: sub, home, code: { a: stdio('code') } });
    const spec = (name: string, scope: string, file: string | undefined, baseDir: string) => ({
      ...{ name, scope, baseDir, entry: stdio(scope), raw: stdio(scope) },
      ...(file === undefined ? {} : { file }),
    });
    const project = join(root, '.mcp.json');
    expect(config).toEqual({
      servers: [
        spec('a', 'code', undefined, root),
        spec('b', 'local', home.config, root),
        spec('c', 'project', project, root),
        spec('d', 'user', home.config, root),
      ],
      waiting: [],
      shadowed: [
        spec('a', 'local', home.config, root),
        spec('a', 'project', project, root),
        spec('b', 'project', project, root),
        spec('a', 'user', home.config, root),
        spec('b', 'user', home.config, root),
        spec('c', 'user', home.config, root),
      ],
      settings: { defaults: { toolTimeoutMs: 7 } },
      problems: [],
      files: [
        home.config,
        join(sub, '.mcp.json'),
        project,
        ...locksOf(home.dir, sub, root),
        ...MANAGED_FILES,
      ],
      managed: UNMANAGED,
      inputs: [],
      unreadable: [],
      projectRoot: root,
    });
  });

  it('a mistake in one rule of permissions does not lift the others', async () => {
    const { root, home, write } = scratch();
    const permissions = { allow: 'notes__*', ask: ['notes__x', 5], deny: [null, 'shell__*'] };
    write(home.config, JSON.stringify({ permissions }));
    const { settings, problems } = await loadConfig({ cwd: root, home });
    expect(settings.permissions).toEqual({ ask: ['notes__x'], deny: ['shell__*'] });
    expect(problems.map(({ message }) => message)).toEqual([
      '"permissions.allow" must be a list of tool names or globs, not a string',
      '"permissions.ask[1]" must be a string that is not empty, not a number',
      '"permissions.deny[0]" must be a string that is not empty, not null',
    ]);
  });

  it('ask and deny for one project have no effect, and its other rules are used', async () => {
    const { root, home, write } = scratch();
    const permissions = { allow: ['notes__*'], ask: ['notes__x'], deny: 'all' };
    write(home.config, JSON.stringify({ projects: { [root]: { permissions } } }));
    const { settings, problems } = await loadConfig({ cwd: root, home });
    expect(settings.projects?.[root]?.permissions?.allow).toEqual(['notes__*']);
    expect(problems.map(({ message, hint }) => [message, hint])).toEqual(
      ['ask', 'deny'].map((key) => [
        `"projects.${root}.permissions.${key}" has no effect for one project`,
        'Set it in permissions at the top level, which is for all servers.',
      ]),
    );
  });

  it('the nearest .mcp.json wins, and the search ends at the project root', async () => {
    const place = scratch();
    const { root, write } = place;
    write(join(dirname(root), '.mcp.json'), JSON.stringify({ mcpServers: { outside: stdio('outside') } }));
    write('.mcp.json', JSON.stringify({ mcpServers: { a: stdio('far'), b: stdio('far') } }));
    write('x/.mcp.json', JSON.stringify({ mcpServers: { a: stdio('near') } }));
    mkdirSync(join(root, 'x/y'));
    expect(await winners(place, join(root, 'x/y'))).toEqual(['a project near', 'b project far']);
    expect(await winners(place)).toEqual(['a project far', 'b project far']);
  });

  it('a project reached through a link is the same project', async () => {
    const place = scratch();
    const { root, home, write } = place;
    const link = join(dirname(root), 'link');
    symlinkSync(root, link);
    write(home.config, JSON.stringify({ projects: { [root]: { mcpServers: { a: stdio('real') } } } }));
    expect(await winners(place, link)).toEqual(['a local real']);
    write(
      home.config,
      JSON.stringify({ projects: { [`${link}/`]: { mcpServers: { a: stdio('linked') } } } }),
    );
    expect(await winners(place, link)).toEqual(['a local linked']);
  });

  it('entries for this run are stronger than entries in code; a broken one throws', async () => {
    const { root, home } = scratch();
    const load = (code: Record<string, unknown>): ReturnType<typeof loadConfig> =>
      loadConfig({ cwd: root, home, code, extra: { a: stdio('extra') } });
    const { servers, problems } = await load({ a: stdio('code') });
    expect({ servers: servers.map(({ name, entry }) => ({ name, entry })), problems }).toEqual({
      servers: [{ name: 'a', entry: stdio('extra') }],
      problems: [],
    });
    await expect(load({ b: { command: 1 } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'b: "command" must be a string that is not empty, not a number',
      server: 'b',
    });
    await expect(load({ x: { required: true, comand: 'node' } })).rejects.toMatchObject({ server: 'x' });
  });
});

describe('loadConfig: CFG-5 and F53, problems are reported with their place and hide nothing else', () => {
  /** Problems of a `.mcp.json` with this text, and the names that are still used next to one user server. */
  async function loaded(text: string | Uint8Array): Promise<{ problems: unknown[]; names: string[] }> {
    const { root, home, write } = scratch();
    write(home.config, '{ "mcpServers": { "mine": { "command": "x" } } }');
    write('.mcp.json', text);
    const { servers, problems } = await loadConfig({ cwd: root, home });
    expect(problems.every(({ file }) => file === join(root, '.mcp.json'))).toBe(true);
    return { problems: problems.map(({ file: _, ...rest }) => rest), names: servers.map(({ name }) => name) };
  }

  const IGNORED = 'This file is ignored until it is fixed.';

  it.each([
    [
      'truncated',
      '{\n  "mcpServers": {\n    "a": { "comm',
      { line: 3, column: 12, message: 'The file is not valid JSON: this string never ends', hint: IGNORED },
    ],
    [
      'ends early',
      '{\n  "mcpServers": {\n',
      {
        line: 3,
        column: 1,
        message: 'The file is not valid JSON: unexpected end of file: a closing brace is missing here',
        hint: IGNORED,
      },
    ],
    [
      'not JSON',
      'servers:\n  a: b\n',
      { line: 1, column: 1, message: 'The file is not valid JSON: this is not JSON', hint: IGNORED },
    ],
    [
      'without a comma',
      '{\n  "a": 1\n  "b": 2\n}',
      { line: 3, column: 3, message: 'The file is not valid JSON: a comma is missing here', hint: IGNORED },
    ],
    ['a list', '[]', { line: 1, column: 1, message: 'The file must hold a JSON object' }],
    [
      'with a list of servers',
      '{ "mcpServers": [] }',
      { line: 1, column: 17, message: '"mcpServers" must be an object of servers by name' },
    ],
    [
      'UTF-16',
      Buffer.from('\ufeff{}', 'utf16le'),
      { message: 'The file is not UTF-8 text', hint: 'Save it again as UTF-8.' },
    ],
    [
      '10 MB',
      `{ "x": "${'a'.repeat(10_000_000)}" }`,
      { message: `The file is larger than ${MAX_CONFIG_BYTES / 2 ** 20} MiB.` },
    ],
    [
      'nested deeply',
      `{ "x": ${'['.repeat(200_000)}${']'.repeat(200_000)} }`,
      {
        line: 1,
        column: 1,
        message: 'The file is not valid JSON: it is nested deeper than 64 levels',
        hint: IGNORED,
      },
    ],
    [
      'a misspelt top key',
      '{ "mcpservers": {} }',
      {
        line: 1,
        column: 3,
        message: '"mcpservers" is not a known key and has no effect',
        hint: 'Did you mean "mcpServers"?',
      },
    ],
    [
      'permissions in it',
      '{ "permissions": { "allow": ["*"] } }',
      {
        line: 1,
        column: 3,
        message: '"permissions" has no effect in a project file',
        hint: 'Set it in your own config.json.',
      },
    ],
  ])('a file that is %s', async (_, text, problem) => {
    expect(await loaded(text)).toEqual({ problems: [problem], names: ['mine'] });
  });

  it.each([
    ['empty', ''],
    ['blank', ' \n\n'],
    ['nothing but a byte order mark', '\ufeff'],
    ['nothing but a comment', '// later\n'],
    ['an empty object', '{}'],
    ['of another agent', '{ "servers": {}, "inputs": [] }'],
  ])('a file that is %s is no problem', async (_, text) => {
    expect(await loaded(text)).toEqual({ problems: [], names: ['mine'] });
  });

  it('comments, trailing commas and a byte order mark are fine', async () => {
    expect(await loaded('\ufeff// team\n{ "mcpServers": { "a": { "command": "x", /* no */ }, }, }')).toEqual({
      problems: [],
      names: ['a', 'mine'],
    });
  });

  it('each broken entry is reported with line, column, server and key; the others are used', async () => {
    const text = [
      '{',
      '  "mcpServers": {',
      '    "good": { "command": "x", "comand": "y", "agrs": [] },',
      '    "bad": { "command": "x", "args": "-y" },',
      '    "-dash": { "command": "x" },',
      '    "free": { "command": "x", "trusted": true }',
      '  }',
      '}',
    ].join('\n');
    expect(await loaded(text)).toEqual({
      problems: [
        {
          line: 3,
          column: 46,
          server: 'good',
          message: '"agrs" is not a known key and has no effect',
          hint: 'Did you mean "args"?',
        },
        { line: 4, column: 38, server: 'bad', message: '"args" must be a list of strings, not a string' },
        {
          line: 5,
          column: 5,
          server: '-dash',
          message: 'The server name "-dash" must not begin with a dash',
        },
        {
          ...{ line: 6, column: 31, server: 'free', message: '"trusted" has no effect in a project file' },
          hint: 'Set it in your own scope: plugboard add --scope local or user.',
        },
      ],
      names: ['good', 'free', 'mine'],
    });
  });

  it('A18: a file with only faults is read quickly, and a hundred of them are reported', async () => {
    const { root, home, write } = scratch();
    const servers = Array.from({ length: 30_000 }, (_, n) => `"s${n}": 1`).join(',\n');
    write('.mcp.json', `{ "mcpServers": {\n${servers}\n} }`);
    const { problems } = await loadConfig({ cwd: root, home });
    expect([problems.length, problems[99]?.line, problems[100]?.message]).toEqual([
      101,
      101,
      '29900 more problems of this file are not shown',
    ]);
    write('.mcp.json', `{\n${'"a": 1,\n'.repeat(30_000)}"mcpServers": {} }`);
    expect((await loadConfig({ cwd: root, home })).problems).toHaveLength(100);
  });

  it('a duplicate key is reported with both lines, and the last one is used', async () => {
    const place = scratch();
    place.write(
      '.mcp.json',
      '{ "mcpServers": {\n  "a": { "command": "first" },\n  "b": { "command": "x\\"y:" },\n  "a": { "command": "last" }\n} }',
    );
    const { problems } = await loadConfig({ cwd: place.root, home: place.home });
    expect(problems).toEqual([
      {
        ...{ file: join(place.root, '.mcp.json'), line: 4, column: 3, server: 'a' },
        message: 'Duplicate key "a" (lines 2 and 4); the last one is used',
        hint: 'Take one of them out.',
      },
    ]);
    expect(await winners(place)).toEqual(['a project last', 'b project x"y:']);
  });

  it('a folder, a pipe or a dangling link where a file should be', async () => {
    const { root, home, write } = scratch();
    write(home.config, '{ "mcpServers": { "mine": { "command": "x" } } }');
    const messages = async (): Promise<string[]> =>
      (await loadConfig({ cwd: root, home })).problems.map(({ message }) => message);
    symlinkSync('nowhere', join(root, '.mcp.json'));
    expect(await messages()).toEqual([]);
    const other = join(root, 'folder');
    mkdirSync(join(other, '.mcp.json'), { recursive: true });
    expect((await loadConfig({ cwd: other, home })).problems).toEqual([
      { file: join(other, '.mcp.json'), message: 'This is a folder, not a file' },
    ]);
    const pipe = join(root, 'pipe');
    mkdirSync(pipe);
    execFileSync('mkfifo', [join(pipe, '.mcp.json')]);
    expect((await loadConfig({ cwd: pipe, home })).problems).toEqual([
      { file: join(pipe, '.mcp.json'), message: 'This is not a regular file' },
    ]);
  });

  it('a file without read permission is reported, and the others are used', () => {
    const { root, home, write } = scratch();
    write(home.config, '{ "mcpServers": { "mine": { "command": "x" } } }');
    const file = write('.mcp.json', '{ "mcpServers": { "a": { "command": "x" } } }');
    chmodSync(file, 0);
    chmodSync(dirname(root), 0o755);
    // Root reads everything, so another user reads the file.
    const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const fixture = fileURLToPath(new URL('../fixtures/config-load.mjs', import.meta.url));
    const config = JSON.parse(
      execFileSync(process.execPath, [fixture, root, home.dir], { encoding: 'utf8', ...nobody }),
    );
    expect({
      problems: config.problems,
      names: config.servers.map(({ name }: { name: string }) => name),
    }).toEqual({
      problems: [
        { file, message: 'The file cannot be read: permission denied', hint: 'Check its owner and mode.' },
      ],
      names: ['mine'],
    });
  });
});
