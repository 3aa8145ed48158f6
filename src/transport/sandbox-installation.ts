/** Finds the folders of an installed program: its own, its interpreter's, and those of the packages it loads. */

import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { findProgram, headOf } from '../lib/find-program.ts';
import { isInside, realPath } from '../lib/inside.ts';

/** Symbolic links and interpreters from a name to the program: npx, node, a version manager's link. */
const MAX_HOPS = 8;
/** The parts of an installation prefix that contain code; `share` of ~/.local contains keyrings. */
const PREFIX_PARTS = ['bin', 'lib', 'lib64', 'libexec', 'pyvenv.cfg'];
/** Version managers in the home folder, whose programs search these folders for the real program. */
const MANAGERS = ['.volta', '.proto', '.bun', '.deno', '.sdkman'];
/** Files at the root of a package's or program's source. */
const PACKAGE_FILES = [
  'package.json',
  'pyproject.toml',
  'setup.py',
  'Cargo.toml',
  'go.mod',
  'requirements.txt',
];

export interface Lookup {
  /** The search path of the process. */
  readonly searchPath: string;
  readonly cwd: string;
  /** The user's home folder: never shown as a whole because of a program in it. */
  readonly person: string;
}

export function installationOf(command: string, lookup: Lookup): readonly string[] {
  const shown = new Set<string>();
  let program: string | undefined = locate(command, lookup);
  for (let hop = 0; hop < MAX_HOPS && program !== undefined; hop += 1) {
    for (const place of placesOf(program, lookup.person)) shown.add(place);
    program = linkTarget(program) ?? interpreterOf(program, lookup);
  }
  return [...shown];
}

/** Returns the files of a package that are needed to run or read one of its files. */
export function packageOf(path: string, person: string): readonly string[] {
  const shown = [path];
  const file = realpathSync(path);
  const parts = file.split(sep);
  const modules = parts.indexOf('node_modules');
  if (modules > 0) shown.push(parts.slice(0, modules + 1).join(sep));
  if (!statSync(file).isFile()) return shown.filter((place) => isNarrow(place, person));
  for (let folder = dirname(file); isNarrow(folder, person); folder = dirname(folder)) {
    if (!PACKAGE_FILES.some((name) => existsSync(join(folder, name)))) continue;
    shown.push(folder);
    const linked = join(folder, 'node_modules');
    if (existsSync(linked)) shown.push(linked);
    break;
  }
  return shown.filter((place) => isNarrow(place, person));
}

/** True unless the folder is the home folder or contains it. */
export function isNarrow(folder: string, person: string): boolean {
  return folder !== sep && !isInside(person, folder) && !isInside(realPath(person), folder);
}

function placesOf(program: string, person: string): readonly string[] {
  const manager = MANAGERS.map((name) => join(person, name)).find((folder) => isInside(program, folder));
  if (manager !== undefined) return [manager];
  const folder = dirname(program);
  const prefix = dirname(folder);
  // A file in `shims` is a script that searches the manager's folder for the program.
  if (basename(folder) === 'shims' && isNarrow(prefix, person)) return [prefix];
  const parts = basename(folder) === 'bin' ? PREFIX_PARTS.map((part) => join(prefix, part)) : [];
  return [...parts, ...(existsSync(program) ? packageOf(program, person) : [])];
}

function locate(command: string, { searchPath, cwd }: Lookup): string | undefined {
  if (command.includes(sep)) return resolve(cwd, command);
  return findProgram(command, searchPath);
}

function linkTarget(file: string): string | undefined {
  try {
    if (lstatSync(file).isSymbolicLink()) return resolve(dirname(file), readlinkSync(file));
  } catch {
    return undefined;
  }
  const real = realPath(file);
  return real === file ? undefined : real;
}

function interpreterOf(file: string, lookup: Lookup): string | undefined {
  const line = /^#!\s*(\S+)(?:\s+(?:-S\s+)?(\S+))?/.exec(headOf(file));
  const [, interpreter = '', argument] = line ?? [];
  if (!isAbsolute(interpreter)) return undefined;
  return basename(interpreter) === 'env' && argument !== undefined ? locate(argument, lookup) : interpreter;
}
