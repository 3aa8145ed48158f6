/** Where the daemon of a home listens, and which build of it: a daemon of other code is another daemon. */

import { chmodSync, existsSync, lstatSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Home } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { makeFolderSync } from '../lib/make-folder.ts';
import { quickHash } from '../lib/quick-hash.ts';

/** Bytes of a socket's path that every system takes (Linux 108, macOS 104, with the end of the text). */
const MAX_SOCKET_BYTES = 103;
const ID_CHARS = 12;
const ONLY_OURS = 0o700;
const OTHERS = 0o077;

/** Read by Node itself when it starts: whoever needs other values needs another process. */
const PROCESS_VARIABLES = [
  'NODE_OPTIONS',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'NODE_USE_ENV_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

export interface Place {
  readonly id: string;
  /** The code that would run there, whatever Node is told when it starts. */
  readonly build: string;
  /** The program to start. */
  readonly entry: string;
  /** Tells who listens where, and the token that a client has to show; 0600. */
  readonly record: string;
  readonly lock: string;
  readonly log: string;
}

export const RECORD_NAME: RegExp = /^daemon-([0-9a-f]+)\.json$/;

/** Undefined when the daemon's program is not there: then there is nothing to share. */
export function placeOf(home: Home, env: NodeJS.ProcessEnv): Place | undefined {
  const entry = entryFile();
  if (entry === undefined) return undefined;
  const { size, mtimeMs } = statSync(entry);
  const build = hash([process.execPath, entry, size, mtimeMs]);
  const id = hash([build, ...PROCESS_VARIABLES.map((name) => env[name] ?? '')]);
  return {
    id,
    build,
    entry,
    record: join(home.run, `daemon-${id}.json`),
    lock: join(home.run, 'locks', `daemon-${id}.lock`),
    log: join(home.run, 'daemon.log'),
  };
}

/** The socket's path: in the home, or where that would be too long, in a folder that is nobody else's. */
export function socketPath(home: Home, id: string, env: NodeJS.ProcessEnv): string {
  const name = `daemon-${id}.sock`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\plugboard-${hash([home.dir])}-${id}`;
  const own = join(home.run, name);
  if (fits(own)) return ownFolder(home.run, own);
  const runtime = env['XDG_RUNTIME_DIR'] ?? '';
  const base = isAbsolute(runtime) && existsSync(runtime) ? runtime : '/tmp';
  for (const root of [base, '/tmp', tmpdir()]) {
    const folder = join(root, `plugboard-${process.getuid?.() ?? 0}`);
    const path = join(folder, `${hash([home.dir])}-${id}.sock`);
    if (fits(path)) return ownFolder(folder, path);
  }
  throw new PlugboardError('START_FAILED', 'There is no folder with a path short enough for the socket.', {
    hint: 'Set PLUGBOARD_HOME to a folder with a shorter path.',
  });
}

/** Where there are no users, there is nobody else. */
export function isOurs({ uid }: { readonly uid: number }): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MAX_SOCKET_BYTES;
}

/** Whoever may enter the folder may speak to the daemon: it is for us alone, or refused. */
function ownFolder(folder: string, path: string): string {
  makeFolderSync(folder, ONLY_OURS);
  const info = lstatSync(folder);
  if (info.isDirectory() && isOurs(info)) {
    // As a home is that was copied or unpacked. What others have left in it meanwhile is not theirs to tell us: `isOurs`.
    if ((info.mode & OTHERS) !== 0) chmodSync(folder, ONLY_OURS);
    return path;
  }
  throw new PlugboardError('START_FAILED', `${folder} is not a folder that only you can enter.`, {
    hint: `Take it away, or set PLUGBOARD_HOME to another folder.`,
  });
}

/** The bundle, from the build this file belongs to; from the sources, the last build's. */
function entryFile(): string | undefined {
  const candidates = ['../bin/daemon.cjs', '../../dist/bin/daemon.cjs'];
  return candidates.map((path) => fileURLToPath(new URL(path, import.meta.url))).find(existsSync);
}

function hash(parts: readonly unknown[]): string {
  return quickHash(JSON.stringify(parts)).slice(0, ID_CHARS);
}
