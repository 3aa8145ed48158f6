/** Folders of files that are recreated under new names: only the newest are kept. */

import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { replaceFile } from './locked-file.ts';
import { makeFolder } from './make-folder.ts';

/** Writes a file that can be made again, atomically, and deletes the oldest files of its folder. */
export async function writeAmongNewest(file: string, text: string, count: number): Promise<void> {
  const folder = dirname(file);
  await makeFolder(folder, 0o700);
  await replaceFile(file, text, { mode: 0o600, durable: false });
  await keepNewest(folder, count);
}

export async function keepNewest(folder: string, count: number): Promise<void> {
  const names = await readdir(folder);
  if (names.length <= count) return;
  const dated = await Promise.all(
    names.map(async (name) => ({
      name,
      at: await stat(join(folder, name)).then(
        (stats) => stats.mtimeMs,
        () => 0,
      ),
    })),
  );
  const old = dated.sort((a, b) => b.at - a.at).slice(count);
  await Promise.all(old.map(({ name }) => rm(join(folder, name), { force: true })));
}
