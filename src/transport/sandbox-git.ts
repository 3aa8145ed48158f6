/**
 * Finds the files that git executes or reads as settings, within a folder that a confined process can write: hook
 * folders, included settings, and the repositories of submodules (A37).
 */

import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { attempt } from '../lib/attempt.ts';
import { environmentOutside } from '../lib/find-program.ts';
import { isInside, realPath } from '../lib/inside.ts';

/** Reading settings takes milliseconds. */
const GIT_MS = 10_000;
const SETTINGS_BYTES = 16 * 1024 * 1024;

export type PlaceKind = 'file' | 'folder';

/**
 * Returns the paths in the folder and their kinds, existing or not; includes the folder itself if it is a hook folder.
 * `most`: the number of paths after which it stops.
 */
export async function gitPlaces(
  folder: string,
  env: NodeJS.ProcessEnv,
  most: number,
): Promise<ReadonlyMap<string, PlaceKind>> {
  const places = new Map<string, PlaceKind>();
  // The folder can be part of a larger repository, or a worktree with its settings in another folder.
  const top = await topOf(folder, env);
  if (top !== undefined) await addSettings(top, env, places);
  for (const root of new Set([folder, top ?? folder])) addRepository(root, places, most);
  // An absolute path can refer to this folder by another name.
  const named = [...places].flatMap(([path, kind]) =>
    [path, realPath(path)].map((each) => [each, kind] as const),
  );
  return new Map(named.filter(([path]) => isInside(path, folder)));
}

/** Reads the repository's files without git: its hooks, its submodules and theirs. */
function addRepository(root: string, places: Map<string, PlaceKind>, most: number): void {
  for (const path of valuesOf(join(gitFolderOf(root), 'config'), 'hooksPath')) {
    places.set(resolve(root, withHome(path, homedir())), 'folder');
  }
  for (const name of valuesOf(join(root, '.gitmodules'), 'path')) {
    const path = resolve(root, name);
    if (!path.startsWith(root + sep) || places.size > most) continue;
    const link = join(path, '.git');
    // A submodule that is not checked out has an empty folder, which is covered as a whole.
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) {
      places.set(path, 'folder');
      continue;
    }
    places.set(link, 'file');
    // A symbolic link in the path fails the start; following it could loop.
    if (realPath(path) !== path) continue;
    if (existsSync(join(path, '.gitmodules'))) places.set(join(path, '.gitmodules'), 'file');
    addRepository(path, places, most);
  }
}

/** Asks git: includes settings of the user, of worktrees and in included files, which can be in the project. */
async function addSettings(
  top: string,
  env: NodeJS.ProcessEnv,
  places: Map<string, PlaceKind>,
): Promise<void> {
  const fields = (await git(['config', '--list', '--show-origin', '-z'], top, env)).split('\0');
  const person = env['HOME'] ?? homedir();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [origin = '', setting = ''] = [fields[at], fields[at + 1]];
    const file = origin.startsWith('file:') ? resolve(top, origin.slice('file:'.length)) : undefined;
    if (file !== undefined) places.set(file, 'file');
    const end = setting.indexOf('\n');
    if (end < 0) continue;
    const value = withHome(setting.slice(end + 1), person);
    const key = setting.slice(0, end);
    if (key === 'core.hookspath') places.set(resolve(top, value), 'folder');
    else if (/^include(if\..*)?\.path$/s.test(key))
      places.set(resolve(file === undefined ? top : dirname(file), value), 'file');
  }
}

async function topOf(folder: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const top = (await git(['rev-parse', '--show-toplevel'], folder, env)).replace(/\n$/, '');
  return top === '' ? undefined : top;
}

/** Only for commands that read: these run no program of the repository. Returns '' if git is missing or fails. */
async function git(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const own = Object.entries(environmentOutside(env, cwd)).filter(([name]) => {
    return !name.startsWith('GIT_') || /^GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$/.test(name);
  });
  const options = { cwd, env: Object.fromEntries(own), timeout: GIT_MS, maxBuffer: SETTINGS_BYTES };
  // git's check of the folder's owner protects against running its hooks; here it is only read.
  return promisify(execFile)('git', ['-c', 'safe.directory=*', ...args], options).then(
    ({ stdout }) => stdout,
    () => '',
  );
}

/** Returns `.git`, or the folder that a submodule's `.git` file names. */
function gitFolderOf(root: string): string {
  const link = join(root, '.git');
  const named = /^gitdir: (.+?)\s*$/.exec(textOf(link))?.[1];
  return named === undefined ? link : resolve(root, named);
}

function valuesOf(file: string, key: string): readonly string[] {
  const lines = textOf(file).matchAll(new RegExp(`^\\s*${key}\\s*=\\s*(.+?)\\s*$`, 'gim'));
  return [...lines].map(([, value = '']) => value.replace(/^"(.*)"$/, '$1'));
}

function textOf(file: string): string {
  return attempt(() => readFileSync(file, 'utf8'), '');
}

function withHome(path: string, person: string): string {
  return path.replace(/^~(?=\/|$)/, person);
}
