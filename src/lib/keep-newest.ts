/** Limits the number of files in a folder by deleting the oldest; for files that are recreated under new names. */

import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

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
