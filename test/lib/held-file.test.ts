import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasSystemLock, isHeld, lockFileFor, tryHold, withFileLock } from '../../src/lib/locked-file.ts';
import { scratch } from '../world/scratch.ts';

function lockFile(): string {
  const { home } = scratch();
  const lock = lockFileFor(home.run, '/some/file');
  mkdirSync(dirname(lock), { recursive: true });
  return lock;
}

/** The id of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

describe('locks where the system has none for us', () => {
  it('are held by one at a time and leave no file', async () => {
    const lock = lockFile();
    const release = await tryHold(lock);
    expect([await tryHold(lock), await isHeld(lock)]).toEqual([undefined, true]);
    await release?.();
    expect([await isHeld(lock), readdirSync(dirname(lock))]).toEqual([false, []]);
    const again = await tryHold(lock);
    expect(again).toBeTypeOf('function');
    await again?.();
  });

  it('of a process that was killed are taken over', async () => {
    const lock = lockFile();
    writeFileSync(`${lock}.held`, JSON.stringify({ pid: deadPid(), host: hostname(), id: 'x' }));
    // The first try removes the file, so that no two processes can both take it over.
    expect(await tryHold(lock)).toBeUndefined();
    const release = await tryHold(lock);
    expect(release).toBeTypeOf('function');
    await release?.();
  });

  it('of another machine, or half written, are taken over once they are no longer refreshed', async () => {
    const lock = lockFile();
    for (const text of ['', JSON.stringify({ pid: deadPid(), host: 'another', id: 'x' })]) {
      writeFileSync(`${lock}.held`, text);
      expect(await isHeld(lock)).toBe(true);
      const old = new Date(Date.now() - 60_000);
      utimesSync(`${lock}.held`, old, old);
      expect(await isHeld(lock)).toBe(false);
    }
  });

  it('exclude processes that use the system, and the other way round', async () => {
    const lock = lockFile();
    const release = await tryHold(lock);
    await expect(withFileLock(lock, async () => 'never', { waitMs: 20 })).rejects.toMatchObject({
      code: 'ELOCKTIMEOUT',
    });
    await release?.();
    expect(await hasSystemLock(lock)).toBe(false);
    await withFileLock(lock, async () =>
      expect(await hasSystemLock(lock)).toBe(process.platform === 'linux'),
    );
  });
});
