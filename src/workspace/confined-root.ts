/** Resolves the paths that tools receive, and confines them to the project root. */

import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errorCode } from '../lib/error-code.ts';
import { openPinned, type PinnedFolder } from './pinned-folder.ts';
import { asFileError, badPath, outside } from './workspace-errors.ts';

const MAX_PATH_CHARS = 4_096;

/** A path with all links resolved. */
export interface Place {
  /** Absolute, without links, inside the root. */
  readonly real: string;
  /** For display: relative to the root, with forward slashes. */
  readonly shown: string;
}

/**
 * Paths may be relative to the root or absolute inside it. Links are followed as long as they stay inside.
 *
 * The check of a path can be outdated when the path is used. So files are opened through a handle of their folder,
 * which is verified after it was opened, and without following a link in the last component: if a folder is replaced by
 * a link in between, the result is an error, not another file.
 */
export class Root {
  /** Absolute and without links. */
  readonly path: string;
  readonly #given: string;

  constructor(folder: string) {
    this.#given = resolve(folder);
    this.path = realpathSync(this.#given);
  }

  /** Returns the path relative to the root, without resolving links; `''` is the root. */
  lexical(given: string): string {
    if (given.includes('\0')) throw badPath('A path cannot hold a NUL byte');
    if (given.length > MAX_PATH_CHARS) throw badPath(`A path has at most ${MAX_PATH_CHARS} characters`);
    const asked = given === '' ? '.' : given;
    // A caller that reached the root through a link uses paths with that link.
    const viaAlias = isAbsolute(asked) ? inside(this.#given, resolve(asked)) : undefined;
    const within = viaAlias ?? inside(this.path, resolve(this.path, asked));
    if (within === undefined) throw outside(given);
    return within;
  }

  /** Resolves all links of a path. A missing path is inside if its nearest existing folder is. */
  locate(given: string): Place {
    const wanted = join(this.path, this.lexical(given));
    const missing: string[] = [];
    for (let at = wanted; ; at = dirname(at)) {
      const real = realOrMissing(at, given);
      if (real !== undefined) {
        if (missing.length > 0 && isLink(join(real, missing[0] ?? ''))) throw danglingLink(given);
        return this.#placeOf(join(real, ...missing), given);
      }
      missing.unshift(basename(at));
    }
  }

  /** Opens a folder; with `make`, creates missing folders on the path. */
  enter({ real }: Place, options: { readonly make?: boolean } = {}): PinnedFolder {
    let folder = this.#enterExisting(real, options.make === true);
    try {
      const names = relative(folder.real, real).split(sep);
      for (const name of names) if (name !== '') folder = folder.descend(name, { make: true });
      return folder;
    } catch (thrown) {
      folder.close();
      throw asFileError(thrown, this.shown(real));
    }
  }

  /** Opens the parent folder of a file, and returns the file's name in it. Rejects the root itself. */
  enterParent(
    place: Place,
    options: { readonly make?: boolean } = {},
  ): { readonly folder: PinnedFolder; readonly name: string } {
    if (place.real === this.path) throw badPath('This is the root of the project, a folder');
    const parent = this.#placeOf(dirname(place.real), place.shown);
    return { folder: this.enter(parent, options), name: basename(place.real) };
  }

  contains(path: string): boolean {
    return inside(this.path, path) !== undefined;
  }

  shown(real: string): string {
    return relative(this.path, real).split(sep).join('/') || '.';
  }

  #placeOf(real: string, given: string): Place {
    if (!this.contains(real)) throw outside(given);
    return { real, shown: this.shown(real) };
  }

  #enterExisting(real: string, nearest: boolean): PinnedFolder {
    for (let at = real; ; at = dirname(at)) {
      try {
        return openPinned(at, (opened) => this.contains(opened));
      } catch (thrown) {
        const isMissing = errorCode(thrown) === 'ENOENT' && nearest && at !== this.path;
        if (!isMissing) throw asFileError(thrown, this.shown(real));
      }
    }
  }
}

/** Returns the part of a path below a folder; undefined if it is not below it. */
function inside(folder: string, path: string): string | undefined {
  if (path === folder) return '';
  const prefix = folder.endsWith(sep) ? folder : `${folder}${sep}`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}

function realOrMissing(path: string, given: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (thrown) {
    const code = errorCode(thrown);
    if (code === 'ENOENT') return undefined;
    throw asFileError(thrown, given);
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function danglingLink(given: string): Error {
  return badPath(`${JSON.stringify(given)} goes through a broken link`);
}
