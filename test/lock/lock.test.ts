/** CFG-10: servers are locked to exact packages, and started from a store without npx and without a network. */

import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockWorld } from './lock-world.ts';

let world: LockWorld;
beforeEach(async () => {
  world = await LockWorld.open();
  const { registry } = world;
  registry.publish('left', '1.0.0', []);
  registry.publish('packed', '1.0.0', ['packed'], { dependencies: { left: '^1.0.0' } });
});
afterEach(() => world.close());

async function about(server: string, env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const { stdout, stderr } = await world.run(['call', server, 'about'], { env });
  return stdout === '' ? stderr : JSON.parse(stdout);
}

const STARTED = { version: '1.0.0', bin: 'packed', args: [], byNpx: false, hasBins: true };
/** A registry that cannot be reached. */
const OFFLINE = { npm_config_registry: 'http://127.0.0.1:9/' };

describe('plugboard lock', () => {
  it('CFG-10: writes the whole tree with hashes, and starts it offline although newer versions exist', async () => {
    world.servers({ one: ['packed', '--root', 'x'] });
    const { status, value } = await world.json(['lock']);
    expect({ status, value }).toEqual({
      status: 0,
      value: {
        servers: [
          {
            name: 'one',
            status: 'locked',
            package: 'packed',
            version: '1.0.0',
            integrity: expect.stringMatching(/^sha512-/),
            published: expect.stringMatching(/^\d{4}-/),
            packages: 2,
            file: '<home>/mcp.lock.json',
          },
        ],
      },
    });
    const lock = world.read(world.lockFile);
    expect(lock).toMatchObject({
      version: 1,
      servers: {
        one: {
          source: 'npm',
          package: 'packed',
          version: '1.0.0',
          requested: ['packed'],
          packages: {
            'node_modules/packed': { version: '1.0.0', integrity: expect.stringMatching(/^sha512-/) },
            'node_modules/left': { version: '1.0.0', integrity: expect.stringMatching(/^sha512-/) },
          },
        },
      },
    });
    world.registry.publish('packed', '1.1.0', ['packed'], { dependencies: { left: '^1.0.0' } });
    world.registry.publish('left', '1.1.0', []);
    world.registry.requests.length = 0;
    expect(await about('one', OFFLINE)).toEqual({ ...STARTED, args: ['--root', 'x'] });
    expect(world.registry.requests).toEqual([]);
  });

  it('CFG-10: keeps the lock that it finds, and installs it on another machine', async () => {
    world.servers({ one: ['packed@latest'] });
    await world.run(['lock']);
    const before = readFileSync(world.lockFile, 'utf8');
    world.registry.publish('packed', '2.0.0', ['packed']);
    expect((await world.run(['lock', 'one'])).stdout).toContain('one  unchanged  packed 1.0.0');
    rmSync(world.store, { recursive: true });
    expect((await world.run(['lock', 'one'])).stdout).toContain('one  installed  packed 1.0.0');
    expect(readFileSync(world.lockFile, 'utf8')).toBe(before);
    expect(await about('one', OFFLINE)).toEqual(STARTED);
  });

  it('installs a missing tree at the first start, from the lock', async () => {
    world.servers({ one: ['packed'] });
    await world.run(['lock']);
    rmSync(world.store, { recursive: true });
    world.registry.publish('packed', '2.0.0', ['packed']);
    expect(await about('one')).toEqual(STARTED);
  });

  it('locks lines of bunx, pnpm dlx and npm exec, and programs after -p', async () => {
    world.registry.publish('many', '1.0.0', ['first', 'many', 'third']);
    world.write(world.userFile, {
      mcpServers: {
        bun: { command: 'bunx', args: ['packed'] },
        pnpm: { command: 'pnpm', args: ['dlx', 'packed', '-x'] },
        npm: { command: 'npm', args: ['exec', '--yes', '--', 'packed', '-x'] },
        third: { command: 'npx', args: ['-y', '-p', 'many', 'third'] },
      },
    });
    expect((await world.run(['lock'])).status).toBe(0);
    expect(await about('bun', OFFLINE)).toEqual(STARTED);
    expect(await about('pnpm', OFFLINE)).toEqual({ ...STARTED, args: ['-x'] });
    expect(await about('npm', OFFLINE)).toEqual({ ...STARTED, args: ['-x'] });
    expect(await about('third', OFFLINE)).toEqual({ ...STARTED, bin: 'third' });
  });

  it('reports servers that cannot be locked; a named one is an error', async () => {
    world.write(world.userFile, {
      mcpServers: {
        py: { command: 'uvx', args: ['mcp-server-time'] },
        box: { command: 'docker', args: ['run', '-i', 'mcp/time'] },
        path: { command: 'npx', args: ['github:x/y'] },
        own: { command: 'node', args: ['/x.mjs'] },
      },
    });
    expect(await world.run(['lock'])).toEqual({
      status: 0,
      stdout: [
        '· py  not locked: packages of uv cannot be locked yet',
        '· box  not locked: images of containers cannot be locked yet',
        '· path  not locked: the arguments of npx do not name a package of a registry, or have options that a lock does not cover',
        '',
      ].join('\n'),
      stderr: '',
    });
    expect((await world.run(['lock', 'py'])).status).toBe(2);
  });

  it('shows the lock in list, get and doctor', async () => {
    world.servers({ one: ['packed'] });
    await world.run(['lock']);
    expect((await world.run(['get', 'one'])).stdout).toContain(
      'lock       packed 1.0.0, 2 packages (<home>/mcp.lock.json)',
    );
    expect((await world.run(['list', '--no-connect'])).stdout).toContain('locked to 1.0.0: npx -y packed');
    const { value } = await world.json(['doctor', 'one']);
    expect(JSON.stringify(value)).toContain('It is locked to packed 1.0.0 with 2 packages');
  });

  it('locks servers of local scope by project', async () => {
    world.write(world.userFile, {
      projects: { [world.project]: { mcpServers: { one: { command: 'npx', args: ['packed'] } } } },
    });
    await world.run(['lock']);
    expect(world.read(world.lockFile)).toMatchObject({
      version: 1,
      projects: { [world.project]: { servers: { one: { package: 'packed' } } } },
    });
    expect(await about('one', OFFLINE)).toEqual(STARTED);
  });

  it('minAge chooses a version that is old enough, and refuses an exact one that is not', async () => {
    world.registry.publish('packed', '1.1.0', ['packed'], { published: new Date(Date.now() - 3_600_000) });
    world.write(world.userFile, {
      minAge: '2d',
      mcpServers: {
        range: { command: 'npx', args: ['packed'] },
        exact: { command: 'npx', args: ['packed@1.1.0'] },
        own: { command: 'npx', args: ['packed'], minAge: '30m' },
      },
    });
    const { status, value } = await world.json(['lock']);
    expect(status).toBe(3);
    expect(value).toMatchObject({
      servers: [
        { name: 'range', status: 'locked', version: '1.0.0' },
        { name: 'exact', status: 'failed', error: { code: 'LOCK_FAILED' } },
        { name: 'own', status: 'locked', version: '1.1.0' },
      ],
    });
  });

  it('prune removes trees that no lock refers to, and keeps those of other projects', async () => {
    world.servers({ one: ['packed'] });
    await world.run(['lock']);
    expect((await world.run(['lock', 'prune'])).stdout).toContain('Nothing to remove');
    const tree = world.tree();
    rmSync(world.lockFile);
    expect((await world.run(['lock', 'prune'])).stdout).toBe('removed packed 1.0.0\n1 folder removed.\n');
    expect(existsSync(tree)).toBe(false);
  });
});

describe('the store', () => {
  beforeEach(async () => {
    world.servers({ one: ['packed'] });
    await world.run(['lock']);
  });

  it('is read-only', () => {
    const { mode } = lstatSync(join(world.tree(), 'node_modules', 'packed', 'packed.mjs'));
    expect((mode & 0o777).toString(8)).toBe('555');
    expect((lstatSync(world.tree()).mode & 0o777).toString(8)).toBe('555');
  });

  it('is used after it was copied with the home, with other times and inodes', async () => {
    const moved = `${world.home}-moved`;
    cpSync(world.home, moved, { recursive: true, verbatimSymlinks: true });
    for (const folder of [world.tree().replace(world.home, moved)]) chmodSync(folder, 0o555);
    expect(await about('one', { ...OFFLINE, PLUGBOARD_HOME: moved })).toEqual(STARTED);
  });

  it('is not used for another version in the entry', async () => {
    world.servers({ one: ['packed@1.0.0'] });
    const { status, stderr } = await world.run(['call', 'one', 'about']);
    expect({ status, stderr }).toEqual({
      status: 5,
      stderr: [
        'error: one was not started: the lock in <home>/mcp.lock.json is for another entry: it was made for packed, and the entry names packed@1.0.0',
        'hint:  Review the change, then lock it again: plugboard lock one',
        '',
      ].join('\n'),
    });
    await world.run(['lock', 'one']);
    expect(await about('one', OFFLINE)).toEqual(STARTED);
  });

  it.each([
    ['with merge conflicts', (text: string) => `<<<<<<< ours\n${text}=======\n>>>>>>> theirs\n`],
    ['of a later version', (text: string) => text.replace('"version": 1', '"version": 2')],
    ['without a hash', (text: string) => text.replace(/"integrity":"sha512-[^"]*",/, '')],
    [
      'with a path out of the folder',
      (text: string) => text.replace('node_modules/left', 'node_modules/../../left'),
    ],
    [
      'with a package of a repository',
      (text: string) => text.replace('"integrity":"', '"resolved":"git+ssh://git@x/y","integrity":"'),
    ],
  ])('a lock %s stops its servers', async (_, change) => {
    writeFileSync(world.lockFile, change(readFileSync(world.lockFile, 'utf8')));
    const { status, stderr } = await world.run(['call', 'one', 'about']);
    expect(status).toBe(5);
    expect(stderr).toContain('one was not started: <home>/mcp.lock.json: The lock cannot be used');
  });

  it('CFG-10: a lock with merge conflicts fails every command, changes nothing, and keeps the packages', async () => {
    const tree = world.tree();
    const merged = `<<<<<<< ours\n${readFileSync(world.lockFile, 'utf8')}=======\n>>>>>>> theirs\n`;
    writeFileSync(world.lockFile, merged);
    world.registry.requests.length = 0;
    const commands = [['lock'], ['lock', '--check'], ['outdated'], ['update', '--yes']];
    for (const command of commands) {
      const { status, stdout } = await world.run(command);
      expect({ command, status, stdout }).toEqual({
        command,
        status: 5,
        stdout: [
          '✖ one  one was not started: <home>/mcp.lock.json: The lock cannot be used: it has merge conflicts; its servers do not start',
          '    hint: Resolve the conflicts or restore the file from version control; without a copy, delete it and run plugboard lock.',
          '',
        ].join('\n'),
      });
    }
    const { stdout, stderr } = await world.run(['lock', 'prune']);
    expect(stdout).toBe('Nothing to remove: every package in the store is locked.\n');
    expect(stderr).toContain('<home>/mcp.lock.json cannot be read; the packages that it may need are kept.');
    expect([existsSync(tree), readFileSync(world.lockFile, 'utf8')]).toEqual([true, merged]);
    expect(world.registry.requests).toEqual([]);
  });

  it('CFG-10: --check fails for a lock that is not for the entry', async () => {
    world.servers({ one: ['packed@1.0.0'] });
    const { status, stdout } = await world.run(['lock', '--check']);
    expect(status).toBe(5);
    expect(stdout).toContain('it was made for packed, and the entry names packed@1.0.0');
  });

  it('is repaired after an interrupted installation', async () => {
    const tree = world.tree();
    rmSync(`${tree}.json`);
    expect(await about('one')).toEqual(STARTED);
    renameSync(`${tree}.files.json`, `${tree}.lost`);
    expect((await world.run(['lock', '--check'])).status).toBe(5);
    expect((await world.run(['lock', 'one'])).stdout).toContain('repaired');
    expect((await world.run(['lock', '--check'])).status).toBe(0);
  });
});

describe('a server that writes into its own folder', () => {
  it('is named when it is locked; its files are kept aside when it is installed again', async () => {
    world.registry.publish('@modelcontextprotocol/server-memory', '1.0.0', ['memory']);
    world.servers({ one: ['@modelcontextprotocol/server-memory'] });
    expect((await world.run(['lock'])).stdout).toContain('plugboard set one env.MEMORY_FILE_PATH=<file>');
    const folder = join(world.tree(), 'node_modules', '@modelcontextprotocol', 'server-memory');
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'memory.jsonl'), 'facts');
    expect((await world.run(['call', 'one', 'about'])).stderr).toContain('server-memory/memory.jsonl');
    const { value } = await world.json(['lock', 'one']);
    const [{ status, kept = '' } = {}] = (value as { servers: { status?: string; kept?: string }[] }).servers;
    expect(status).toBe('repaired');
    const path = 'node_modules/@modelcontextprotocol/server-memory/memory.jsonl';
    const old = join(kept.replace('<home>', world.home), path);
    expect(readFileSync(old, 'utf8')).toBe('facts');
    await world.run(['lock', 'prune']);
    expect(existsSync(old)).toBe(false);
  });
});

describe('a locked server in a sandbox', () => {
  it.each(['read-only', 'all'])('starts with filesystem %s', async (filesystem) => {
    world.servers({ one: ['packed'] }, { sandbox: { filesystem } });
    await world.run(['lock']);
    expect(await about('one', OFFLINE)).toEqual(STARTED);
  });
});
