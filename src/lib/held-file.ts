/**
 * A lock file for processes without system locks: created exclusively, refreshed while it is held, and reclaimed once
 * its holder is gone. Both kinds of locks exclude each other: processes with system locks wait for a live lock file
 * (`isHeld`), and on Linux those without read the system's lock table.
 */

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { errorCode } from './error-code.ts';
import { isAlive } from './process-group.ts';

/** How often a holder refreshes its file. */
const REFRESH_MS = 5_000;
/** A file that was not refreshed for this long is stale, regardless of its process id. */
const STALE_MS = 30_000;

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly id: string;
}

/** Releases the lock; never rejects. */
export type Release = () => Promise<void>;

/** Tries to take the lock; undefined while another process holds it. */
export async function tryHold(lockFile: string): Promise<Release | undefined> {
  const file = heldFile(lockFile);
  const holder: Holder = { pid: process.pid, host: hostname(), id: randomUUID() };
  try {
    await writeFile(file, JSON.stringify(holder), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    await removeStale(file);
    return undefined;
  }
  const refresh = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, REFRESH_MS);
  refresh.unref();
  return async () => {
    clearInterval(refresh);
    const now = await holderOf(file);
    if (now?.id === holder.id) await unlink(file).catch(() => undefined);
  };
}

/** True while a process without system locks holds the lock. */
export async function isHeld(lockFile: string): Promise<boolean> {
  const file = heldFile(lockFile);
  if (!existsSync(file)) return false;
  return !(await removeStale(file));
}

/** True if the system's lock table has a lock of this file; false also if the system has no readable table. */
export async function hasSystemLock(lockFile: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const [table, info] = await Promise.all([
    readFile('/proc/locks', 'utf8').catch(() => ''),
    stat(lockFile).catch(() => undefined),
  ]);
  return info !== undefined && new RegExp(`:${info.ino} `).test(table);
}

function heldFile(lockFile: string): string {
  return `${lockFile}.held`;
}

/** Removes a stale file; true if it is gone. It is renamed first, so that only one of several processes removes it. */
async function removeStale(file: string): Promise<boolean> {
  const before = await holderOf(file);
  const info = await stat(file).catch(() => undefined);
  if (info === undefined) return true;
  // A file without a holder is being written right now, or its writer was killed.
  const isGone = before !== undefined && before.host === hostname() && !isAlive(before.pid);
  if (!isGone && Date.now() - info.mtimeMs < STALE_MS) return false;
  const moved = `${file}.${randomUUID()}`;
  try {
    await rename(file, moved);
  } catch {
    return !existsSync(file);
  }
  const taken = await holderOf(moved);
  if (taken?.id !== before?.id) {
    // Another process reclaimed it between our read and the rename.
    await rename(moved, file).catch(() => undefined);
    return false;
  }
  await unlink(moved).catch(() => undefined);
  return true;
}

async function holderOf(file: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}
