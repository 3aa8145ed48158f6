/** A50: packages that are replaced, changed, extended or taken back after they were locked. */

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockWorld } from '../lock/lock-world.ts';

let world: LockWorld;
beforeEach(async () => {
  world = await LockWorld.open();
  const { registry } = world;
  registry.publish('left', '1.0.0', []);
  registry.publish('packed', '1.0.0', ['packed'], { dependencies: { left: '^1.0.0' } });
  world.servers({ one: ['packed'] });
  expect((await world.run(['lock'])).status).toBe(0);
});
afterEach(() => world.close());

/** Calls the server; returns the version that runs, or the error. */
async function version(env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout, stderr } = await world.run(['call', 'one', 'about'], { env });
  return stdout === '' ? stderr : String(JSON.parse(stdout).version);
}

/** Changes a file of the store as a program with the user's rights would, and hides it. */
function tamper(path: string, change: (full: string) => void): void {
  const full = join(world.tree(), path);
  const folders = [dirname(full), ...(existsSync(full) ? [full] : [])];
  const before = existsSync(full) ? lstatSync(full) : undefined;
  for (const each of folders) if (!lstatSync(each).isSymbolicLink()) chmodSync(each, 0o755);
  change(full);
  // Not through a link, which would change what it points to.
  if (before !== undefined && existsSync(full) && !lstatSync(full).isSymbolicLink()) {
    utimesSync(full, before.atime, before.mtime);
    chmodSync(full, before.mode);
  }
  chmodSync(dirname(full), 0o555);
}

describe('A50: a file in the store', () => {
  it.each<[string, string, (full: string) => void]>([
    [
      'changed in place, with its old time and length',
      'node_modules/packed/packed.mjs',
      (full) => {
        writeFileSync(full, readFileSync(full, 'utf8').replace('packed', 'PACKED'));
      },
    ],
    [
      'replaced by a link',
      'node_modules/packed/packed.mjs',
      (full) => {
        rmSync(full);
        symlinkSync('../../elsewhere.mjs', full);
      },
    ],
    [
      'added',
      'node_modules/packed/node_modules',
      (full) => {
        mkdirSync(join(full, 'left'), { recursive: true });
        writeFileSync(join(full, 'left', 'index.js'), 'evil()');
      },
    ],
    ['removed', 'node_modules/left/package.json', (full) => rmSync(full)],
    ['made writable', 'node_modules/left/package.json', (full) => chmodSync(full, 0o666)],
  ])('%s is refused at the next start, and named', async (what, path, change) => {
    expect(await version()).toBe('1.0.0');
    tamper(path, change);
    if (what === 'made writable') chmodSync(join(world.tree(), path), 0o666);
    const error = await version();
    expect(error).toContain('one cannot be started: files of packed 1.0.0 changed after they were installed');
    expect(error).toContain(path);
    expect((await world.run(['lock', '--check'])).status).toBe(5);
    expect((await world.run(['lock', 'one'])).stdout).toContain('replaced files that had been changed');
    expect(await version()).toBe('1.0.0');
  });

  it('changed together with its record is found by lock --check, from the hashes of the lock', async () => {
    const tree = world.tree();
    tamper('node_modules/packed/packed.mjs', (full) =>
      writeFileSync(full, `${readFileSync(full, 'utf8')}\n// x`),
    );
    const sum = await import('node:crypto').then(({ createHash }) =>
      createHash('sha256')
        .update(readFileSync(join(tree, 'node_modules/packed/packed.mjs')))
        .digest('hex'),
    );
    const record = JSON.parse(readFileSync(`${tree}.files.json`, 'utf8'));
    record['node_modules/packed/packed.mjs'] = `555 ${sum}`;
    writeFileSync(`${tree}.files.json`, JSON.stringify(record));
    expect(await version()).toBe('1.0.0');
    const { status, stdout } = await world.run(['lock', '--check']);
    expect({ status, names: stdout.includes('node_modules/packed/packed.mjs') }).toEqual({
      status: 5,
      names: true,
    });
  });
});

describe('A50: the registry', () => {
  beforeEach(() => rmSync(world.store, { recursive: true }));

  it('sends another tarball for a locked version: refused, nothing is installed', async () => {
    world.registry.swap('left', '1.0.0');
    const error = await version({ npm_config_cache: join(world.dir, 'fresh') });
    expect(error).toContain('The registry sent other content for a package than was locked');
    expect(await version({ npm_config_cache: join(world.dir, 'fresh') })).toContain(
      'error: The registry sent',
    );
  });

  it('has a new dependency in range: it is not used', async () => {
    world.registry.publish('left', '1.5.0', [], { dependencies: { evil: '*' } });
    world.registry.publish('evil', '1.0.0', []);
    expect(await version({ npm_config_cache: join(world.dir, 'fresh') })).toBe('1.0.0');
    expect(existsSync(join(world.tree(), 'node_modules', 'evil'))).toBe(false);
    expect(
      JSON.parse(readFileSync(join(world.tree(), 'node_modules/left/package.json'), 'utf8')).version,
    ).toBe('1.0.0');
  });

  it('took the version back: an installed server goes on, another machine gets the reason', async () => {
    expect(await version()).toBe('1.0.0');
    world.registry.remove('packed', '1.0.0');
    expect(await version()).toBe('1.0.0');
    rmSync(world.store, { recursive: true });
    const error = await version({ npm_config_cache: join(world.dir, 'fresh') });
    expect(error).toContain('npm failed with ');
    expect(error).toContain('plugboard update');
  });
});

describe('A50: a package', () => {
  it('whose name looks like a well-known one is not locked without a person', async () => {
    world.registry.publish('@modelcontextprotocol/server-filesystm', '1.0.0', ['x']);
    world.registry.publish('server-filesystem', '1.0.0', ['x']);
    world.servers({ typo: ['@modelcontextprotocol/server-filesystm'], bare: ['server-filesystem'] });
    for (const name of ['typo', 'bare']) {
      const { status, stderr } = await world.run(['lock', name]);
      expect(status).toBe(5);
      expect(stderr).toContain('looks like @modelcontextprotocol/server-filesystem and is another package');
    }
    expect((await world.run(['lock', '--yes'])).status).toBe(0);
  });

  it('with an install script: it does not run, and is named; it runs if the entry allows it', async () => {
    const marker = join(world.dir, 'ran');
    world.registry.publish('scripted', '1.0.0', ['scripted'], {
      scripts: { postinstall: `node -e "require('fs').writeFileSync('${marker}', '')"` },
    });
    world.servers({ one: ['scripted'] });
    const first = await world.run(['lock', 'one']);
    expect(first.stdout).toContain('install scripts did not run: scripted@1.0.0');
    expect(existsSync(marker)).toBe(false);
    world.servers({ one: ['scripted'] }, { installScripts: true });
    const second = await world.run(['lock', 'one']);
    expect(second.stdout).toContain('install scripts ran: scripted@1.0.0');
    expect(existsSync(marker)).toBe(true);
    expect(await version()).toBe('1.0.0');
  });
});

describe('A50: a lock of a project', () => {
  const entry = { command: 'npx', args: ['-y', 'packed'] };
  const state = async (): Promise<unknown> => {
    const { value } = await world.json(['trust']);
    return (value as { servers: { state: string }[] }).servers[0]?.state;
  };

  beforeEach(async () => {
    rmSync(world.userFile);
    rmSync(world.lockFile);
    world.write(world.projectFile, { mcpServers: { one: entry } });
  });

  it('is not made before the entry is approved; the approval is kept by who makes it', async () => {
    expect((await world.run(['lock', 'one'])).stdout).toContain(
      'not locked: one is defined in <project>/.mcp.json',
    );
    await world.run(['trust', 'one', '--yes']);
    expect((await world.run(['lock', 'one'])).status).toBe(0);
    expect(await state()).toBe('trusted');
    expect(await version()).toBe('1.0.0');
  });

  it('needs a new approval when it changes, even by one hash', async () => {
    await world.run(['trust', 'one', '--yes']);
    await world.run(['lock', 'one']);
    const text = readFileSync(world.projectLock, 'utf8');
    writeFileSync(
      world.projectLock,
      text.replace('"requires"', '"x"').replace(/("node_modules\/left": \{"version":"1\.0\.)0/, '$19'),
    );
    expect(await state()).toBe('changed');
    expect((await world.run(['call', 'one', 'about'])).status).toBe(5);
    rmSync(world.projectLock);
    expect(await state()).toBe('changed');
  });
});
