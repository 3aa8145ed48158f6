import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeFolder, makeFolderSync } from '../../src/lib/make-folder.ts';

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));
/** Node repeats `mkdir` for ever there if it is to make the folders above as well. */
const IMPOSSIBLE = '/proc/plugboard-cannot-be-here/logs';

it('a folder that cannot be made is an error, also in /proc', async () => {
  await expect(makeFolder(IMPOSSIBLE, 0o700)).rejects.toThrow();
  expect(() => makeFolderSync(IMPOSSIBLE, 0o700)).toThrow();
});

it('no folder is made by mkdir with `recursive`', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const found = files.filter((file) =>
    /\bmkdir(?:Sync)?\([^;]*\brecursive: true/.test(readFileSync(join(SOURCES, file), 'utf8')),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(found).toEqual([]);
});
