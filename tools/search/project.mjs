/** Gives tools that run on plain Node the project's own TypeScript: one bundle in a temporary folder. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

export const PROJECT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Everything that the named files of `src/catalog/search` export. */
export async function importSearch(...files) {
  const folder = await mkdtemp(join(tmpdir(), 'plugboard-search-'));
  try {
    const outfile = join(folder, 'search.mjs');
    await build({
      stdin: {
        contents: files.map((file) => `export * from './${file}';`).join('\n'),
        resolveDir: join(PROJECT, 'src', 'catalog', 'search'),
      },
      bundle: true,
      format: 'esm',
      platform: 'node',
      outfile,
      logLevel: 'error',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
