/**
 * A folder that is held open, so that its files are opened through the checked folder and not through a path that may
 * change.
 */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../lib/error-code.ts';
import { swapped } from './workspace-errors.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const NEW_FOLDER_MODE = 0o777;

/** Linux provides a path for an open folder, through which `open` and `rename` use exactly that folder. */
const HAS_FD_PATHS: boolean = process.platform === 'linux' && existsSync('/proc/self/fd');

export type Accept = (real: string) => boolean;

export class PinnedFolder {
  /** The real path, as reported when it was opened. */
  readonly real: string;
  readonly #fd: number;
  readonly #accept: Accept;

  constructor(fd: number, real: string, accept: Accept) {
    this.#fd = fd;
    this.real = real;
    this.#accept = accept;
  }

  /** The path of the folder itself, which stays valid if its name changes. */
  get path(): string {
    return HAS_FD_PATHS ? fdPath(this.#fd) : this.real;
  }

  /** Returns the path of an entry in this folder, for calls that do not follow a link in the last component. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Opens a subfolder and closes this folder. */
  descend(name: string, { make }: { readonly make: boolean }): PinnedFolder {
    if (make) makeOne(this.at(name));
    const next = open(this.at(name), join(this.real, name), this.#accept);
    this.close();
    return next;
  }

  /** Opens a subfolder and leaves this folder open. */
  child(name: string): PinnedFolder {
    return open(this.at(name), join(this.real, name), this.#accept);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Opens the folder at a path without links; `accept` checks the folder that was actually opened. */
export function openPinned(real: string, accept: Accept): PinnedFolder {
  return open(real, real, accept);
}

function open(path: string, expected: string, accept: Accept): PinnedFolder {
  const fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const real = HAS_FD_PATHS ? readlinkSync(fdPath(fd)) : realOfOpened(fd, expected);
    if (!accept(real)) throw swapped();
    return new PinnedFolder(fd, real, accept);
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
}

/** For systems without such paths: the path must still lead to the folder that was opened. */
function realOfOpened(fd: number, expected: string): string {
  const real = realpathSync.native(expected);
  const [opened, named] = [fstatSync(fd), statSync(real)];
  if (opened.ino !== named.ino || opened.dev !== named.dev) throw swapped();
  return real;
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: NEW_FOLDER_MODE });
  } catch (thrown) {
    if (errorCode(thrown) !== 'EEXIST') throw thrown;
  }
}

function fdPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}
