/** `npm run docs`: writes what pages show of the code, after a build: keys, flags, routes, error codes, events. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatedPages } from './docs/pages.mjs';
import { root } from './run.mjs';

for (const { page, text, should } of await generatedPages()) {
  if (text === should) continue;
  await writeFile(join(root, page), should);
  process.stdout.write(`${page} was written anew.\n`);
}
