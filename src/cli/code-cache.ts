/**
 * Loads the files of the bundled command with the code that V8 compiled in an earlier run, which halves the time that
 * they need. Without that code, or if any check fails, a file is compiled as usual.
 *
 * Compiled code is not verified by V8: damaged code crashes, and foreign code runs. So it is used only if this user
 * alone can write its file, it is undamaged, and it was made from this very file by this program. V8 itself rejects
 * code of other versions, flags and processors. Each command has its own code, because only the functions that it calls
 * are compiled. Node 20 has no `module.enableCompileCache`; one way serves all versions.
 */

import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { quickHash } from '../lib/quick-hash.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Write permission of the group and of others. */
const WRITABLE_BY_OTHERS = 0o022;
/** Builds of Plugboard and of Node whose code is kept. */
const MAX_BUILDS = 4;
/** Compiled code of one file is far smaller; a larger file is not read. */
const MAX_CODE_BYTES: number = 16 * 1024 * 1024;
/** The code of functions that a process has not called for a while is dropped by V8. */
const MAX_UPTIME_SECONDS = 30;
/** Numbers before the code: format, size and times of the source, length of the code. */
const HEADER_NUMBERS = 5;
const HEADER_BYTES: number = HEADER_NUMBERS * Float64Array.BYTES_PER_ELEMENT;
/** Equal copies of the code show that it is undamaged: to load Node's checksums would take longer than to read them. */
const COPIES = 2;
const FORMAT = 1;
/** As Node wraps a CommonJS file, with one parameter more. */
const BEFORE = '(function (exports, require, module, __filename, __dirname, __import) {';
const AFTER = '\n})';
const COMMAND_NAME = /^[a-z_][a-z_-]{0,19}$/;
const OUR_FILE = /^\.\/[\w-]+\.cjs$/;

export interface CodeCacheOptions {
  /** The folder of the bundled files. */
  readonly program: string;
  /** The home folder; if it does not exist, no code is stored. */
  readonly home: string;
  /** The command, which the code is stored for. */
  readonly command: string;
  /** Loads modules of Node and of packages. */
  readonly require: (id: string) => unknown;
  /** Imports packages that are ES modules, which compiled code cannot do itself. */
  readonly import: (id: string) => Promise<unknown>;
}

type Wrapper = (
  this: unknown,
  exports: unknown,
  require: (id: string) => unknown,
  module: { exports: unknown },
  filename: string,
  dirname: string,
  importPackage: (id: string) => Promise<unknown>,
) => void;

interface Compiled {
  readonly script: Script;
  readonly source: Stats;
  readonly codeFile: string;
}

export class CodeCache {
  readonly #options: CodeCacheOptions;
  /** Undefined if no code is read or stored. */
  readonly #folder: string | undefined;
  readonly #modules = new Map<string, { exports: unknown }>();
  /** Files that were compiled in this run. */
  readonly #compiled: Compiled[] = [];

  constructor(options: CodeCacheOptions, env: NodeJS.ProcessEnv) {
    this.#options = options;
    const { program, home, command } = options;
    // The same variables disable the cache of Node itself; coverage needs every function compiled in the process.
    const isOff = Boolean(env['NODE_DISABLE_COMPILE_CACHE'] || env['NODE_V8_COVERAGE']);
    const { version, arch, execArgv } = process;
    const build = quickHash([version, arch, env['NODE_OPTIONS'] ?? '', ...execArgv, program].join('\n'));
    this.#folder =
      isOff || !COMMAND_NAME.test(command) ? undefined : join(home, 'cache', 'code', build, command);
  }

  /** Loads one of our files, given as `./name.cjs`; its own `require` loads others the same way. */
  load(id: string): unknown {
    const known = this.#modules.get(id);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    this.#modules.set(id, module);
    const { program, require, import: importPackage } = this.#options;
    const file = join(program, id);
    const load = (wanted: string): unknown => (OUR_FILE.test(wanted) ? this.load(wanted) : require(wanted));
    this.#compile(file).call(module.exports, module.exports, load, module, file, program, importPackage);
    return module.exports;
  }

  /** Stores the code of the files that were compiled in this run. Never throws. */
  store(): void {
    if (this.#folder === undefined || this.#compiled.length === 0 || process.uptime() > MAX_UPTIME_SECONDS)
      return;
    try {
      this.#makeFolder(this.#folder);
      for (const { script, source, codeFile } of this.#compiled) {
        const code = script.createCachedData();
        const header = new Float64Array([FORMAT, ...identityOf(source), code.length]);
        const temporary = `${codeFile}.${process.pid}.tmp`;
        writeFileSync(temporary, Buffer.concat([new Uint8Array(header.buffer), code, code]), {
          mode: FILE_MODE,
        });
        renameSync(temporary, codeFile);
      }
    } catch {
      // A disk that is full or read-only: the next run compiles again.
    }
  }

  #compile(file: string): Wrapper {
    const { source, wrapped } = readSource(file);
    const codeFile = this.#folder === undefined ? undefined : join(this.#folder, `${basename(file)}.code`);
    const cachedData = codeFile === undefined ? undefined : readCode(codeFile, source);
    const script = new Script(wrapped, { filename: file, cachedData });
    const isCached = cachedData !== undefined && script.cachedDataRejected === false;
    if (codeFile !== undefined && !isCached) this.#compiled.push({ script, source, codeFile });
    // The text is one function expression.
    return script.runInThisContext() as Wrapper;
  }

  /** Creates the folder inside an existing home, and removes the code of builds that are no longer used. */
  #makeFolder(folder: string): void {
    const build = dirname(folder);
    const all = dirname(build);
    for (const each of [dirname(all), all]) makeOne(each);
    if (makeOne(build)) removeOldest(all);
    makeOne(folder);
  }
}

/** Returns true if the folder did not exist. */
function makeOne(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: FOLDER_MODE });
    return true;
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
    return false;
  }
}

function removeOldest(folder: string): void {
  const builds = readdirSync(folder).map((name) => join(folder, name));
  const madeAt = new Map(builds.map((build) => [build, statSync(build).mtimeMs]));
  builds.sort((a, b) => (madeAt.get(b) ?? 0) - (madeAt.get(a) ?? 0));
  for (const build of builds.slice(MAX_BUILDS)) rmSync(build, { recursive: true, force: true });
}

/** Reads a file as the function that it is called as; one buffer, because a megabyte is copied with each step. */
function readSource(file: string): { readonly source: Stats; readonly wrapped: string } {
  const descriptor = openSync(file, 'r');
  try {
    const source = fstatSync(descriptor);
    const { length } = BEFORE;
    const bytes = Buffer.allocUnsafeSlow(length + source.size + AFTER.length);
    bytes.write(BEFORE, 0, 'latin1');
    readAll(descriptor, bytes.subarray(length, length + source.size));
    bytes.write(AFTER, length + source.size, 'latin1');
    return { source, wrapped: bytes.toString('utf8') };
  } finally {
    closeSync(descriptor);
  }
}

/** Fills the buffer; throws if the file is shorter. */
function readAll(descriptor: number, into: Buffer): void {
  for (let at = 0; at < into.length; ) {
    const count = readSync(descriptor, into, at, into.length - at, at);
    if (count === 0) throw new Error('The file became shorter while it was read');
    at += count;
  }
}

/** Identifies a source: every write changes one of these. */
function identityOf({ size, mtimeMs, ctimeMs }: Stats): readonly [number, number, number] {
  return [size, mtimeMs, ctimeMs];
}

/** Returns the code of a source; undefined if there is none, or if a check fails. */
function readCode(file: string, source: Stats): Buffer | undefined {
  let descriptor: number;
  try {
    // A named pipe in its place would block.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return undefined;
    const length = (stats.size - HEADER_BYTES) / COPIES;
    if (!isOnlyOurs(stats) || !(length > 0 && length <= MAX_CODE_BYTES)) return undefined;
    const bytes = Buffer.allocUnsafeSlow(stats.size);
    readAll(descriptor, bytes);
    const header = new Float64Array(bytes.buffer, 0, HEADER_NUMBERS);
    const expected = [FORMAT, ...identityOf(source), length];
    if (!expected.every((value, at) => header[at] === value)) return undefined;
    const code = bytes.subarray(HEADER_BYTES, HEADER_BYTES + length);
    return code.equals(bytes.subarray(HEADER_BYTES + length)) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** True for a file that no other user can have written. Windows keeps others out of the home folder. */
function isOnlyOurs({ uid, mode }: Stats): boolean {
  if (process.geteuid === undefined) return true;
  return uid === process.geteuid() && (mode & WRITABLE_BY_OTHERS) === 0;
}
