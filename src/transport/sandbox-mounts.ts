/** The files that a confined process sees, as one table: a path and what is there. */

import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

export type Mount =
  | { readonly kind: 'read' | 'write'; readonly from: string }
  /** A private folder that is empty at first. */
  | { readonly kind: 'private' }
  /** An empty file. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'link'; readonly to: string }
  | { readonly kind: 'dev' | 'proc' };

export class Mounts {
  readonly #table = new Map<string, Mount>();

  set(path: string, mount: Mount): void {
    this.#table.set(path, mount);
  }

  has(path: string): boolean {
    return this.#table.has(path);
  }

  /** Shows what exists, under its real name too. A place that can be written is not taken back. */
  show(path: string, kind: 'read' | 'write' = 'read'): void {
    if (!existsSync(path)) return;
    const from = realpathSync(path);
    for (const name of new Set([path, from])) {
      const before = this.#table.get(name);
      if (before?.kind === 'write') continue;
      // A name behind a link leads to the real one.
      if (name !== from && this.#isBehindLinks(name)) continue;
      // A second mount of the same files would be a way around what is covered there, and hide the packages next to them.
      this.#table.set(name, name === from ? { kind, from } : { kind: 'link', to: from });
    }
  }

  /** The mount that a path lies in; undefined where nothing of the system is shown. */
  at(path: string): Mount | undefined {
    for (let folder = path; ; folder = dirname(folder)) {
      const mount = this.#table.get(folder);
      if (mount !== undefined || dirname(folder) === folder) return mount;
    }
  }

  /** True if the process sees files of the system at this path. */
  shows(path: string): boolean {
    const kind = this.at(path)?.kind;
    return kind === 'read' || kind === 'write';
  }

  /**
   * Makes every folder between a mount and the writable mount around it a mount of its own. A mount point cannot be
   * renamed, removed or replaced by a link, so whatever is covered stays where other programs look for it.
   */
  holdInPlace(): void {
    for (const path of [...this.#table.keys()]) {
      const between: string[] = [];
      let folder = dirname(path);
      for (; !this.#table.has(folder) && dirname(folder) !== folder; folder = dirname(folder))
        between.push(folder);
      const around = this.#table.get(folder);
      if (around?.kind !== 'write') continue;
      for (const each of between) {
        this.#table.set(each, { kind: 'write', from: join(around.from, relative(folder, each)) });
      }
    }
  }

  /** Arguments of bubblewrap: folders before what is inside of them. */
  args(): string[] {
    return [...this.#table]
      .sort(([a], [b]) => depth(a) - depth(b) || (a < b ? -1 : 1))
      .filter(([path, mount]) => !this.#isShownAlready(path, mount))
      .flatMap(([path, mount]) => argsOf(path, mount));
  }

  /** Whether a path leads to the real one without a link that we add. */
  #isBehindLinks(path: string): boolean {
    const mount = this.at(path);
    if (mount?.kind === 'link') return true;
    // In a folder of the system its own links are in force.
    return mount?.kind === 'read' || mount?.kind === 'write';
  }

  #isShownAlready(path: string, mount: Mount): boolean {
    if (path === sep) return false;
    if (mount.kind === 'link') return this.#isBehindLinks(dirname(path));
    return mount.kind === 'read' && mount.from === path && this.at(dirname(path))?.kind === 'read';
  }
}

function depth(path: string): number {
  return path === sep ? 0 : path.split(sep).length;
}

function argsOf(path: string, mount: Mount): string[] {
  switch (mount.kind) {
    case 'read':
      return ['--ro-bind', mount.from, path];
    case 'write':
      return ['--bind', mount.from, path];
    case 'private':
      return ['--tmpfs', path];
    case 'nothing':
      return ['--ro-bind', '/dev/null', path];
    case 'link':
      return ['--symlink', mount.to, path];
    case 'dev':
    case 'proc':
      return [`--${mount.kind}`, path];
    default:
      return mount satisfies never;
  }
}
