import { execFile, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { PlugboardError } from '../../src/errors.ts';
import { openSecrets, type SecretStore } from '../../src/secrets/store.ts';

const run = promisify(execFile);
const KEEPER = fileURLToPath(new URL('../fixtures/auth-keyring.mjs', import.meta.url));
const folders: string[] = [];
afterEach(async () => {
  for (const dir of folders.splice(0)) await rm(dir, { recursive: true, force: true });
});

async function temporary(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'plugboard-secrets-'));
  folders.push(dir);
  return dir;
}

async function fileStore(): Promise<{ store: SecretStore; home: ReturnType<typeof homeAt> }> {
  const home = homeAt(join(await temporary(), 'home'));
  return { store: openSecrets({ home, env: { PLUGBOARD_CREDENTIALS: 'file' } }), home };
}

describe('the file', () => {
  // Protocol: 25-authorization-72, 25-overview-10c, 26-auth-security-5, 26-overview-10c
  it('keeps, gives back and forgets, readable by its owner only', async () => {
    const { store, home } = await fileStore();
    expect(await store.get('a')).toBeUndefined();
    expect(await store.delete('a')).toBe(false);
    expect(await store.set('a', 'secret "1"\n')).toBe('file');
    expect([await store.get('a'), await store.place('a')]).toEqual(['secret "1"\n', 'file']);
    expect((await stat(home.credentials)).mode & 0o777).toBe(0o600);
    expect((await stat(home.dir)).mode & 0o777).toBe(0o700);
    expect([await store.delete('a'), await store.get('a'), await store.place('a')]).toEqual([
      true,
      undefined,
      undefined,
    ]);
  });

  it('gets its narrow mode back before a secret goes in', async () => {
    const { store, home } = await fileStore();
    await store.set('a', '1');
    await chmod(home.credentials, 0o644);
    await store.set('a', '2');
    expect((await stat(home.credentials)).mode & 0o777).toBe(0o600);
  });

  it('loses nothing to twenty writers at once', async () => {
    const { store, home } = await fileStore();
    const others = Array.from({ length: 20 }, () =>
      openSecrets({ home, env: { PLUGBOARD_CREDENTIALS: 'file' } }),
    );
    await Promise.all(others.map((other, index) => other.set(`key-${index}`, String(index))));
    const values = await Promise.all(others.map((_, index) => store.get(`key-${index}`)));
    expect(values).toEqual(others.map((_, index) => String(index)));
  });

  it('that cannot be read is never overwritten, and the error shows nothing of it', async () => {
    const { store, home } = await fileStore();
    await store.set('a', '1');
    const notJson = Buffer.from('{"secrets": {"a": "top-secret" oops');
    const notUtf8 = Buffer.from('{"secrets": {"a": "top-secret\xff"}}', 'latin1');
    for (const broken of [notJson, notUtf8]) {
      await writeFile(home.credentials, broken);
      for (const work of [() => store.get('a'), () => store.set('b', '2'), () => store.delete('a')]) {
        const error = await work().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error).toBeInstanceOf(PlugboardError);
        expect(JSON.stringify(error)).toBe(
          JSON.stringify({
            code: 'CONFIG_UNWRITABLE',
            message: `${home.credentials} is not a credentials file that can be read`,
            hint: 'Fix it, or move it away and log in again.',
          }),
        );
      }
      expect(await readFile(home.credentials)).toEqual(broken);
    }
  });
});

describe('the keyring', () => {
  it('F50: without one, secrets go to the file, with one notice', async () => {
    const home = join(await temporary(), 'home');
    const env = { PATH: process.env['PATH'], HOME: await temporary() };
    const { stdout } = await run(process.execPath, [KEEPER, home], { env });
    expect(JSON.parse(stdout)).toEqual({
      places: ['file', 'file'],
      values: ['first', 'second'],
      found: 'file',
      notices: [
        `No system keyring can be used here; logins are kept in ${join(home, 'credentials.json')}, readable by you only.`,
      ],
      file: true,
      after: [true, null],
      cleared: [1, null, 'theirs'],
    });
    expect((await stat(join(home, 'credentials.json'))).mode & 0o777).toBe(0o600);
  });

  it('F50: a real one is used, and nothing is written to a file', async () => {
    // A session of its own with Debian's gnome-keyring: the person's own keyring is never touched.
    const dir = await temporary();
    const home = join(dir, 'home');
    const env = {
      PATH: process.env['PATH'],
      HOME: dir,
      XDG_DATA_HOME: join(dir, 'data'),
      XDG_RUNTIME_DIR: dir,
    };
    const inside = `printf '\\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; exec "$0" "$@"`;
    const session = spawnSync(
      'dbus-run-session',
      ['--', 'sh', '-c', inside, process.execPath, KEEPER, home],
      {
        env,
        encoding: 'utf8',
      },
    );
    expect(JSON.parse(session.stdout)).toEqual({
      places: ['keyring', 'keyring'],
      values: ['first', 'second'],
      found: 'keyring',
      notices: [],
      file: false,
      after: [true, null],
      cleared: [1, null, 'theirs'],
    });
  });
});
