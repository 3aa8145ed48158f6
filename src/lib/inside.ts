/** Checks whether a path is a folder or is below it: by name, so both must be absolute and without links. */

import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { attempt } from './attempt.ts';

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Returns the path with links resolved; the path itself if it does not exist. */
export function realPath(path: string): string {
  return attempt(() => realpathSync(path), path);
}
