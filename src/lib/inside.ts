/** Whether a path is a folder or lies below it: by name, so both have to be absolute and free of links. */

import { realpathSync } from 'node:fs';
import { sep } from 'node:path';

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The path without links; the path itself where it does not exist. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
