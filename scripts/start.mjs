/** `npm start`: builds when dist/ is missing or older than src/, then runs the demonstration. */

import { existsSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from './build.mjs';
import { root } from './run.mjs';

const entry = join(root, 'dist', 'manage', 'start.js');

async function newestSource() {
  const files = await readdir(join(root, 'src'), { recursive: true, withFileTypes: true });
  return Math.max(...files.map((file) => statSync(join(file.parentPath ?? file.path, file.name)).mtimeMs));
}

if (!existsSync(entry) || statSync(entry).mtimeMs < (await newestSource())) {
  process.stderr.write('Building …\n');
  const code = await build();
  if (code !== 0) process.exit(code);
}
await import(pathToFileURL(entry).href);
