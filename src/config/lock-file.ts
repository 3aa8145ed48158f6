/**
 * Reads `mcp.lock.json`: the exact packages that the entries of a file run, with the hash of each. An invalid lock
 * stops the servers that it is for, so that a merge conflict does not unlock them.
 */

import { dirname, join } from 'node:path';
import { isRecord, type JsonObject, own, parseJson, valueAt } from '../lib/json.ts';
import { type Document, readDocument } from './document.ts';
import { isStdio, type Problem, type ServerSpec } from './entry.ts';
import type { Home } from './home.ts';
import {
  EXACT_VERSION,
  isNpmLauncher,
  isPackageName,
  launchedBy,
  type PackageRequest,
} from './package-launcher.ts';
import { isPersonal } from './scopes.ts';

export const LOCK_FILE = 'mcp.lock.json';
const LOCK_VERSION = 1;
/** A package below `node_modules`, without a way out of it. */
const PACKAGE_PATH = /^(?:node_modules\/(?:@[\w.~-]+\/)?(?!\.{1,2}(?:\/|$))[\w.~-]+(?:\/(?=.)|$))+$/;
/** Hashes for which no second content is known. */
const INTEGRITY = /^(?:sha512-[A-Za-z0-9+/]{86}==|sha384-[A-Za-z0-9+/]{64})$/;

/** What a locked entry runs. */
export interface LockedServer {
  readonly source: 'npm';
  /** The first package of the entry. */
  readonly package: string;
  readonly version: string;
  readonly integrity: string;
  /** The packages as the entry names them: a lock is for these only. */
  readonly requested: readonly string[];
  /** When the version was published. */
  readonly published?: string;
  /** All packages, by their path below `node_modules`, as in npm's own lock. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

export interface LockedPackage extends JsonObject {
  readonly version: string;
  /** Absent for a package that is part of another one. */
  readonly integrity?: string;
}

/** The lock of a server, or why it cannot be used. */
export type ServerLock =
  | { readonly kind: 'locked'; readonly file: string; readonly server: LockedServer }
  | {
      readonly kind: 'invalid';
      readonly file: string;
      readonly reason: string;
      /** How to repair the file, if all of it is invalid: commands do not change it then. */
      readonly fileHint?: string | undefined;
    };

/** The place of a server's lock. */
export interface LockPlace {
  readonly file: string;
  readonly path: readonly string[];
}

/** Returns where the lock of a server is; undefined for a server that has none, such as one given in code. */
export function lockPlace(
  spec: Pick<ServerSpec, 'name' | 'scope' | 'file' | 'baseDir'>,
): LockPlace | undefined {
  if (spec.file === undefined) return undefined;
  const file = join(dirname(spec.file), LOCK_FILE);
  const isLocal = isPersonal(spec) && spec.scope === 'local';
  return { file, path: [...(isLocal ? ['projects', spec.baseDir] : []), 'servers', spec.name] };
}

/** Adds the locks of servers behind launchers of packages; reads only the files of such servers. */
export async function withLocks(
  specs: readonly ServerSpec[],
  home: Home,
): Promise<{ readonly specs: readonly ServerSpec[]; readonly problems: readonly Problem[] }> {
  const documents = new Map<string, Document>();
  const locked: ServerSpec[] = [];
  for (const spec of specs) {
    const place = isStdio(spec.entry) && isNpmLauncher(spec.entry.command) ? lockPlace(spec) : undefined;
    if (place === undefined || home.isNone) {
      locked.push(spec);
      continue;
    }
    const document = documents.get(place.file) ?? (await readDocument(place.file, parseLock));
    documents.set(place.file, document);
    const lock = lockIn(document, place);
    locked.push(lock === undefined ? spec : { ...spec, lock });
  }
  return { specs: locked, problems: [...documents.values()].flatMap(({ problems }) => problems) };
}

/** Returns why a lock is not for the packages that an entry with expanded variables names; undefined if it is. */
export function lockMismatch(lock: LockedServer, request: PackageRequest): string | undefined {
  const names = request.packages.map(({ raw }) => raw);
  const isSame =
    names.length === lock.requested.length && names.every((name, at) => name === lock.requested[at]);
  return isSame
    ? undefined
    : `it was made for ${lock.requested.join(', ')}, and the entry names ${names.join(', ')}`;
}

/** Returns the lock that applies to an entry with expanded variables; undefined if there is none, or it does not fit. */
export function usableLock(
  spec: Pick<ServerSpec, 'lock'>,
  entry: ServerSpec['entry'],
): LockedServer | undefined {
  if (spec.lock?.kind !== 'locked' || !isStdio(entry)) return undefined;
  const launched = launchedBy(entry);
  const isFitting = launched.kind === 'npm' && lockMismatch(spec.lock.server, launched.request) === undefined;
  return isFitting ? spec.lock.server : undefined;
}

/** The number of packages of a lock, and the ones with install scripts. */
export function scriptsIn({ packages }: Pick<LockedServer, 'packages'>): readonly string[] {
  return Object.entries(packages)
    .filter(([, each]) => each['hasInstallScript'] === true)
    .map(([path, { version }]) => `${packageAt(path)}@${version}`);
}

/** Returns the name of the package at a path: `node_modules/a/node_modules/@b/c` is @b/c. */
export function packageAt(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Plain JSON: comments and the position of a problem are of no use in a generated file. */
function parseLock(file: string, text: string): Document {
  const value = parseJson(text);
  const why =
    value === undefined
      ? /^<{7} /m.test(text)
        ? 'it has merge conflicts'
        : 'it is not valid JSON'
      : isRecord(value) && value['version'] === LOCK_VERSION
        ? undefined
        : `"version" is not ${LOCK_VERSION}`;
  if (why === undefined) return { file, text, value, problems: [] };
  const message = `The lock cannot be used: ${why}; its servers do not start`;
  const hint =
    'Resolve the conflicts or restore the file from version control; without a copy, delete it and run plugboard lock.';
  return { file, text, value: undefined, problems: [{ file, message, hint }] };
}

function lockIn({ file, value, problems }: Document, { path }: LockPlace): ServerLock | undefined {
  const [problem] = problems;
  if (problem !== undefined)
    return { kind: 'invalid', file, reason: problem.message, fileHint: problem.hint };
  const found = valueAt(value, path);
  if (found === undefined) return undefined;
  const server = parseLockedServer(found);
  return typeof server === 'string'
    ? { kind: 'invalid', file, reason: `The lock cannot be used: ${server}` }
    : { kind: 'locked', file, server };
}

/** Returns a locked server; a sentence if a part is missing or has no hash. */
export function parseLockedServer(value: unknown): LockedServer | string {
  if (!isRecord(value)) return 'it is not an object';
  const { source, package: name, version, integrity, requested, published, packages } = value;
  if (source !== 'npm') return `its source ${JSON.stringify(source)} is not supported by this version`;
  if (typeof name !== 'string' || !isPackageName(name)) return 'it does not name a package';
  if (typeof version !== 'string' || !EXACT_VERSION.test(version)) return `${name} has no exact version`;
  if (typeof integrity !== 'string' || !INTEGRITY.test(integrity)) return `${name} has no usable "integrity"`;
  if (!isTexts(requested) || requested.length === 0) return '"requested" does not list packages';
  if (!isRecord(packages)) return '"packages" is not an object';
  for (const [path, each] of Object.entries(packages)) {
    const fault = packageFault(path, each, packages);
    if (fault !== undefined) return fault;
  }
  const main = own(packages, `node_modules/${name}`);
  if (!isRecord(main) || main['version'] !== version || main['integrity'] !== integrity) {
    return `"packages" and "version" of ${name} do not agree`;
  }
  return {
    source,
    package: name,
    version,
    integrity,
    requested,
    ...(typeof published === 'string' ? { published } : {}),
    packages: packages as Readonly<Record<string, LockedPackage>>, // each was checked above
  };
}

function packageFault(path: string, value: unknown, all: JsonObject): string | undefined {
  if (!PACKAGE_PATH.test(path)) return `${JSON.stringify(path)} is not the path of a package`;
  if (!isRecord(value) || typeof value['version'] !== 'string') return `${path} has no version`;
  const { integrity, resolved, link, inBundle } = value;
  if (link === true) return `${path} is a link to a folder`;
  if (resolved !== undefined && !/^https?:\/\//.test(String(resolved))) {
    return `${path} comes from ${String(resolved)}, which is not a registry`;
  }
  if (inBundle === true && integrity === undefined) {
    return isBundled(path, all) ? undefined : `${path} is not part of another package`;
  }
  return typeof integrity === 'string' && INTEGRITY.test(integrity)
    ? undefined
    : `${path} has no usable "integrity"`;
}

/** True if a package above has the hash of the tarball that contains this one. */
function isBundled(path: string, all: JsonObject): boolean {
  const parent = path.slice(0, path.lastIndexOf('/node_modules/'));
  if (parent === path || !path.includes('/node_modules/')) return false;
  const above = own(all, parent);
  if (!isRecord(above)) return false;
  return typeof above['integrity'] === 'string' || isBundled(parent, all);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
