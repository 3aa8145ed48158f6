/** Finds the programs of tools on the search path, never in the project: programs of a project are not run. */

import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { attempt } from '../lib/attempt.ts';
import { isExecutable } from '../lib/find-program.ts';
import { realPath } from '../lib/inside.ts';
import type { Root } from './confined-root.ts';

const SUFFIX = process.platform === 'win32' ? '.exe' : '';

export interface Programs {
  readonly git: string | undefined;
  /** ripgrep. */
  readonly rg: string | undefined;
}

export function findPrograms(root: Root, searchPath: string): Programs {
  const folders = foldersOutside(root, searchPath);
  const find = (name: string): string | undefined =>
    folders.map((folder) => join(folder, `${name}${SUFFIX}`)).find((file) => isProgram(file, root));
  return { git: find('git'), rg: find('rg') };
}

/** Returns the folders of a search path that are outside the project. */
export function foldersOutside(root: Root, searchPath: string): readonly string[] {
  return searchPath.split(delimiter).filter((folder) => {
    if (!isAbsolute(folder) || root.contains(folder)) return false;
    // A folder that does not exist is left out.
    return attempt(() => !root.contains(realpathSync(folder)), false);
  });
}

function isProgram(file: string, root: Root): boolean {
  return isExecutable(file) && !root.contains(file) && !root.contains(realPath(file));
}
