/** The argv that starts this program from elsewhere: absolute, so that no folder of a project can shadow it. */

import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findProjectRoot } from '../config/home.ts';
import { withoutProject } from '../lib/find-program.ts';

/** Folders that are in PATH only while `npx` or `npm run` runs. */
const PASSING = /[\\/](?:node_modules[\\/]\.bin|_npx[\\/])/;

/** The installed command where PATH has one, else the Node binary and the script that run now. */
export function ownProgram(
  env: NodeJS.ProcessEnv,
  script: string = process.argv[1] ?? '',
): readonly string[] {
  const installed = installedCommand(env);
  return installed === undefined ? runningProgram(script) : [installed];
}

/** The Node binary and the script that run now: needs no PATH to find Node, which a service does not have. */
export function runningProgram(script: string = process.argv[1] ?? ''): readonly string[] {
  return [process.execPath, existsSync(script) ? realpathSync(script) : script];
}

/** True if the program is in npm's cache for `npx`, which npm may empty at any time. */
export function isInPassingCache(program: readonly string[]): boolean {
  return program.some((part) => /[\\/]_npx[\\/]/.test(part));
}

function installedCommand(env: NodeJS.ProcessEnv): string | undefined {
  const name = process.platform === 'win32' ? 'plugboard.cmd' : 'plugboard';
  return withoutProject(env['PATH'] ?? '', findProjectRoot(process.cwd()))
    .split(delimiter)
    .filter((folder) => folder !== '' && !PASSING.test(`${folder}/`))
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file));
}
