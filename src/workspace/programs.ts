/** Finds the programs of tools on the search path, never in the project: programs of a project are not run. */

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
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
    try {
      return !root.contains(realpathSync(folder));
    } catch {
      return false; // it does not exist
    }
  });
}

function isProgram(file: string, root: Root): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() && !root.contains(file) && !root.contains(realpathSync(file));
  } catch {
    return false;
  }
}
