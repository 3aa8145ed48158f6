/** Whether a repository is the project's own: a `.git` that leads elsewhere would show somebody else's files. */

import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { PlugboardError } from '../errors.ts';
import type { ScopedEntry } from './git-config.ts';
import type { Root } from './root.ts';

/** What git reads of a repository; as links they could lead into another one. */
const PARTS = ['HEAD', 'config', 'index', 'logs', 'objects', 'packed-refs', 'refs'];

export interface Repository {
  readonly top: string;
  readonly gitDir: string;
  /** Of all working trees; otherwise the same as `gitDir`. */
  readonly commonDir: string;
  readonly entries: readonly ScopedEntry[];
}

/** Throws when git would look at files of another project. */
export function checkRepository(root: Root, { top, gitDir, commonDir, entries }: Repository): void {
  const [git, common] = [real(gitDir), real(commonDir)];
  const isBelowTop = root.path === top || isIn(top, root.path);
  if (!isBelowTop) throw foreign(gitDir);
  const isWithin = isIn(top, git) && isIn(top, common);
  if (!isWithin && !isWorktree(top, git, common) && !isSubmodule(git, common, entries)) throw foreign(gitDir);
  for (const folder of new Set([git, common])) {
    const stray = PARTS.find((part) => !isIn(folder, real(join(folder, part))));
    if (stray !== undefined) throw foreign(join(folder, stray));
  }
}

/** A linked working tree: the repository knows the way back to it. */
function isWorktree(top: string, git: string, common: string): boolean {
  if (dirname(git) !== join(common, 'worktrees')) return false;
  try {
    const back = readFileSync(join(git, 'gitdir'), 'utf8').trim();
    return real(dirname(resolve(git, back))) === top;
  } catch {
    return false;
  }
}

/** The repository of a submodule says where its working tree is, and git has found us there. */
function isSubmodule(git: string, common: string, entries: readonly ScopedEntry[]): boolean {
  return git === common && entries.some(({ scope, key }) => scope === 'local' && key === 'core.worktree');
}

function isIn(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // It is not there, so nothing is read from it.
  }
}

function foreign(path: string): PlugboardError {
  return new PlugboardError('DENIED', `The repository leads out of the project (${path}).`, {
    hint: 'Working trees and submodules that git made itself are known; this one was made in another way.',
  });
}
