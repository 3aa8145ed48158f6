import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { lockFileFor, replaceFile, updateFile, withFileLock } from '../../src/lib/locked-file.ts';
import { scratch } from '../world/scratch.ts';

const HOLDER = fileURLToPath(new URL('../fixtures/lock-holder.mjs', import.meta.url));

describe('withFileLock', () => {
  it('lets one in at a time, within one process too, and more waiters than the thread pool has threads', async () => {
    const { home } = scratch();
    const lock = lockFileFor(home.run, '/some/file');
    let inside = 0;
    let most = 0;
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        withFileLock(lock, async () => {
          most = Math.max(most, ++inside);
          await new Promise(setImmediate);
          order.push(index);
          inside--;
        }),
      ),
    );
    expect({ most, done: order.sort((a, b) => a - b) }).toEqual({ most: 1, done: [...Array(12).keys()] });
  });

  it('gives up after the time it was given, and by signal', async () => {
    const { home } = scratch();
    const lock = lockFileFor(home.run, '/some/file');
    await withFileLock(lock, async () => {
      await expect(withFileLock(lock, async () => 'never', { waitMs: 20 })).rejects.toMatchObject({
        code: 'ELOCKTIMEOUT',
      });
      const controller = new AbortController();
      const waiting = withFileLock(lock, async () => 'never', { signal: controller.signal });
      controller.abort();
      await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    });
  });

  it('F49: keeps the lock through a garbage collection while nothing refers to the work, until its process ends', async () => {
    const { home } = scratch();
    const lock = lockFileFor(home.run, '/some/file');
    const holder = spawn(process.execPath, ['--expose-gc', HOLDER, lock], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    await expect(withFileLock(lock, async () => 'taken', { waitMs: 20 })).rejects.toMatchObject({
      code: 'ELOCKTIMEOUT',
    });
    holder.kill('SIGKILL');
    expect(await withFileLock(lock, async () => 'taken')).toBe('taken');
  });

  it('frees the lock when the work throws, and keeps its folder private', async () => {
    const { home } = scratch();
    const lock = lockFileFor(join(home.run, 'locks'), '/some/file');
    await expect(withFileLock(lock, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await withFileLock(lock, async () => 'again')).toBe('again');
    expect([statSync(home.run).mode & 0o777, statSync(lock).mode & 0o777]).toEqual([0o700, 0o600]);
  });
});

describe('replaceFile', () => {
  it('keeps the mode of a file and leaves no other file', async () => {
    const { root, write, read } = scratch();
    const file = write('a.json', 'old');
    chmodSync(file, 0o640);
    await replaceFile(file, 'new');
    expect({
      content: read('a.json'),
      mode: statSync(file).mode & 0o777,
      files: readdirSync(root).sort(),
    }).toEqual({
      content: 'new',
      mode: 0o640,
      files: ['.git', 'a.json'],
    });
  });

  it('replaces the real file behind links, also one that is not there yet', async () => {
    const { root, write, read } = scratch();
    write('real/a.json', 'old');
    mkdirSync(join(root, 'links'));
    symlinkSync('../real/a.json', join(root, 'links/a.json'));
    symlinkSync('../real/b.json', join(root, 'links/b.json'));
    await replaceFile(join(root, 'links/a.json'), 'new a');
    await replaceFile(join(root, 'links/b.json'), 'new b');
    expect({
      a: read('real/a.json'),
      b: read('real/b.json'),
      links: ['a.json', 'b.json'].map((name) => lstatSync(join(root, 'links', name)).isSymbolicLink()),
    }).toEqual({ a: 'new a', b: 'new b', links: [true, true] });
  });

  it('takes away what dead processes left, and nothing else', async () => {
    const { root, write } = scratch();
    const file = write('a.json', 'old');
    const dead = 2 ** 22 + 1; // above the largest process id of Linux
    for (const name of [
      `.a.json.${dead}-0123abcd.tmp`,
      `.a.json.${process.pid}-0123abcd.tmp`,
      '.a.json.mine.tmp',
    ]) {
      writeFileSync(join(root, name), '');
      utimesSync(join(root, name), 0, 0);
    }
    await replaceFile(file, 'new');
    expect(readdirSync(root).sort()).toEqual(
      ['.a.json.mine.tmp', `.a.json.${process.pid}-0123abcd.tmp`, '.git', 'a.json'].sort(),
    );
  });
});

describe('updateFile', () => {
  it('starts over when another writer changed the file without the lock', async () => {
    const { home, write, read } = scratch();
    const file = write('a.json', 'one');
    let first = true;
    await updateFile(file, (text) => `${text} two`, {
      lockDir: home.run,
      beforeRename: () => {
        if (first) writeFileSync(file, 'editor');
        first = false;
      },
    });
    expect(read('a.json')).toBe('editor two');
  });

  it('gives up on a file that keeps changing', async () => {
    const { home, write, read } = scratch();
    const file = write('a.json', '0');
    const options = { lockDir: home.run, beforeRename: () => writeFileSync(file, `${read('a.json')}x`) };
    await expect(updateFile(file, (text) => `${text}!`, options)).rejects.toMatchObject({ code: 'ECHANGED' });
    expect(read('a.json')).toBe('0xxxxx');
  });

  it('refuses bytes that are not UTF-8 instead of mangling them', async () => {
    const { home, write } = scratch();
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    const file = write('a.json', bytes);
    await expect(updateFile(file, () => '{}', { lockDir: home.run })).rejects.toMatchObject({
      code: 'ENOTUTF8',
    });
    expect(readFileSync(file)).toEqual(bytes);
  });

  it('makes a new file with the mode it was given', async () => {
    const { home, root } = scratch();
    const file = join(root, 'new.json');
    await updateFile(file, (text) => `${text}`, { lockDir: home.run, mode: 0o600 });
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['undefined', 0o600]);
  });
});
