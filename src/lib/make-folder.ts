/** Creates a folder and its parents; Node's own `recursive` never ends if a system folder does not accept children. */

import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './error-code.ts';

/**
 * Creates a folder and its parents.
 *
 * @example
 * await makeFolder('/home/me/.config/plugboard/run', 0o700);
 */
export async function makeFolder(folder: string, mode: number): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    if (await isFolder(folder)) return;
    if (errorCode(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder), mode);
    // Only once: in /proc, mkdir fails with ENOENT although the parent exists. Another process may have been faster.
    await mkdir(folder, { mode }).catch(async (again: unknown) => {
      if (!(await isFolder(folder))) throw again;
    });
  }
}

/** Like `makeFolder`, synchronously. */
export function makeFolderSync(folder: string, mode: number): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(folder) !== folder) makeFolderSync(dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}
