import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PRESETS } from '../../src/setup/preset-table.ts';
import { COMMAND, Place } from './command.ts';
import { onTerminal } from './on-terminal.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const NONE = Object.fromEntries(
  ['GITHUB_TOKEN', 'BRAVE_API_KEY', 'TAVILY_API_KEY', 'DATABASE_URL'].map((name) => [name, '']),
);

describe('UI-4: plugboard add --preset', () => {
  it('lists the presets with what each needs, as text and as data', async () => {
    const { stdout, status } = await place.run(['add', '--preset']);
    const { value } = await place.json(['add', '--preset']);
    const { presets } = value as { presets: { id: string }[] };
    const brave = presets.find(({ id }) => id === 'brave-search');
    expect([status, presets.map(({ id }) => id), brave]).toEqual([
      0,
      PRESETS.map(({ id }) => id),
      {
        id: 'brave-search',
        title: 'the web, searched with Brave',
        transport: 'stdio',
        package: '@brave/brave-search-mcp-server',
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
        needs: [
          {
            kind: 'secret',
            key: 'key',
            description: 'a key of the Brave Search API',
            variable: 'BRAVE_API_KEY',
            where: 'https://brave.com/search/api/',
          },
        ],
      },
    ]);
    expect(stdout).toMatch(/^brave-search +BRAVE_API_KEY +the web, searched with Brave$/m);
  });

  it('adds each of them, with secrets as references and under the name that was given', async () => {
    const env = Object.fromEntries(Object.keys(NONE).map((name) => [name, 'literal-secret']));
    await Promise.all(
      PRESETS.map(({ id }, at) => place.run(['add', '--preset', id, `server-${at}`, '-s', 'user'], { env })),
    );
    const { mcpServers } = place.read(place.userFile) as { mcpServers: Record<string, unknown> };
    const { value } = await place.json(['list', '--no-connect'], { env });
    const { servers, problems } = value as { servers: { status: string }[]; problems: unknown[] };
    expect([
      Object.keys(mcpServers).length,
      JSON.stringify(mcpServers).includes('literal-secret'),
      servers.filter(({ status }) => status !== 'idle'),
      problems,
    ]).toEqual([PRESETS.length, false, [], []]);
  });

  it('takes arguments, and another version', async () => {
    await place.run([
      'add',
      '--preset',
      'filesystem',
      'docs',
      'folder=docs',
      'version=latest',
      '-s',
      'project',
    ]);
    await place.run(['add', '--preset', 'git', '-s', 'project']);
    expect(place.read(place.projectFile)).toEqual({
      mcpServers: {
        docs: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem@latest', 'docs'] },
        git: { command: 'plugboard', args: ['workspace', '.'] },
      },
    });
  });

  it('git is the workspace server, started by this very program', async () => {
    await place.run(['add', '--preset', 'git', '-s', 'user']);
    const { value } = await place.json(['call', 'git', 'list']);
    expect([place.read(place.userFile), (value as { isError: boolean }).isError]).toEqual([
      { mcpServers: { git: { command: process.execPath, args: [COMMAND, 'workspace', '${PROJECT_DIR}'] } } },
      false,
    ]);
  });

  it.each([
    [['brave-search'], 'a key of the Brave Search API in BRAVE_API_KEY, which is not set'],
    [
      ['github', 'gh', 'token=abc', '-s', 'project'],
      'Refusing to write a secret (token) into .mcp.json, which is shared',
    ],
    [['github', 'gh', 'tokn=abc'], 'The preset github has no \\"tokn\\"'],
    [['github', 'gh', 'abc'], '\\"abc\\" is not key=value'],
    [['filesystem', 'folder='], 'folder is empty'],
    [['gitub'], 'There is no preset called \\"gitub\\"'],
    [['git', '-e', 'A=b'], '--preset can only be combined with --scope and --force'],
    [['git', '--', 'npx'], '--preset can only be combined with --scope and --force'],
  ])('%j is wrong usage, and writes nothing', async (words, sentence) => {
    const { status, stdout } = await place.run(['--json', 'add', '--preset', ...words], { env: NONE });
    expect([
      status,
      stdout.includes(sentence),
      place.read(place.userFile),
      place.read(place.projectFile),
    ]).toEqual([2, true, undefined, undefined]);
  });

  it('asks on a terminal for a missing key, unseen, and keeps it where no file of the configuration has it', async () => {
    const { status, screen } = await onTerminal(
      place,
      ['add', '--preset', 'brave-search', 'web', '-s', 'user'],
      {
        answers: [{ after: 'BRAVE_API_KEY', type: 'brave-secret-1\r' }],
        env: { ...NONE, PLUGBOARD_CREDENTIALS: 'file' },
      },
    );
    const { mcpServers } = place.read(place.userFile) as { mcpServers: Record<string, { env: unknown }> };
    const env = { PLUGBOARD_CREDENTIALS: 'file' };
    const { value } = await place.json(['input', 'list'], { env });
    expect({ status, shown: screen.includes('brave-secret-1'), env: mcpServers['web']?.env, value }).toEqual({
      status: 0,
      shown: false,
      env: { BRAVE_API_KEY: '${input:web-key}' },
      value: { inputs: [{ id: 'web-key', servers: ['web'], password: true, kept: 'file' }] },
    });
  });

  it('takes the key from the usual variable when nothing is typed, and reports that it is not set yet', async () => {
    const { status, screen } = await onTerminal(place, ['add', '--preset', 'brave-search', '-s', 'user'], {
      answers: [{ after: 'BRAVE_API_KEY', type: '\r' }],
      env: NONE,
    });
    const { mcpServers } = place.read(place.userFile) as { mcpServers: Record<string, { env: unknown }> };
    expect([
      status,
      mcpServers['brave-search']?.env,
      screen.includes('BRAVE_API_KEY is not set yet'),
    ]).toEqual([0, { BRAVE_API_KEY: '${BRAVE_API_KEY}' }, true]);
  });
});

describe('CFG-10: presets are locked', () => {
  it('every package of the table has a lock, which add writes; another version has none', async () => {
    const packages = PRESETS.flatMap((preset) => ('package' in preset ? [preset] : []));
    const env = Object.fromEntries(Object.keys(NONE).map((name) => [name, 'literal-secret']));
    for (const { id } of packages) await place.run(['add', '--preset', id, '-s', 'user'], { env });
    await place.run(['add', '--preset', 'filesystem', 'other', 'version=latest', '-s', 'user'], { env });
    const { value } = await place.json(['list', '--no-connect'], { env });
    const { servers } = value as { servers: { name: string; lock?: { package: string; version: string } }[] };
    expect(servers.map(({ name, lock }) => [name, lock?.package, lock?.version]).sort()).toEqual(
      [
        ...packages.map((preset) => [preset.id, preset.package, preset.version]),
        ['other', undefined, undefined],
      ].sort(),
    );
  });

  it('remove takes the lock away with the entry', async () => {
    await place.run(['add', '--preset', 'everything', '-s', 'project']);
    expect(place.read(join(place.project, 'mcp.lock.json'))).toMatchObject({
      servers: { everything: { package: '@modelcontextprotocol/server-everything' } },
    });
    expect((await place.run(['trust'])).stdout).toContain('approved  everything');
    await place.run(['remove', 'everything', '-s', 'project']);
    expect(place.read(join(place.project, 'mcp.lock.json'))).toEqual({ version: 1 });
  });
});
