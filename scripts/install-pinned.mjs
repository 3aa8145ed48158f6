/** Puts packages that tests run as programs into a folder of their own under .cache, once per list of versions. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root, run } from './run.mjs';

/** Resolves with npm's exit code; 0 when all of them are there already. */
export async function installPinned(name, packages) {
  const folder = join(root, '.cache', name);
  const stamp = join(folder, 'installed.json');
  const wanted = JSON.stringify(packages);
  if ((await readFile(stamp, 'utf8').catch(() => '')) === wanted) return 0;
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name, private: true, dependencies: packages }),
  );
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock', '--loglevel=error'];
  const code = await run('npm', ['install', ...flags], { cwd: folder });
  if (code === 0) await writeFile(stamp, wanted);
  else process.stderr.write(`The ${name} could not be installed: is the npm registry within reach?\n`);
  return code;
}
