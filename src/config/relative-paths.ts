/** Relative paths in an entry: a server of the person's own does not start in the folder that they begin at. */

import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { Problem, ServerSpec } from './entry.ts';
import { isStdio } from './entry.ts';

type Raw = Readonly<Record<string, unknown>>;

interface MadeAbsolute {
  readonly from: string;
  readonly to: string;
}

/**
 * Returns the entry with relative paths of existing files and folders made absolute. An entry with a `cwd` is left as
 * it is: its paths begin there.
 *
 * @example
 * withAbsolutePaths({ command: 'node', args: ['./server.js'] }, '/work/app').raw;
 * // { command: 'node', args: ['/work/app/server.js'] }
 */
export function withAbsolutePaths<T extends Raw>(
  raw: T,
  folder: string,
): { readonly raw: T & Record<string, unknown>; readonly changes: readonly MadeAbsolute[] } {
  const changes: MadeAbsolute[] = [];
  const { command, args, cwd } = raw;
  if (cwd !== undefined || typeof command !== 'string') return { raw: { ...raw }, changes };
  const absolute = (text: string, isProgram: boolean): string => {
    const { before, path } = pathIn(text, folder, isProgram) ?? { before: '', path: undefined };
    if (path === undefined) return text;
    const to = before + resolve(folder, path);
    changes.push({ from: text, to });
    return to;
  };
  const entry: T & Record<string, unknown> = { ...raw, command: absolute(command, true) };
  if (!Array.isArray(args)) return { raw: entry, changes };
  const absoluteArgs = args.map((arg: unknown) => (typeof arg === 'string' ? absolute(arg, false) : arg));
  return { raw: { ...entry, args: absoluteArgs }, changes };
}

/** Says which relative paths of a person's own entry no longer lead to the file in the project. */
export function relativePathProblem(spec: ServerSpec): Omit<Problem, 'file'> | undefined {
  const { entry, baseDir, scope, name } = spec;
  if (scope === 'project' || scope === 'plugin' || !isStdio(entry) || entry.cwd !== undefined)
    return undefined;
  const { changes } = withAbsolutePaths({ command: entry.command, args: entry.args ?? [] }, baseDir);
  const [first] = changes;
  if (first === undefined) return undefined;
  const better = first.from === '.' ? '${PROJECT_DIR}' : first.from.replace(/^(?:\.\/)?/, '${PROJECT_DIR}/');
  return {
    server: name,
    message: `${JSON.stringify(first.from)} is a relative path, and ${name} starts in a private folder, not in the project`,
    hint: `Write an absolute path, or ${JSON.stringify(better)} for the project you are in; "cwd": "." starts it in the project.`,
  };
}

/** The relative path that a word of a command is or ends with; undefined where it is not one, or leads nowhere. */
function pathIn(
  text: string,
  folder: string,
  isProgram: boolean,
): { readonly before: string; readonly path: string } | undefined {
  const [, before = '', path = ''] = /^(--?[\w-]+=)?(.*)$/s.exec(text) ?? [];
  if (path === '' || path.startsWith('-') || path.startsWith('@') || path.includes('$')) return undefined;
  if (isAbsolute(path) || /^[a-z][a-z0-9+.-]*:/i.test(path)) return undefined;
  const hasFolder = /^\.{1,2}(?:[\\/]|$)|[\\/]/.test(path);
  // A program without a folder is looked up; a bare word is a path only if a file of that very name exists.
  if (isProgram ? !hasFolder : !hasFolder && !/\.\w+$/.test(path)) return undefined;
  const kind = kindOf(join(folder, path));
  return kind === 'file' || (hasFolder && kind === 'folder') ? { before, path } : undefined;
}

function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined; // missing, or not a path that a file can have
  }
}
