/** Updates files shared by several processes: a system lock around read, change and atomic replace. */

import { isUtf8 } from 'node:buffer';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import {
  lstat,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  stat,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from './error-code.ts';
import { isInside } from './inside.ts';
import { makeFolder } from './make-folder.ts';
import { isAlive } from './process-group.ts';
import { type SystemLocks, systemLocks } from './system-locks.ts';

/** How long to wait for another process before failing. */
export const LOCK_WAIT_MS = 30_000;
/** The longest pause between two attempts to lock. */
const LOCK_POLL_MS = 20;
/** How often a file may change during an update (an editor that saves) before it fails. */
const MAX_RACES = 5;
/** A temporary file of a dead process is removed when it is at least this old. */
const STALE_TEMPORARY_MS = 5_000;
const MAX_LINKS = 8;

/** Why a file could not be locked, read or replaced, in addition to the system's own codes. */
export type LockedFileCode = 'ELOCKTIMEOUT' | 'ENOTUTF8' | 'ECHANGED' | 'ELEADSOUT';

export interface LockOptions {
  readonly waitMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ReplaceOptions {
  /** Mode of a new file; an existing one keeps its own. */
  readonly mode?: number | undefined;
  /** False for a file that can be made again: after a power failure it may be empty. */
  readonly durable?: boolean | undefined;
  /** Called when the new content is safely on disk under its temporary name, before the rename. */
  readonly beforeRename?: ((temporary: string) => void | Promise<void>) | undefined;
}

export interface UpdateOptions extends LockOptions, ReplaceOptions {
  /** Folder of the lock files; never that of the file itself, so that projects stay clean. */
  readonly lockDir: string;
  /** The file must be in this folder after links are resolved, so that a project cannot redirect the write. */
  readonly within?: string | undefined;
}

/** Returns the lock file of a file; a hash, so that any path fits. */
export function lockFileFor(lockDir: string, file: string): string {
  return join(lockDir, `${createHash('sha256').update(file).digest('hex').slice(0, 32)}.lock`);
}

/**
 * Runs `work` while holding an exclusive lock, which the system frees when the holder dies. The lock file itself is
 * kept: deleting it would let two processes lock two different files.
 */
export async function withFileLock<T>(
  lockFile: string,
  work: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  await makeFolder(dirname(lockFile), 0o700);
  const system = systemLocks();
  // A number, not a FileHandle: a handle is closed when it is garbage-collected, which would free the lock while `work`
  // waits for something that nothing references.
  const descriptor = openSync(lockFile, 'a+', 0o600);
  try {
    const release = await polled(
      () => (system === undefined ? hold(lockFile) : lock(lockFile, descriptor, system)),
      options,
    );
    try {
      return await work();
    } finally {
      await release();
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Polls, because blocking in the thread pool would let four waiters starve the holder's own file work. */
async function polled(tryOnce: () => Promise<Release | undefined>, options: LockOptions): Promise<Release> {
  const deadline = performance.now() + (options.waitMs ?? LOCK_WAIT_MS);
  for (let tries = 0; ; tries++) {
    const release = await tryOnce();
    if (release !== undefined) return release;
    if (performance.now() >= deadline) throw fault('ELOCKTIMEOUT', 'another process holds the lock');
    await delay(Math.min(2 ** Math.min(tries, 5), LOCK_POLL_MS) * (0.5 + Math.random()), undefined, {
      signal: options.signal,
    });
  }
}

async function lock(
  lockFile: string,
  descriptor: number,
  { tryLock, unlock }: SystemLocks,
): Promise<Release | undefined> {
  if (!tryLock(descriptor)) return undefined;
  const release = async (): Promise<void> => unlock(descriptor);
  if (!(await isHeld(lockFile))) return release;
  await release();
  return undefined;
}

async function hold(lockFile: string): Promise<Release | undefined> {
  const release = await tryHold(lockFile);
  if (release === undefined || !(await hasSystemLock(lockFile))) return release;
  await release();
  return undefined;
}

/**
 * Replaces a file's content atomically: readers see the old or the new text, never a part. Links are followed, so the
 * real file is replaced; mode and owner are kept.
 */
export async function replaceFile(
  file: string,
  content: string,
  options: ReplaceOptions = {},
): Promise<void> {
  const target = await realTarget(file);
  const folder = dirname(target);
  const before = await stat(target).catch(() => undefined);
  await sweepTemporaries(target);
  const temporary = join(
    folder,
    `${temporaryPrefix(target)}${process.pid}-${randomBytes(4).toString('hex')}.tmp`,
  );
  try {
    const handle = await open(temporary, 'wx', before?.mode ?? options.mode ?? 0o666);
    try {
      // FileHandle.writeFile continues after a short write; a single write on a full disk would truncate the text.
      await handle.writeFile(content, 'utf8');
      if (before) {
        await handle.chown(before.uid, before.gid).catch(ignoreForeignOwner);
        await handle.chmod(before.mode & 0o7777);
      }
      if (options.durable !== false) await handle.sync();
    } finally {
      await handle.close();
    }
    await options.beforeRename?.(temporary);
    await rename(temporary, target);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  if (options.durable !== false) await syncFolder(folder);
}

/**
 * Reads, changes and replaces a file under its lock. `change` gets the text (undefined if the file does not exist) and
 * returns the new text, or undefined to change nothing. It is called again if a program that does not use the lock
 * changed the file in between.
 */
export async function updateFile(
  file: string,
  change: (text: string | undefined) => string | undefined | Promise<string | undefined>,
  options: UpdateOptions,
): Promise<void> {
  const target = await realTarget(file);
  const work = async (): Promise<void> => {
    // Under the lock, so that the file that is checked is the one that is written.
    await checkWithin(file, target, options.within);
    for (let race = 0; race < MAX_RACES; race++) {
      const before = await readText(target);
      const after = await change(before);
      if (after === undefined || after === before) return;
      if (await replacedUnlessChanged(target, before, after, options)) return;
    }
    throw fault('ECHANGED', 'the file kept changing while it was edited');
  };
  await withFileLock(lockFileFor(options.lockDir, target), work, options);
}

async function checkWithin(file: string, target: string, folder: string | undefined): Promise<void> {
  if (folder === undefined) return;
  const isSame = (await realTarget(file)) === target;
  if (isSame && isInside(target, await realTarget(folder))) return;
  throw fault('ELEADSOUT', 'the file is a link that leads out of its folder');
}

/** False if the file changed between our read and the rename. */
async function replacedUnlessChanged(
  target: string,
  before: string | undefined,
  after: string,
  options: ReplaceOptions,
): Promise<boolean> {
  const raced = fault('ECHANGED', 'another program changed the file');
  const beforeRename = async (temporary: string): Promise<void> => {
    await options.beforeRename?.(temporary);
    if ((await readText(target)) !== before) throw raced;
  };
  try {
    await replaceFile(target, after, { mode: options.mode, beforeRename });
    return true;
  } catch (error) {
    if (error === raced) return false;
    throw error;
  }
}

async function readText(file: string): Promise<string | undefined> {
  try {
    const bytes = await readFile(file);
    // Decoding would replace invalid UTF-8, and writing it back would lose data.
    if (!isUtf8(bytes)) throw fault('ENOTUTF8', 'the file is not UTF-8 text');
    return bytes.toString('utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Resolves symbolic links, even if the last one points to a file that does not exist yet. */
async function realTarget(file: string): Promise<string> {
  let path = resolve(file);
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      return await realpath(path);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
    const info = await lstat(path).catch(() => undefined);
    if (!info?.isSymbolicLink()) break;
    path = resolve(dirname(path), await readlink(path));
  }
  const folder = await realpath(dirname(path)).catch(() => dirname(path));
  return join(folder, basename(path));
}

function temporaryPrefix(target: string): string {
  return `.${basename(target)}.`;
}

/** Removes temporary files of killed processes next to the file. */
async function sweepTemporaries(target: string): Promise<void> {
  const folder = dirname(target);
  const prefix = temporaryPrefix(target);
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = name.startsWith(prefix)
      ? /^(\d+)-[0-9a-f]{8}\.tmp$/.exec(name.slice(prefix.length))?.[1]
      : undefined;
    if (owner === undefined || isAlive(Number(owner))) continue;
    const left = join(folder, name);
    const info = await stat(left).catch(() => undefined);
    if (info && Date.now() - info.mtimeMs >= STALE_TEMPORARY_MS) await unlink(left).catch(() => undefined);
  }
}

/** Makes the rename itself durable; not every system can open a folder for that. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  if (!handle) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}

/** Ignores chown errors: only root can change the owner, and others already own the file or cannot change that. */
function ignoreForeignOwner(error: unknown): void {
  if (!['EPERM', 'EINVAL', 'ENOSYS'].includes(errorCode(error) ?? '')) throw error;
}

function fault(code: LockedFileCode, message: string): Error {
  return Object.assign(new Error(message), { code });
}

// Lock files, for processes without system locks: created exclusively, refreshed while held, and reclaimed once their
// holder is gone. Both kinds of locks exclude each other: processes with system locks wait for a live lock file
// (`isHeld`), and on Linux those without read the system's lock table.

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
