/** Finds the files of a project that an entry names and that decide what runs: consent covers their content. */

import { createHash } from 'node:crypto';
import { createReadStream, realpathSync, statSync } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join, relative, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { ServerSpec } from '../config/entry.ts';
import { environmentOf, expandText } from '../config/expand.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord } from '../lib/json-rpc.ts';

/** Nobody can look at more files than this before consenting; an entry that names more gets no consent. */
export const MAX_SCRIPTS = 256;
/** Larger files are no scripts; they are told apart by size and time instead of being read. */
/** Folders of a PATH that are looked into. */
const MAX_FOLDERS = 64;
const MAX_SCRIPT_BYTES = 64 * 1024 * 1024;

/** How interpreters complete what they are given: `node server`, `python -m tool`; and `node .` for a folder. */
const FILE_COMPLETIONS = ['.js', '.cjs', '.mjs', '.ts', '.py'];
const FOLDER_COMPLETIONS = ['/index.js', '/index.mjs', '/__main__.py'];
/** Variables that make an interpreter load code before the program. */
const LOADER_VARIABLES: ReadonlySet<string> = new Set([
  'NODE_OPTIONS',
  'BASH_ENV',
  'ENV',
  'PYTHONSTARTUP',
  'RUBYOPT',
  'PERL5OPT',
  'JAVA_TOOL_OPTIONS',
  'LD_PRELOAD',
  'DYLD_INSERT_LIBRARIES',
]);
/** Programs that run what stands under `scripts` in package.json. */
const SCRIPT_RUNNERS: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn', 'bun']);
/** What other runners read where they run, without anybody naming it. */
const RUNNER_FILES: Readonly<Record<string, readonly string[]>> = {
  make: ['GNUmakefile', 'makefile', 'Makefile'],
  gmake: ['GNUmakefile', 'makefile', 'Makefile'],
  just: ['justfile', 'Justfile', '.justfile'],
  task: ['Taskfile.yml', 'Taskfile.yaml', 'taskfile.yml', 'taskfile.yaml'],
  rake: ['Rakefile', 'rakefile', 'Rakefile.rb'],
  docker: ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'],
  'docker-compose': ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'],
};
/** A database is named by many entries and changes with every call; no interpreter takes it for a program. */
const SQLITE_MAGIC = 'SQLite format 3\0';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Path (relative to the project root) → sha256 of the content; undefined when there are too many. A file that
 * appears, vanishes or changes makes a different map. Words are taken before expansion and after it, so that
 * `${PWD}/run.js` is found.
 */
export async function namedScripts(
  spec: ServerSpec,
  env: Environment,
): Promise<Record<string, string> | undefined> {
  const root = spec.baseDir;
  const cwd = resolve(root, expanded(textOf(spec.raw['cwd']) ?? '.', spec, env));
  const words = wordsOf(spec.raw).flatMap((word) => [word, expanded(word, spec, env)]);
  const runner = basename(textOf(spec.raw['command']) ?? '').replace(/\.(cmd|exe)$/i, '');
  const pieces = [...words.flatMap(spellings), ...(RUNNER_FILES[runner] ?? [])];
  // A bare command is looked up in PATH: in the project only if the entry says so.
  const programs = [textOf(spec.raw['command']) ?? '', ...pieces].filter(isBare);
  const looked = searchedFolders(spec, env).flatMap((folder) =>
    programs.map((program) => resolve(cwd, folder, program)),
  );
  const paths = new Set([...pieces.map((piece) => resolve(cwd, piece)), ...looked]);
  const files = [...paths].flatMap(completed).filter((file) => isProjectFile(file, root));
  if (files.length > MAX_SCRIPTS) return undefined;
  const found: Record<string, string> = {};
  for (const file of files) {
    const hash = await hashOf(file);
    if (hash !== undefined) found[relative(root, file)] = hash;
  }
  if (SCRIPT_RUNNERS.has(runner)) Object.assign(found, await packageScripts(cwd, root));
  return found;
}

/** An entry that sets PATH decides where its bare words are looked for: that may be in the project. */
function searchedFolders(spec: ServerSpec, env: Environment): string[] {
  const variables = isRecord(spec.raw['env']) ? spec.raw['env'] : {};
  const path = Object.entries(variables).find(([name]) => name.toUpperCase() === 'PATH')?.[1];
  if (typeof path !== 'string') return [];
  // An empty part means the folder that the program runs in.
  return [path, expanded(path, spec, env)].flatMap((value) => value.split(delimiter)).slice(0, MAX_FOLDERS);
}

function isBare(word: string): boolean {
  return word !== '' && !/[\\/]/.test(word);
}

/** The files that an interpreter would take a path for. Synchronous: most words name nothing, and asking is cheap. */
function completed(path: string): string[] {
  const info = statSync(path, { throwIfNoEntry: false });
  if (info?.isFile()) return [path];
  const completions = info?.isDirectory() ? FOLDER_COMPLETIONS : FILE_COMPLETIONS;
  return completions
    .map((end) => path + end)
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}

/** A link out of the project, or into it, is the project's file either way. */
function isProjectFile(file: string, root: string): boolean {
  return isInside(file, root) || isInside(realpathSync(file), realpathSync(root));
}

/** Everything in an entry that can name a program. */
function wordsOf(raw: Readonly<Record<string, unknown>>): string[] {
  const words: string[] = [];
  const command = textOf(raw['command']);
  if (command !== undefined && !isBare(command)) words.push(command);
  if (Array.isArray(raw['args'])) words.push(...raw['args'].filter((arg) => typeof arg === 'string'));
  const helper = textOf(raw['headersHelper']);
  if (helper !== undefined) words.push(helper);
  for (const [name, value] of Object.entries(isRecord(raw['env']) ? raw['env'] : {})) {
    if (LOADER_VARIABLES.has(name.toUpperCase()) && typeof value === 'string') words.push(value);
  }
  return words;
}

/** A word itself, what follows its `=`, and for a shell's text every piece of it. */
function spellings(word: string): string[] {
  const pieces = [word, ...word.split(/[\s'"`;&|<>()=,]+/), word.slice(word.indexOf('=') + 1)];
  return pieces.map(withoutScheme).filter((piece) => piece !== '' && !piece.includes('\0'));
}

function withoutScheme(word: string): string {
  if (!word.startsWith('file:')) return word;
  try {
    return fileURLToPath(word);
  } catch {
    return word;
  }
}

async function hashOf(file: string): Promise<string | undefined> {
  try {
    const { size, mtimeMs } = await stat(file);
    if (size > MAX_SCRIPT_BYTES) return `${size} bytes of ${mtimeMs}`;
    if (await isDatabase(file)) return undefined;
    const hash = createHash('sha256');
    await pipeline(createReadStream(file), hash);
    return hash.digest('hex');
  } catch (error) {
    return unreadable(error);
  }
}

/** What is not there is not named; what is there and cannot be read must not pass for unchanged. */
function unreadable(error: unknown): string | undefined {
  const code = errorCode(error);
  return code === 'ENOENT' ? undefined : `unreadable (${code ?? 'unknown'})`;
}

async function isDatabase(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(
      Buffer.alloc(SQLITE_MAGIC.length),
      0,
      SQLITE_MAGIC.length,
      0,
    );
    return bytesRead === SQLITE_MAGIC.length && buffer.toString('latin1') === SQLITE_MAGIC;
  } finally {
    await handle.close();
  }
}

/** Only `scripts`: a new dependency is no reason to ask again. */
async function packageScripts(cwd: string, root: string): Promise<Record<string, string>> {
  for (let folder = cwd; isInside(folder, root) || folder === root; folder = dirname(folder)) {
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
  try {
    const value: unknown = JSON.parse(text);
    return canonicalJson(isRecord(value) ? (value['scripts'] ?? null) : null);
  } catch {
    return text;
  }
}

function isInside(file: string, root: string): boolean {
  return file.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** A variable that is not set leaves the word as it is: the server cannot start with it either. */
function expanded(word: string, spec: ServerSpec, env: Environment): string {
  try {
    return expandText(word, environmentOf(spec, env), { server: spec.name, key: '' });
  } catch {
    return word;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
