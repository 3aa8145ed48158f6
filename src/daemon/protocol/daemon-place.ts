/** Locates the daemon of a home: whether it may be used, its record and socket, and the build that would be started. */

import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Home } from '../../config/home.ts';
import { PlugboardError } from '../../errors.ts';
import { isRecord } from '../../lib/json.ts';
import { makeFolderSync } from '../../lib/make-folder.ts';
import { quickHash } from '../../lib/quick-hash.ts';
import { readVersion } from '../../lib/version.ts';
import { recordFile } from './daemon-use.ts';

/** The daemon always runs the newest build that attached to it. */
export interface Build {
  readonly version: string;
  /** Differs whenever the program on disk differs. */
  readonly id: string;
  /** Modification time of the program, milliseconds since the epoch. */
  readonly madeAt: number;
}

/** True if `a` should replace `b`. Never true both ways, so two builds cannot replace each other forever. */
export function isNewer(a: Build, b: Build): boolean {
  const order = compareVersions(a.version, b.version);
  if (order !== 0) return order > 0;
  return a.id !== b.id && a.madeAt > b.madeAt;
}

/** Compares by numbers; a release is newer than its pre-releases. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (let at = 0; at < 3; at++) {
    const difference = (left.numbers[at] ?? 0) - (right.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.tag === right.tag) return 0;
  if (left.tag === '' || right.tag === '') return left.tag === '' ? 1 : -1;
  return left.tag.localeCompare(right.tag, 'en', { numeric: true });
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly tag: string } {
  const [release = '', ...tag] = version.split('+', 1)[0]?.split('-') ?? [];
  return { numbers: release.split('.').map((part) => Number(part) || 0), tag: tag.join('-') };
}

/** Longest socket path that every system accepts (Linux 108 bytes, macOS 104, terminator included). */
const MAX_SOCKET_BYTES = 103;
const HASH_CHARS = 12;
const OWNER_ONLY = 0o700;
const OTHERS = 0o077;

const SOCKET_NAME = /^d-[0-9a-f]+\.sock$/;

/** One daemon for each home, whatever version its clients have. */
export interface Place {
  /** The build that this process would start. */
  readonly build: Build;
  /** The program to start. */
  readonly entry: string;
  /** Holds the address and the token of the running daemon; 0600. */
  readonly record: string;
  readonly lock: string;
  readonly log: string;
}

/** `daemon.json`; 0.1.0 had one file for each build and environment. */
export const RECORD_NAME: RegExp = /^daemon(?:-[0-9a-f]+)?\.json$/;

/** Returns undefined if the daemon's program does not exist. */
export function placeOf(home: Home): Place | undefined {
  const entry = entryFile();
  if (entry === undefined) return undefined;
  return {
    build: buildOf(entry),
    entry,
    record: recordFile(home),
    lock: join(home.run, 'locks', 'daemon.lock'),
    log: join(home.run, 'daemon.log'),
  };
}

/** Reads the file each time: an upgrade replaces it under a running process. */
export function buildOf(entry: string): Build {
  const { size, mtimeMs } = statSync(entry);
  return {
    version: readVersion(),
    id: hash([process.execPath, entry, size, mtimeMs]),
    madeAt: Math.floor(mtimeMs),
  };
}

/**
 * Returns a new path for a socket: in the home, or if that is too long, in a folder that only this user can enter.
 * Never the path of a predecessor, which removes its own socket when it exits: `id` is random and hexadecimal.
 */
export function newSocketPath(home: Home, env: NodeJS.ProcessEnv, id: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\plugboard-${hash([home.dir])}-${id}`;
  const name = `d-${id}.sock`;
  const own = join(home.run, name);
  if (fits(own)) return inOwnFolder(home.run, own);
  const runtime = env['XDG_RUNTIME_DIR'] ?? '';
  const base = isAbsolute(runtime) && existsSync(runtime) ? runtime : '/tmp';
  for (const root of [base, '/tmp', tmpdir()]) {
    const folder = join(root, `plugboard-${process.getuid?.() ?? 0}`, hash([home.dir]));
    const path = join(folder, name);
    if (!fits(path)) continue;
    inOwnFolder(dirname(folder), path);
    return inOwnFolder(folder, path);
  }
  throw new PlugboardError('START_FAILED', 'No folder has a path short enough for the socket', {
    hint: 'Set PLUGBOARD_HOME to a folder with a shorter path.',
  });
}

/** Removes sockets of daemons that were killed. Call it only while no daemon of this home accepts connections. */
export function removeStaleSockets(socket: string): void {
  if (process.platform === 'win32') return;
  const folder = dirname(socket);
  for (const name of readdirSync(folder))
    if (SOCKET_NAME.test(name)) rmSync(join(folder, name), { force: true });
}

/** Whether a file belongs to this user; always true on systems without user ids. */
export function isOurs({ uid }: { readonly uid: number }): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_SOCKET_BYTES;
}

/** Restricts the folder to its owner, because anyone who can enter it can connect to the daemon. */
function inOwnFolder(folder: string, path: string): string {
  makeFolderSync(folder, OWNER_ONLY);
  const info = lstatSync(folder);
  if (info.isDirectory() && isOurs(info)) {
    // A home that was copied or unpacked can have wider permissions. Files of other users in it are ignored:
    // `isOurs`.
    if ((info.mode & OTHERS) !== 0) chmodSync(folder, OWNER_ONLY);
    return path;
  }
  throw new PlugboardError('START_FAILED', `${folder} is not a folder that only you can enter`, {
    hint: `Remove it, or set PLUGBOARD_HOME to another folder.`,
  });
}

/** Returns the bundle of the build that this file belongs to; when run from the sources, that of the last build. */
function entryFile(): string | undefined {
  const candidates = ['../../bin/daemon.cjs', '../../../dist/bin/daemon.cjs'];
  // In a CommonJS bundle of an agent, `import.meta.url` is empty.
  if (!import.meta.url) return undefined;
  return candidates.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync);
}

function hash(parts: readonly unknown[]): string {
  return quickHash(JSON.stringify(parts)).slice(0, HASH_CHARS);
}

/** The file by which clients find the running daemon; readable by its user only. */
export interface DaemonRecord {
  readonly pid: number;
  /** Undefined for daemons of 0.1.0, which only 0.1.0 attaches to. */
  readonly protocol: number | undefined;
  readonly build: Build | undefined;
  readonly socket: string;
  /** Sent by every client; a process that cannot read this file cannot attach. */
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Returns undefined if the file is missing, invalid, or owned by another user. */
export function readRecord(file: string): DaemonRecord | undefined {
  let value: unknown;
  try {
    if (!isOurs(lstatSync(file))) return undefined;
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { pid, protocol, build, socket, token, since } = value;
  if (typeof pid !== 'number' || typeof since !== 'number') return undefined;
  if (typeof socket !== 'string' || typeof token !== 'string') return undefined;
  return {
    pid,
    protocol: typeof protocol === 'number' ? protocol : undefined,
    build: asBuild(build),
    socket,
    token,
    since,
  };
}

function asBuild(value: unknown): Build | undefined {
  if (!isRecord(value)) return undefined;
  const { version, id, madeAt } = value;
  if (typeof version !== 'string' || typeof id !== 'string' || typeof madeAt !== 'number') return undefined;
  return { version, id, madeAt };
}
