/**
 * Finds files of a project that an entry names, so that a change of one needs a new approval. This helps a user to
 * notice; it cannot find all code that a program loads, and approval does not promise that it does.
 */

import { createHash } from 'node:crypto';
import { createReadStream, realpathSync, statSync } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { loadsCode } from '../config/code-variables.ts';
import type { ServerSpec } from '../config/entry.ts';
import { environmentOf, expandText } from '../config/expand.ts';
import { attempt } from '../lib/attempt.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { errorCode } from '../lib/error-code.ts';
import { isInside } from '../lib/inside.ts';
import { isRecord, parseJson } from '../lib/json.ts';

/** More files cannot be reviewed before an approval; an entry that names more cannot be approved. */
export const MAX_SCRIPTS = 256;
/** Limit on PATH folders that are searched. */
const MAX_FOLDERS = 64;
/** Limit on folders that an entry names (`--prefix sub`, `cd sub`), in which its other arguments are looked up too. */
const MAX_BASES = 16;
/** Larger files are compared by size and time instead of content. */
const MAX_SCRIPT_BYTES = 64 * 1024 * 1024;

/** Endings that interpreters add: for files (`node server`, `python -m tool`) and for folders (`node .`). */
const FILE_COMPLETIONS = ['.js', '.cjs', '.mjs', '.ts', '.py'];
const FOLDER_COMPLETIONS = ['/index.js', '/index.mjs', '/__init__.py', '/__main__.py'];
/** Programs that run the `main` of a folder's package.json. */
const FOLDER_RUNNERS: ReadonlySet<string> = new Set(['node', 'bun', 'tsx', 'ts-node', 'electron']);
/** Options whose value is data: a database changes with every call and needs no new approval. */
const DATA_OPTION = /^--?(?:db|database|sqlite)(?:[-_]?(?:path|file))?(?:=|$)/i;
const SQLITE_MAGIC = 'SQLite format 3\0';
/** Programs that run `scripts` of package.json. */
const SCRIPT_RUNNERS: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'bun']);
/** Files that runners read from the working folder without being named. */
const RUNNER_FILES: Readonly<Record<string, readonly string[]>> = {
  npm: ['.npmrc'],
  npx: ['.npmrc'],
  pnpm: ['.npmrc', '.pnpmfile.cjs'],
  pnpx: ['.npmrc'],
  yarn: ['.npmrc', '.yarnrc', '.yarnrc.yml'],
  bun: ['.npmrc', 'bunfig.toml'],
  bunx: ['.npmrc', 'bunfig.toml'],
  uv: ['uv.toml'],
  uvx: ['uv.toml'],
  make: ['GNUmakefile', 'makefile', 'Makefile'],
  gmake: ['GNUmakefile', 'makefile', 'Makefile'],
  just: ['justfile', 'Justfile', '.justfile'],
  task: ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml', 'taskfile.yaml'],
  rake: ['Rakefile', 'rakefile', 'Rakefile.rb'],
  docker: ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'],
  'docker-compose': ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'],
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns path (relative to the project root) → sha256 of the content; undefined if there are too many. A file that
 * appears, vanishes or changes gives a different map. Arguments are used before and after expansion, so that
 * `${PWD}/run.js` is found; `answers` are the user's values for `${input:…}`.
 */
export async function namedScripts(
  spec: ServerSpec,
  env: Environment,
  answers: ReadonlyMap<string, string> = new Map(),
): Promise<Record<string, string> | undefined> {
  const root = spec.baseDir;
  const fill = (word: string): string => expanded(word, spec, env, answers);
  const cwd = resolve(root, fill(textOf(spec.raw['cwd']) ?? '.'));
  const command = fill(textOf(spec.raw['command']) ?? '').replaceAll('\0', '');
  const words = [...(isBare(command) ? [] : [command]), ...wordsOf(spec.raw)];
  const runner = basename(command).replace(/\.(cmd|exe)$/i, '');
  const named = words.flatMap((word) => [word, fill(word)]).flatMap(spellings);
  const bases = [cwd, ...namedFolders(named, cwd, root)];
  const pieces = [...named, ...named.flatMap(asModule), ...(RUNNER_FILES[runner] ?? [])];
  // A bare command is looked up in PATH, which includes the project only if the entry sets it.
  const programs = [command, ...pieces].filter(isBare);
  const looked = searchedFolders(spec, fill).flatMap((folder) =>
    programs.map((program) => resolve(cwd, folder, program)),
  );
  const mains = FOLDER_RUNNERS.has(runner) ? await mainFiles(bases, named) : [];
  const paths = new Set([
    ...mains,
    ...bases.flatMap((base) => pieces.map((piece) => resolve(base, piece))),
    ...looked,
  ]);
  for (const word of dataIn(spec.raw)) {
    const file = resolve(cwd, fill(word));
    if (!(await isDatabase(file))) paths.add(file);
  }
  const files = [...paths].flatMap(completed).filter((file) => isProjectFile(file, root));
  if (files.length > MAX_SCRIPTS) return undefined;
  const found: Record<string, string> = {};
  for (const file of files) {
    const hash = await hashOf(file);
    if (hash !== undefined) found[relative(root, file)] = hash;
  }
  if (SCRIPT_RUNNERS.has(runner)) {
    for (const base of bases) Object.assign(found, await packageScripts(base, root));
  }
  return found;
}

/** Returns folders inside the project that an entry names: `--prefix sub`, `-C sub`, `cd sub`, `PYTHONPATH=lib`. */
function namedFolders(words: readonly string[], cwd: string, root: string): string[] {
  const folders = words.flatMap((word) => word.split(delimiter)).map((word) => resolve(cwd, word));
  const inside = [...new Set(folders)].filter((folder) => folder !== cwd && isInside(folder, root));
  return inside
    .filter((folder) => statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    .slice(0, MAX_BASES);
}

/** Returns the files that `node .` runs: `main` of package.json in a folder that the entry names. */
async function mainFiles(bases: readonly string[], words: readonly string[]): Promise<string[]> {
  const folders = new Set(bases.flatMap((base) => words.map((word) => resolve(base, word))));
  const mains = await Promise.all(
    [...folders].map(async (folder) => {
      const value = parseJson(await readFile(join(folder, 'package.json'), 'utf8').catch(() => ''));
      const main = isRecord(value) ? textOf(value['main']) : undefined;
      return main === undefined ? [] : [resolve(folder, main)];
    }),
  );
  return mains.flat();
}

/** Converts a module of `python -m`: `pkg.mod` is the file pkg/mod. */
function asModule(word: string): string[] {
  return /^\w+(?:\.\w+)+$/.test(word) ? [word.replaceAll('.', '/')] : [];
}

/** Returns the folders of an entry's own PATH, which may be in the project. */
function searchedFolders(spec: ServerSpec, fill: (word: string) => string): string[] {
  const variables = isRecord(spec.raw['env']) ? spec.raw['env'] : {};
  const path = Object.entries(variables).find(([name]) => name.toUpperCase() === 'PATH')?.[1];
  if (typeof path !== 'string') return [];
  // An empty part is the working folder.
  return [path, fill(path)].flatMap((value) => value.split(delimiter)).slice(0, MAX_FOLDERS);
}

function isBare(word: string): boolean {
  return word !== '' && !/[\\/]/.test(word);
}

/** Returns the files that an interpreter would load for a path. Synchronous: stat is cheap, and most do not exist. */
function completed(path: string): string[] {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info?.isFile()) return [path];
  const completions = info?.isDirectory() ? FOLDER_COMPLETIONS : FILE_COMPLETIONS;
  return completions
    .map((end) => path + end)
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}

/** True for a file in the project, by name or by link target. */
function isProjectFile(file: string, root: string): boolean {
  return isInside(file, root) || isInside(realpathSync(file), realpathSync(root));
}

/** Returns everything in an entry that can name a program. */
function wordsOf(raw: Readonly<Record<string, unknown>>): string[] {
  const words: string[] = [];
  const args: readonly unknown[] = Array.isArray(raw['args']) ? raw['args'] : [];
  words.push(
    ...args.filter((arg, at): arg is string => typeof arg === 'string' && !isData(arg, args[at - 1])),
  );
  const helper = textOf(raw['headersHelper']);
  if (helper !== undefined) words.push(helper);
  for (const [name, value] of Object.entries(isRecord(raw['env']) ? raw['env'] : {})) {
    if (name.toUpperCase() !== 'PATH' && loadsCode(name) && typeof value === 'string') words.push(value);
  }
  return words;
}

/** True if an argument is `--db=file`, or the file after `--db`. */
function isData(arg: unknown, before: unknown): arg is string {
  if (typeof arg !== 'string' || arg.includes('\0')) return false;
  if (DATA_OPTION.test(arg)) return true;
  return typeof before === 'string' && !before.includes('=') && DATA_OPTION.test(before);
}

function dataIn({ args }: Readonly<Record<string, unknown>>): string[] {
  const all: readonly unknown[] = Array.isArray(args) ? args : [];
  return all
    .filter((arg, at): arg is string => isData(arg, all[at - 1]))
    .map((arg) => (DATA_OPTION.test(arg) ? arg.slice(arg.indexOf('=') + 1) : arg));
}

async function isDatabase(file: string): Promise<boolean> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return false;
  try {
    const head = Buffer.alloc(SQLITE_MAGIC.length);
    await handle.read(head, 0, head.length, 0);
    return head.toString('latin1') === SQLITE_MAGIC;
  } catch {
    return false; // A folder.
  } finally {
    await handle.close();
  }
}

/** Returns an argument itself, the part after its `=`, and every part of shell text. */
function spellings(word: string): string[] {
  const pieces = [word, ...word.split(/[\s'"`;&|<>()=,]+/), word.slice(word.indexOf('=') + 1)];
  return pieces.map(withoutScheme).filter((piece) => piece !== '' && !piece.includes('\0'));
}

function withoutScheme(word: string): string {
  if (!word.startsWith('file:')) return word;
  return attempt(() => fileURLToPath(word), word);
}

async function hashOf(file: string): Promise<string | undefined> {
  try {
    const { size, mtimeMs } = await stat(file);
    if (size > MAX_SCRIPT_BYTES) return `${size} bytes of ${mtimeMs}`;
    const hash = createHash('sha256');
    await pipeline(createReadStream(file), hash);
    return hash.digest('hex');
  } catch (error) {
    return unreadable(error);
  }
}

/** A missing file is ignored; an unreadable one must not be treated as unchanged. */
function unreadable(error: unknown): string | undefined {
  const code = errorCode(error);
  return code === 'ENOENT' ? undefined : `unreadable (${code ?? 'unknown'})`;
}

/** Hashes only `scripts`: a new dependency does not need a new approval. */
async function packageScripts(cwd: string, root: string): Promise<Record<string, string>> {
  for (let folder = cwd; isInside(folder, root); folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) {
      const hash = createHash('sha256').update(scriptsIn(text)).digest('hex');
      return { [`${relative(root, file)}#scripts`]: hash };
    }
    if (dirname(folder) === folder) break;
  }
  return {};
}

function scriptsIn(text: string): string {
  const value = parseJson(text);
  return value === undefined ? text : canonicalJson(isRecord(value) ? (value['scripts'] ?? null) : null);
}

/** Expands variables; returns the text unchanged if one is unset, since the server cannot start then either. */
function expanded(
  word: string,
  spec: ServerSpec,
  env: Environment,
  inputs: ReadonlyMap<string, string>,
): string {
  return attempt(
    () => expandText(word, environmentOf(spec, env), { server: spec.name, key: '', inputs }),
    word,
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
