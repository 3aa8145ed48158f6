/** The mount table of a confined process: the files it sees, by path. */

import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

export type Mount =
  | { readonly kind: 'read' | 'write'; readonly from: string }
  /** A private folder, initially empty. */
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

  /** Shows an existing path, also under its real path. A writable path stays writable. */
  show(path: string, kind: 'read' | 'write' = 'read'): void {
    if (!existsSync(path)) return;
    const from = realpathSync(path);
    for (const name of new Set([path, from])) {
      const before = this.#table.get(name);
      if (before?.kind === 'write') continue;
      // A name behind a symbolic link already leads to the real path.
      if (name !== from && this.#isBehindLinks(name)) continue;
      // A second mount of the same files would bypass their cover, and hide the packages next to them.
      this.#table.set(name, name === from ? { kind, from } : { kind: 'link', to: from });
    }
  }

  /** Returns the mount that contains a path; undefined if no system files are shown there. */
  at(path: string): Mount | undefined {
    for (let folder = path; ; folder = dirname(folder)) {
      const mount = this.#table.get(folder);
      if (mount !== undefined || dirname(folder) === folder) return mount;
    }
  }

  /** True if the process sees system files at this path. */
  shows(path: string): boolean {
    const kind = this.at(path)?.kind;
    return kind === 'read' || kind === 'write';
  }

  /**
   * Makes every folder between a mount and the enclosing writable mount a mount point. A mount point cannot be renamed,
   * removed or replaced by a link, so covered files stay at the paths where other programs look for them.
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

  /** Returns the arguments for bubblewrap: folders before their contents. */
  args(): string[] {
    return [...this.#table]
      .sort(([a], [b]) => depth(a) - depth(b) || (a < b ? -1 : 1))
      .filter(([path, mount]) => !this.#isShownAlready(path, mount))
      .flatMap(([path, mount]) => argsOf(path, mount));
  }

  /** Whether a path already resolves to its real path without a link that we add. */
  #isBehindLinks(path: string): boolean {
    const mount = this.at(path);
    if (mount?.kind === 'link') return true;
    // Within a system folder its own links apply.
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
