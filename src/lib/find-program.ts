/** Resolves a command name on a search path like the system does. */

import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import { attempt } from './attempt.ts';
import { isInside, realPath } from './inside.ts';

/** Enough for a `#!` line. */
const HEAD_BYTES = 256;
const ENV_SCRIPT = /^#! ?\/\S*\/env (?:-S )?([^\s=-]\S*)/;

/** Returns the executable file of a name; undefined if the path has none. Names with a slash are returned as given. */
export function findProgram(command: string, searchPath: string): string | undefined {
  if (isAbsolute(command) || command.includes('/') || command.includes(sep)) return command;
  return searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

/** Like `findProgram`, plus the interpreter if the file is a script for `env`: `npx` and `node`. */
export function findPrograms(command: string, searchPath: string): readonly (string | undefined)[] {
  const program = findProgram(command, searchPath);
  const interpreter = program === undefined ? undefined : ENV_SCRIPT.exec(headOf(program))?.[1];
  return interpreter === undefined ? [program] : [program, findProgram(interpreter, searchPath)];
}

/**
 * Returns the folders of a search path that a project cannot control: absolute, and outside of the project by name and
 * by link. A folder above the user's home or above the running Node is not a cloned project: nothing is removed.
 *
 * @example
 * withoutProject('/usr/bin:node_modules/.bin:/home/ada/app/bin', '/home/ada/app'); // '/usr/bin'
 */
export function withoutProject(searchPath: string, project: string): string {
  const roots = [...new Set([project, realPath(project)])];
  const isCommon = isCommonFolder(project);
  return searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .filter((folder) => isCommon || !(isInAny(join(folder), roots) || isInAny(realPath(folder), roots)))
    .join(delimiter);
}

/** True for a folder above the user's home or the running Node. */
export function isCommonFolder(folder: string): boolean {
  const roots = [folder, realPath(folder)];
  return [homedir(), process.execPath].some((path) => isInAny(path, roots));
}

/** Returns the environment with a search path that the project cannot control. */
export function environmentOutside<T extends Readonly<Record<string, string | undefined>>>(
  env: T,
  project: string,
): T {
  const changed = Object.entries(env).map(([name, value]) => [
    name,
    isSearchPath(name) && value !== undefined ? withoutProject(value, project) : value,
  ]);
  return Object.fromEntries(changed) as T; // the same names; strings stay strings
}

export function isSearchPath(name: string): boolean {
  return process.platform === 'win32' ? name.toUpperCase() === 'PATH' : name === 'PATH';
}

function isInAny(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isInside(path, folder));
}

export function isExecutable(file: string): boolean {
  return attempt(() => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  }, false);
}

/** Returns the first bytes of a file, including its `#!` line; '' if it cannot be read. */
export function headOf(file: string): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      return head.toString('latin1', 0, readSync(descriptor, head, 0, HEAD_BYTES, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}
