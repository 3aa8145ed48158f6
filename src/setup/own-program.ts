/** Returns the argv that starts this program from anywhere: absolute, so that a project's folder cannot shadow it. */

import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findProjectRoot } from '../config/home.ts';
import { withoutProject } from '../lib/find-program.ts';

/** Folders that are in PATH only while `npx` or `npm run` runs. */
const PASSING = /[\\/](?:node_modules[\\/]\.bin|_npx[\\/])/;

/** Returns the installed command if it is on PATH, else the current Node binary and script. */
export function ownProgram(
  env: NodeJS.ProcessEnv,
  script: string = process.argv[1] ?? '',
): readonly string[] {
  const installed = installedCommand(env);
  return installed === undefined ? runningProgram(script) : [installed];
}

/** Returns the current Node binary and script, for services, whose PATH may not include Node. */
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
