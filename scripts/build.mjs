/**
 * Compiles src/ to dist/, copies CommonJS dependencies, and bundles the page and the command. What is compiled is made aside and moved into place, so that
 * no file stays behind whose source is gone, and a build that fails leaves the old dist/ as it was.
 */

import { existsSync } from 'node:fs';
import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildPage } from './build-page.mjs';
import { root, run, tool } from './run.mjs';
import { vendor } from './vendor.mjs';

/** What bundle.mjs makes of src/cli/. */
const COMMAND = 'bin/plugboard.cjs';

export async function build() {
  const made = join(root, '.cache', `build-${process.pid}`);
  const old = `${made}-old`;
  const dist = join(root, 'dist');
  await mkdir(dirname(made), { recursive: true });
  try {
    const code = await run(process.execPath, [
      tool('typescript', 'tsc'),
      '-p',
      'tsconfig.build.json',
      '--outDir',
      made,
    ]);
    if (code !== 0) return code;
    await vendor(made);
    await buildPage(made);
    if (existsSync(dist)) await rename(dist, old);
    await rename(made, dist);
  } finally {
    await rm(made, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
  await linkCommand();
  return run(process.execPath, ['scripts/bundle.mjs']);
}

/** npm links the commands of dependencies, not a package's own: with this, `npx plugboard` works in the checkout. */
async function linkCommand() {
  const bin = join(root, 'node_modules', '.bin');
  if (process.platform === 'win32' || !existsSync(bin)) return;
  const link = join(bin, 'plugboard');
  await rm(link, { force: true });
  await symlink(join('..', '..', 'dist', COMMAND), link);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = await build();
