/** Which file a command name leads to on a search path, as the system would look it up. */

import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';

/** Enough for a `#!` line. */
const HEAD_BYTES = 256;
const ENV_SCRIPT = /^#! ?\/\S*\/env (?:-S )?([^\s=-]\S*)/;

/** Undefined if no folder of the path has an executable file of this name. Names with a slash are returned as given. */
export function findProgram(command: string, searchPath: string): string | undefined {
  if (isAbsolute(command) || command.includes('/') || command.includes(sep)) return command;
  return searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

/** The same, with the interpreter behind it where the file is a script for `env`: `npx` and `node`. */
export function findPrograms(command: string, searchPath: string): readonly (string | undefined)[] {
  const program = findProgram(command, searchPath);
  const interpreter = program === undefined ? undefined : ENV_SCRIPT.exec(headOf(program))?.[1];
  return interpreter === undefined ? [program] : [program, findProgram(interpreter, searchPath)];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function headOf(file: string): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      return head.toString('latin1', 0, readSync(descriptor, head, 0, HEAD_BYTES, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}
