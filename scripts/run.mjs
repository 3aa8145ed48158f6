/** Runs one program to its end, with its output where ours is; tools are called by path, not through npx. */

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Resolves with the exit code; a signal counts as 1. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

/** The script behind a command of an installed package. */
export function tool(packageName, command = packageName) {
  const file = join(root, 'node_modules', packageName, 'package.json');
  const { bin } = createRequire(import.meta.url)(file);
  return join(dirname(file), typeof bin === 'string' ? bin : bin[command]);
}
