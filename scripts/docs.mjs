/**
 * `npm run docs`: writes the parts of pages that come from the code, after a build: keys, flags, routes, error codes,
 * events, the JSON Schemas, and the API reference.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { apiPages } from './docs/api-reference.mjs';
import { generatedPages } from './docs/pages.mjs';
import { root } from './run.mjs';

for (const { page, text, should } of [...(await generatedPages()), ...(await apiPages())]) {
  if (text === should) continue;
  await mkdir(dirname(join(root, page)), { recursive: true });
  await writeFile(join(root, page), should);
  process.stdout.write(`${page} has changed.\n`);
}
