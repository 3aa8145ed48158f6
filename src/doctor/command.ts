/** Checks whether the program that a server's entry names exists, without starting it. */

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { isStdio } from '../config/entry.ts';
import { serverEnvironment } from '../transport/server-environment.ts';
import { chosenFolder, privateName } from '../transport/start-folder.ts';
import type { Check, CheckedServer } from './check.ts';

/** Install hints for the launchers used by most entries. */
const INSTALL: Readonly<Record<string, string>> = {
  npx: 'It comes with Node: install Node, or give the full path of npx.',
  node: 'Install Node, or give its full path.',
  uvx: 'It comes with uv: see https://docs.astral.sh/uv for how to install it.',
  uv: 'See https://docs.astral.sh/uv for how to install it.',
  docker: 'Install Docker, and see that it runs.',
  bunx: 'It comes with Bun: see https://bun.sh for how to install it.',
  deno: 'See https://deno.com for how to install it.',
  python: 'Install Python 3; many systems call it python3.',
  python3: 'Install Python 3.',
  pipx: 'Install pipx with your system’s package manager.',
};
const MAX_FOLDERS_SHOWN = 8;

export function checkCommand({ spec, entry, context }: CheckedServer): Check | undefined {
  if (entry === undefined || !isStdio(entry)) return undefined;
  const { command } = entry;
  const base = { id: 'command', server: spec.name } as const;
  const cwd = chosenFolder(spec, entry) ?? join(context.home.folders, privateName(spec));
  if (/[\\/]/.test(command)) {
    const file = resolve(cwd, command);
    if (isProgram(file)) return { ...base, ok: true, message: `Command found: ${file}` };
    if (isFile(file)) {
      const hint = 'Make it executable (chmod +x), or name its interpreter as "command".';
      return { ...base, ok: false, message: `${file} may not be executed`, hint };
    }
    return {
      ...base,
      ok: false,
      message: `There is no program at ${file}`,
      hint: 'Correct the path in "command": write an absolute one, or ${PROJECT_DIR}/… for a program of the project.',
    };
  }
  const path = serverEnvironment(spec, entry, context.env)['PATH'] ?? '';
  const folders = [...new Set(path.split(delimiter))].filter((folder) => folder !== '');
  const found = folders.map((folder) => join(folder, command)).find(isProgram);
  if (found !== undefined) return { ...base, ok: true, message: `Command found: ${found}` };
  const shown = folders.slice(0, MAX_FOLDERS_SHOWN).join(', ') || 'no folder: its PATH is empty';
  return {
    ...base,
    ok: false,
    message: `"${command}" was not found; looked in ${shown}`,
    hint: INSTALL[command] ?? `Install ${command}, or give its full path as "command".`,
  };
}

function isProgram(file: string): boolean {
  // Windows adds file extensions to a program's name; checking the name alone would report every program as missing.
  if (process.platform === 'win32')
    return ['', '.exe', '.cmd', '.bat'].some((ending) => isFile(file + ending));
  try {
    accessSync(file, constants.X_OK);
    return isFile(file);
  } catch {
    return false;
  }
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}
