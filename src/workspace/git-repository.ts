/** Checks that a repository belongs to the project: a `.git` that leads to another one would expose its files. */

import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { isInside, realPath } from '../lib/inside.ts';
import type { Root } from './confined-root.ts';
import type { ScopedEntry } from './git-config.ts';

/** The parts of a repository that git reads; as links they could lead into another one. */
const PARTS = ['HEAD', 'config', 'index', 'logs', 'objects', 'packed-refs', 'refs'];

export interface Repository {
  readonly top: string;
  readonly gitDir: string;
  /** Shared by all working trees; otherwise the same as `gitDir`. */
  readonly commonDir: string;
  readonly entries: readonly ScopedEntry[];
}

/** Throws if git would read files of another project. */
export function checkRepository(root: Root, { top, gitDir, commonDir, entries }: Repository): void {
  const [git, common] = [realPath(gitDir), realPath(commonDir)];
  if (!isInside(root.path, top)) throw foreign(gitDir);
  const isWithin = isIn(top, git) && isIn(top, common);
  if (!isWithin && !isWorktree(top, git, common) && !isSubmodule(git, common, entries)) throw foreign(gitDir);
  // A setting can move the working tree to a parent folder; then that folder has no `.git` of this repository.
  if (!pointsTo(join(top, '.git'), git)) throw foreign(gitDir);
  for (const folder of new Set([git, common])) {
    const stray = PARTS.find((part) => !isIn(folder, realPath(join(folder, part))));
    if (stray !== undefined) throw foreign(join(folder, stray));
  }
  const stray = strayObjects(common);
  if (stray !== undefined) throw foreign(stray);
}

/** Whether a `.git` is this folder, or a file that names it. */
function pointsTo(link: string, git: string): boolean {
  if (realPath(link) === git) return true;
  return attempt(() => {
    const [, path = ''] = /^gitdir: (.+?)\s*$/.exec(readFileSync(link, 'utf8')) ?? [];
    return realPath(resolve(dirname(link), path)) === git;
  }, false);
}

/** Returns a path through which git would read objects of another repository: an alternates list, or a link. */
function strayObjects(common: string): string | undefined {
  const objects = join(common, 'objects');
  const lists = ['alternates', 'http-alternates'].map((name) => join(objects, 'info', name));
  const list = lists.find((file) => existsSync(file) && !isOwnStore(file, objects));
  if (list !== undefined) return list;
  const folders = ['', ...foldersOf(objects)].map((name) => join(objects, name));
  for (const folder of folders) {
    const link = linksOf(folder).find((path) => !isIn(common, realPath(path)));
    if (link !== undefined) return link;
  }
  return undefined;
}

/** Another object store can name further ones, so none is accepted. */
function isOwnStore(list: string, objects: string): boolean {
  const lines = readFileSync(list, 'utf8').split('\n');
  return lines.every(
    (line) => line === '' || line.startsWith('#') || realPath(resolve(objects, line)) === objects,
  );
}

function foldersOf(folder: string): readonly string[] {
  return entriesOf(folder).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

function linksOf(folder: string): readonly string[] {
  return entriesOf(folder).flatMap((entry) => (entry.isSymbolicLink() ? [join(folder, entry.name)] : []));
}

function entriesOf(folder: string): readonly Dirent[] {
  return attempt(() => readdirSync(folder, { withFileTypes: true }), []);
}

/** True for a linked working tree: the repository refers back to it. */
function isWorktree(top: string, git: string, common: string): boolean {
  if (dirname(git) !== join(common, 'worktrees')) return false;
  return attempt(() => {
    const back = readFileSync(join(git, 'gitdir'), 'utf8').trim();
    return realPath(dirname(resolve(git, back))) === top;
  }, false);
}

/** True for a submodule: its repository names its working tree, in which git has found us. */
function isSubmodule(git: string, common: string, entries: readonly ScopedEntry[]): boolean {
  return git === common && entries.some(({ scope, key }) => scope === 'local' && key === 'core.worktree');
}

function isIn(folder: string, path: string): boolean {
  return path !== folder && isInside(path, folder);
}

function foreign(path: string): PlugboardError {
  return new PlugboardError('DENIED', `The repository leads out of the project (${path})`, {
    hint: path.endsWith('alternates')
      ? 'It uses objects of another repository. Copy them with: git repack -a -d; then delete that file.'
      : 'Working trees and submodules that git made itself are known; this one was made in another way.',
  });
}
