/** Opens regular files inside the root for reading, and replaces them atomically. */

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import type { Place, Root } from './confined-root.ts';
import type { PinnedFolder } from './pinned-folder.ts';
import { asFileError, badPath } from './workspace-errors.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const NEW_FILE_MODE = 0o666;
const PERMISSION_BITS = 0o7777;
const RANDOM_BYTES = 6;

export interface OpenFile {
  readonly fd: number;
  readonly stats: Stats;
}

/** Opens a file while `work` runs. Rejects pipes, devices and folders, without blocking on a pipe. */
export async function withFile<T>(
  root: Root,
  place: Place,
  work: (file: OpenFile) => Promise<T> | T,
): Promise<T> {
  const { folder, name } = root.enterParent(place);
  let file: OpenFile;
  try {
    file = openIn(folder, name, place.shown);
  } finally {
    folder.close();
  }
  try {
    return await work(file);
  } finally {
    closeSync(file.fd);
  }
}

/** Opens a file in a pinned folder, without following a link. The caller closes it. */
export function openIn(folder: PinnedFolder, name: string, shown: string): OpenFile {
  let fd: number;
  try {
    fd = openSync(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (thrown) {
    throw asFileError(thrown, shown);
  }
  const stats = fstatSync(fd);
  if (stats.isFile()) return { fd, stats };
  closeSync(fd);
  throw notAFile(stats, shown);
}

export interface Replaced {
  /** The previous file; undefined: the file is new. */
  readonly before: Stats | undefined;
}

/**
 * Replaces a file atomically and keeps its permissions: readers see the old or the new content, never a part.
 *
 * @param expected the file that the new text is based on; nothing is written if it has changed since
 */
export function replaceFile(root: Root, place: Place, text: string, expected?: Stats): Replaced {
  const { folder, name } = root.enterParent(place, { make: expected === undefined });
  try {
    const before = lstatSync(folder.at(name), { throwIfNoEntry: false });
    if (before !== undefined && !before.isFile()) throw notAFile(before, place.shown);
    if (expected !== undefined && !isSame(before, expected)) {
      throw badPath(`${place.shown} was changed by another program at the same time`, 'Read it again.');
    }
    const temporary = writeAside(folder, text, before);
    try {
      renameSync(temporary, folder.at(name));
    } catch (thrown) {
      unlinkSync(temporary);
      throw thrown;
    }
    return { before };
  } catch (thrown) {
    throw asFileError(thrown, place.shown);
  } finally {
    folder.close();
  }
}

function writeAside(folder: PinnedFolder, text: string, before: Stats | undefined): string {
  const path = folder.at(`.plugboard-${randomBytes(RANDOM_BYTES).toString('hex')}.tmp`);
  const fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, NEW_FILE_MODE);
  try {
    writeFileSync(fd, text);
    if (before !== undefined) keepAttributes(fd, before);
    fsyncSync(fd);
  } catch (thrown) {
    unlinkSync(path);
    throw thrown;
  } finally {
    closeSync(fd);
  }
  return path;
}

function keepAttributes(fd: number, before: Stats): void {
  const { uid, gid } = fstatSync(fd);
  if (uid !== before.uid || gid !== before.gid) {
    try {
      fchownSync(fd, before.uid, before.gid);
    } catch {
      // Only root may change the owner; otherwise the file becomes ours, as with any editor.
    }
  }
  // After the owner: changing the owner clears set-id bits.
  fchmodSync(fd, before.mode & PERMISSION_BITS);
}

function isSame(now: Stats | undefined, then: Stats): boolean {
  return now !== undefined && now.ino === then.ino && now.mtimeMs === then.mtimeMs && now.size === then.size;
}

function notAFile(stats: Stats, shown: string): Error {
  if (stats.isDirectory()) return badPath(`${shown} is a folder`, 'Use list to see what is in it.');
  if (stats.isSymbolicLink())
    return badPath(`${shown} became a link while it was being opened`, 'Try again.');
  return badPath(`${shown} is not a regular file`, 'Pipes, sockets and devices are left alone.');
}
