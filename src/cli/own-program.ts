/** How another program can start this one: the words that will still be true when this process is gone. */

import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Folders that are in PATH only for the time of one `npx` or `npm run`. */
const PASSING = /[\\/](?:node_modules[\\/]\.bin|_npx[\\/])/;

/** The words before the name of a command. */
export function ownProgram(
  env: NodeJS.ProcessEnv,
  script: string = process.argv[1] ?? '',
): readonly string[] {
  if (isInstalled(env)) return ['plugboard'];
  const real = existsSync(script) ? realpathSync(script) : script;
  // What npx fetched lies in a cache that may be emptied.
  return /[\\/]_npx[\\/]/.test(real) ? ['npx', '-y', 'plugboard'] : [process.execPath, real];
}

function isInstalled(env: NodeJS.ProcessEnv): boolean {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const name = process.platform === 'win32' ? 'plugboard.cmd' : 'plugboard';
  return folders.some((folder) => !PASSING.test(`${folder}/`) && existsSync(join(folder, name)));
}
