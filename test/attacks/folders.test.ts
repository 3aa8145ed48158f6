/** A24: a folder that a person is merely in runs nothing, whatever it holds; the folder is used only on the person's word. */

import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHost, type ServerEntry } from '../../src/index.ts';
import { COMMAND, FIXTURES, Place } from '../cli/command.ts';
import { Agent } from '../daemon/agent.ts';
import { type FolderWorld, folderWorld } from './folder-attacks.ts';

const TELLER = join(FIXTURES, 'folder-teller.mjs');
const LONGEST_MS = 120_000;

describe('CON-14, A24: a folder that a person is in', () => {
  let world: FolderWorld;
  const path = process.env['PATH'];
  beforeAll(async () => {
    world = await folderWorld();
    process.env['PATH'] = world.env['PATH'];
  });
  afterAll(async () => {
    process.env['PATH'] = path;
    await world.close();
  });

  it('runs its code in a plain client, in twelve ways', { timeout: LONGEST_MS }, async () => {
    await world.naive();
    expect(world.ran()).toEqual(world.attacks.map(({ id }) => id).sort());
  });

  it('runs nothing on `list`, and the servers of its person work', { timeout: LONGEST_MS }, async () => {
    const { value } = await world.place.json(['list']);
    const { servers, problems } = value as Listed;
    const connected = servers.filter(({ status }) => status === 'connected').map(({ name }) => name);
    expect(world.ran()).toEqual([]);
    expect(connected).toEqual(expect.arrayContaining(['script-shell', 'node-options']));
    // The hint names what to write for the one entry that refers to a file of the folder.
    expect(problems.map(({ server }) => server)).toEqual(['script']);
  });

  it('runs nothing behind `serve`, through the daemon', { timeout: LONGEST_MS }, async () => {
    const { PLUGBOARD_DAEMON: _, ...env } = process.env;
    const own = { ...env, PLUGBOARD_HOME: world.place.home, PLUGBOARD_CREDENTIALS: 'file' };
    const agent = new Agent(world.place, [process.execPath, COMMAND, 'serve'], own);
    await agent.open();
    const { tools } = (await agent.request('tools/list')) as { tools: { name: string }[] };
    await agent.leave();
    expect(world.ran()).toEqual([]);
    expect(tools.map(({ name }) => name)).toContain('script-shell__where');
  });
});

interface Listed {
  readonly servers: readonly { readonly name: string; readonly status: string }[];
  readonly problems: readonly { readonly server?: string; readonly hint?: string }[];
}

interface Where {
  readonly cwd: string;
  readonly files: readonly string[];
  readonly args: readonly string[];
  readonly project: string | null;
  readonly path: string;
}

describe('CON-14, A24: where a server starts', () => {
  let place: Place;
  beforeEach(() => {
    place = new Place();
  });
  afterEach(() => place.remove());

  const teller = (...args: string[]): ServerEntry => ({
    command: process.execPath,
    args: [TELLER, ...args],
    approval: 'approve',
  });
  const where = async (server: string, cwd = place.project): Promise<Where> => {
    const { value } = await place.json(['call', server, 'where'], { cwd });
    const { content } = value as { content: [{ text: string }] };
    return JSON.parse(
      content[0].text.replaceAll('<home>', place.home).replaceAll('<project>', place.project),
    );
  };

  it('starts the servers of a person in private, empty folders, one for each', async () => {
    place.write(place.userFile, {
      mcpServers: { one: teller(), 'two & more': teller() },
      projects: { [place.project]: { mcpServers: { local: teller() } } },
    });
    const [one, two, local] = [await where('one'), await where('two & more'), await where('local')];
    const code = await createHost({
      home: place.home,
      cwd: place.project,
      servers: { code: teller() },
      watch: false,
    });
    await code.ready();
    const result = await code.call('mcp__code__where', {});
    await code.close();
    const inCode = JSON.parse((result.content[0] as { text: string }).text) as Where;
    const all = [one, two, local, inCode];
    const folders = new Set(all.map(({ cwd }) => cwd));
    expect(folders.size).toBe(4);
    for (const { cwd, files, project } of all) {
      expect([dirname(cwd), statSync(cwd).mode & 0o777]).toEqual([join(place.home, 'folders'), 0o700]);
      expect([files, project]).toEqual([[], null]);
    }
    // The same folder the next time, and in another project.
    writeFileSync(join(one.cwd, 'kept'), '');
    const other = join(place.dir, 'other');
    mkdirSync(other);
    expect(await where('one', other)).toMatchObject({ cwd: one.cwd, files: ['kept'] });
  });

  it('fills in ${PROJECT_DIR}, and names the project only to servers that ask for it', async () => {
    place.write(place.userFile, {
      mcpServers: { files: teller('${PROJECT_DIR}', '--at=${PROJECT_DIR}') },
    });
    const sub = join(place.project, 'sub');
    mkdirSync(sub);
    expect(await where('files', sub)).toMatchObject({
      args: [place.project, `--at=${place.project}`],
      project: place.project,
    });
  });

  it('starts a server in the project only after the person approved the folder, once for each', async () => {
    const other = join(place.dir, 'other');
    mkdirSync(join(other, '.git'), { recursive: true });
    place.write(place.userFile, { mcpServers: { here: { ...teller(), cwd: '.' }, plain: teller() } });
    const state = async (cwd: string): Promise<unknown> => {
      const { value } = await place.json(['list'], { cwd });
      return (value as Listed).servers.map(({ name, status }) => [name, status]);
    };
    const asked = [
      ['here', 'untrusted'],
      ['plain', 'connected'],
    ];
    expect(await state(place.project)).toEqual(asked);
    const refused = await place.run(['call', 'here', 'where']);
    expect([refused.status, refused.stderr]).toEqual([
      5,
      expect.stringContaining('here would run code of <project>, which you have not approved for it'),
    ]);
    expect((await place.run(['trust'])).stdout).toMatch(/^ {2}runs in +<project>$/m);
    expect((await place.json(['trust', 'here', '--yes'])).value).toMatchObject({
      servers: [{ name: 'here', state: 'trusted', folder: '<project>' }],
    });
    expect(await where('here')).toMatchObject({ cwd: place.project, project: place.project });
    expect(await state(other)).toEqual(asked);
    await place.run(['trust', 'here', '--revoke']);
    expect(await state(place.project)).toEqual(asked);
  });

  it('reports that the folder may be in the project if it is in a variable', async () => {
    const outside = join(place.dir, 'outside');
    mkdirSync(outside);
    place.write(place.userFile, { mcpServers: { there: { ...teller(), cwd: '${DATA}' } } });
    const env = { DATA: outside };
    const refused = await place.run(['call', 'there', 'where'], { env });
    expect(refused.stderr).toContain(
      'there starts in "${DATA}", which may be in <project>; you have not approved it there',
    );
    expect(refused.stderr).not.toContain('would run code of');
    expect((await place.run(['trust'])).stdout).toMatch(
      /^ {2}runs in +\$\{DATA\}, which may be in <project>$/m,
    );
    await place.run(['trust', 'there', '--yes'], { env });
    const { value } = await place.json(['call', 'there', 'where'], { env });
    expect(JSON.stringify(value)).toContain(outside);
  });

  it('asks about every entry that takes its code from the project, and about none that only reads there', async () => {
    const asks: Record<string, unknown> = {
      cwd: { command: 'x', cwd: '${PROJECT_DIR}/sub' },
      pwd: { command: 'x', cwd: '${PWD}' },
      command: { command: '${PROJECT_DIR}/bin/x' },
      script: { command: 'node', args: ['--no-warnings', '${PROJECT_DIR}/x.mjs'] },
      shell: { command: 'sh', args: ['-c', 'cd ${PROJECT_DIR} && ./x'] },
      make: { command: 'make', args: ['-C', '${PROJECT_DIR}', 'serve'] },
      prefix: { command: 'npx', args: ['--prefix', '${PROJECT_DIR}', 'x'] },
      run: { command: 'uv', args: ['run', '--directory', '${PROJECT_DIR}', 'x'] },
      loader: { command: 'python3', args: ['-m', 'x'], env: { PYTHONPATH: '${PROJECT_DIR}' } },
      path: { command: 'x', env: { PATH: '${PROJECT_DIR}/bin:/usr/bin' } },
      option: { command: 'node', args: ['--import', '/opt/hook.mjs', '${PROJECT_DIR}/x.mjs'] },
      sub: { command: 'uvx', args: ['mcp', 'run', '${PROJECT_DIR}/x.py'] },
      wrapper: { command: 'nice', args: ['node', '${PROJECT_DIR}'] },
      words: { command: 'sh', args: ['-c', 'exec node "$1"', '_', '${PROJECT_DIR}'] },
      home: { command: 'x', env: { HOME: '${PROJECT_DIR}' } },
      helper: { url: 'http://127.0.0.1:1/mcp', headersHelper: '"$PLUGBOARD_PROJECT_DIR"/x.sh' },
    };
    const passes: Record<string, unknown> = {
      data: { command: 'npx', args: ['-y', 'server-filesystem', '${PROJECT_DIR}'] },
      flag: { command: 'uvx', args: ['mcp-server-git', '--repository', '${PROJECT_DIR}'] },
      volume: { command: 'docker', args: ['run', '-i', 'mcp/x', '-v', '${PROJECT_DIR}:/work'] },
      own: { command: 'node', args: ['/opt/server.mjs', '${PROJECT_DIR}'] },
      elsewhere: { command: 'x', cwd: '${HOME}/servers' },
      variable: { command: 'x', env: { ROOT: '${PROJECT_DIR}' } },
    };
    place.write(place.userFile, { mcpServers: { ...asks, ...passes } });
    const { value } = await place.json(['list', '--no-connect']);
    const waiting = (value as Listed).servers.filter(({ status }) => status === 'untrusted');
    expect(waiting.map(({ name }) => name)).toEqual(Object.keys(asks));
  });

  it('keeps the settings of an approved folder from the launcher of a package', async () => {
    const world = await folderWorld();
    try {
      const entry = world.attacks.find(({ id }) => id === 'script-shell')?.entry;
      world.place.write(world.place.userFile, { mcpServers: { here: { ...entry, cwd: '.' } } });
      await world.place.run(['trust', 'here', '--yes']);
      const { value } = await world.place.json(['list']);
      expect((value as Listed).servers).toMatchObject([{ name: 'here', status: 'connected' }]);
      expect(world.ran()).toEqual([]);
    } finally {
      await world.close();
    }
  });

  it('stores the files that a command names by a relative path with their absolute path', async () => {
    writeFileSync(join(place.project, 'server.mjs'), '');
    const bin = join(place.project, 'bin');
    place.write(join(bin, 'own-tool'), '#!/bin/sh\n');
    for (const [name, ...words] of [
      ['script', 'node', 'server.mjs', '--root=./bin', '.', 'stdio'],
      ['package', 'npx', '-y', '@scope/server', 'https://x.test/a', '--flag'],
    ]) {
      await place.run(['add', name ?? '', '-s', 'user', '--', ...words]);
    }
    await place.run(['add', 'shared', '-s', 'project', '--', 'node', './server.mjs']);
    const stored = place.read(place.userFile) as { mcpServers: Record<string, { args: string[] }> };
    expect(stored.mcpServers['script']?.args).toEqual([
      join(place.project, 'server.mjs'),
      `--root=${bin}`,
      place.project,
      'stdio',
    ]);
    expect(stored.mcpServers['package']?.args).toEqual(['-y', '@scope/server', 'https://x.test/a', '--flag']);
    expect(place.read(place.projectFile)).toMatchObject({
      mcpServers: { shared: { args: ['./server.mjs'] } },
    });
  });

  it('does not let a folder decide what the words of an entry mean', async () => {
    const ran = join(place.dir, 'ran');
    place.write(
      join(place.project, 'preload', 'config.js'),
      `require('node:fs').writeFileSync('${ran}', '')`,
    );
    place.write(join(place.project, 'org', 'repo', 'package.json'), '{}');
    const words = ['node', '-r', 'preload/config', TELLER];
    const userHome = join(place.dir, 'user');
    place.write(join(userHome, '.cursor', 'mcp.json'), {
      mcpServers: {
        imported: { command: 'node', args: words.slice(1) },
        dot: { command: 'x', args: ['./org'] },
      },
    });
    await place.run(['add', 'added', '-s', 'user', '--', ...words]);
    await place.run(['add', 'package', '-s', 'user', '--', 'npx', '-y', 'org/repo']);
    await place.run(['import', 'cursor', '-y'], { env: { HOME: userHome } });
    const stored = place.read(place.userFile) as { mcpServers: Record<string, { args: string[] }> };
    const args = Object.fromEntries(
      Object.entries(stored.mcpServers).map(([name, entry]) => [name, entry.args]),
    );
    expect(args).toEqual({
      added: words.slice(1),
      package: ['-y', 'org/repo'],
      imported: words.slice(1),
      dot: ['./org'],
    });
    await place.run(['--server', `now=${words.join(' ')}`, 'call', 'now', 'where']);
    await place.run(['call', 'added', 'where']);
    expect(existsSync(ran)).toBe(false);
  });

  it('keeps private folders out of a project that holds the home', async () => {
    const home = join(place.project, '.plugboard');
    const link = join(place.dir, 'link');
    symlinkSync(place.project, link);
    place.write(join(home, 'config.json'), { mcpServers: { one: teller() } });
    const env = { HOME: join(place.dir, 'user'), XDG_CACHE_HOME: '' };
    for (const PLUGBOARD_HOME of [home, join(link, '.plugboard')]) {
      const { value } = await place.json(['call', 'one', 'where'], { env: { ...env, PLUGBOARD_HOME } });
      const { content } = value as { content: [{ text: string }] };
      expect((JSON.parse(content[0].text) as Where).cwd).toMatch(
        join(place.dir, 'user', '.cache', 'plugboard'),
      );
    }
  });

  it('gives a helper of a project the variables that it names, and no others', async () => {
    const told = join(place.dir, 'told');
    const helper = `env > '${told}'; echo "{\\"X-Key\\": \\"$NAMED\\"}"`;
    place.write(place.projectFile, {
      mcpServers: { docs: { url: 'http://127.0.0.1:1/mcp', headersHelper: helper } },
    });
    await place.run(['trust', 'docs', '--yes']);
    await place.run(['list'], { env: { NAMED: 'yes', SECRET_KEY: 'no' } });
    const seen = readFileSync(told, 'utf8');
    expect([seen.includes('NAMED=yes'), seen.includes('SECRET_KEY')]).toEqual([true, false]);
  });
});
