/** Handles relative paths in an entry: a user's own server does not start in the folder that they are relative to. */

import { statSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { attempt } from '../lib/attempt.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { isStdio, type Problem, type ServerSpec } from './entry.ts';
import { isForeign } from './scopes.ts';

interface MadeAbsolute {
  readonly from: string;
  readonly to: string;
}

/**
 * Returns the entry with relative paths of existing files and folders made absolute: those that begin with `./` or
 * `../`, the program, and the script of an interpreter. An entry with a `cwd` is unchanged: its paths are relative to
 * that.
 *
 * @example
 * withAbsolutePaths({ command: 'node', args: ['./server.js'] }, '/home/ada/app').raw;
 * // { command: 'node', args: ['/home/ada/app/server.js'] }
 */
export function withAbsolutePaths<T extends JsonObject>(
  raw: T,
  folder: string,
): { readonly raw: T & Record<string, unknown>; readonly changes: readonly MadeAbsolute[] } {
  const { command, args, env, cwd } = raw;
  if (cwd !== undefined || typeof command !== 'string') return { raw: { ...raw }, changes: [] };
  const changes: MadeAbsolute[] = [];
  const absolute = (text: unknown, isFile: boolean): unknown => {
    if (typeof text !== 'string') return text;
    const { before, path } = pathIn(text, isFile) ?? { before: '', path: '' };
    const kind = path === '' ? undefined : kindOf(join(folder, path));
    if (kind === undefined || (kind === 'folder' && !EXPLICIT.test(path))) return text;
    const to = before + resolve(folder, path);
    changes.push({ from: text, to });
    return to;
  };
  const script = Array.isArray(args) ? scriptAt(command, args) : -1;
  const entry: T & Record<string, unknown> = {
    ...raw,
    command: absolute(command, hasFolder(command)),
    ...(Array.isArray(args) ? { args: args.map((arg: unknown, at) => absolute(arg, at === script)) } : {}),
    ...(isRecord(env)
      ? { env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, absolute(text, false)])) }
      : {}),
  };
  return { raw: entry, changes };
}

/** Reports a relative path in a user's own entry that does not resolve to the project. */
export function relativePathProblem(spec: ServerSpec): Omit<Problem, 'file'> | undefined {
  const { entry, scope, name } = spec;
  if (isForeign(spec) || !isStdio(entry) || entry.cwd !== undefined) return undefined;
  const { command, args = [], env = {} } = entry;
  const script = scriptAt(command, args);
  const found = [
    pathIn(command, hasFolder(command)),
    ...args.map((arg, at) => pathIn(arg, at === script)),
    ...Object.values(env).map((text) => pathIn(text, false)),
  ].find((each) => each !== undefined);
  if (found === undefined) return undefined;
  const below = found.path.replace(/^\.(?:[\\/]+|$)/, '');
  const better = below === '' ? '${PROJECT_DIR}' : `\${PROJECT_DIR}/${below}`;
  const approval = scope === 'user' ? ', once you have approved it there with plugboard trust' : '';
  return {
    server: name,
    message: `${JSON.stringify(found.path)} is a relative path, and ${name} starts in a private folder, not in the project`,
    hint: `Write an absolute path, or ${JSON.stringify(better)} for the project you are in; "cwd": "." starts it in the project${approval}.`,
  };
}

const EXPLICIT = /^\.{1,2}(?:[\\/]|$)/;

/**
 * Returns the relative path in an argument, whole or after `--flag=`. `isFile`: the argument is known to be a file
 * name.
 */
function pathIn(
  text: string,
  isFile: boolean,
): { readonly before: string; readonly path: string } | undefined {
  const [, before = '', path = ''] = /^(--?[\w-]+=)?(.*)$/s.exec(text) ?? [];
  // Names of packages, modules and images contain slashes too: existing folders must not change their meaning.
  const isNamed = isFile && before === '' && /^[^-@$~][^$:]*$/.test(path) && !isAbsolute(path);
  return EXPLICIT.test(path) || isNamed ? { before, path } : undefined;
}

function hasFolder(command: string): boolean {
  return /[\\/]/.test(command);
}

/** Programs whose first argument is the file that they run. */
const INTERPRETERS = /^(?:node|nodejs|bun|deno|tsx|python[\d.]*|ruby|perl|php|(?:ba|z|da|k|fi)?sh|pwsh)$/;
/** Options without a value that can precede the script. */
const FLAG = /^(?:--(?:no|enable|experimental|trace|use)-[\w-]+|-[uBEIsS])$/;

/** Returns the index of the script among an interpreter's arguments; -1 if it is uncertain. */
function scriptAt(command: string, args: readonly unknown[]): number {
  if (!INTERPRETERS.test(basename(command).replace(/\.exe$/i, ''))) return -1;
  const at = args.findIndex((arg) => typeof arg !== 'string' || !FLAG.test(arg));
  const first = args[at];
  return typeof first === 'string' && /^[^-].*[./\\]/.test(first) ? at : -1;
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  // It may be missing, or be an invalid path.
  return attempt(() => (statSync(path).isDirectory() ? 'folder' : 'file'), undefined);
}
