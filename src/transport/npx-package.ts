/**
 * Finds the program that `npx` would run, if its package is in the cache of npx. Everything that npx would decide in
 * another way, or that is not certain, is undefined: then npx itself is started.
 */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import {
  EXACT_VERSION,
  isProgramName,
  npxRequest,
  type PackageRequest,
  type PackageSpec,
} from '../config/package-launcher.ts';
import { attempt } from '../lib/attempt.ts';
import { isExecutable } from '../lib/find-program.ts';
import { isRecord, type JsonObject, parseRecord, valueAt } from '../lib/json.ts';
import { foldersAbove, npmSettings } from './npm-settings.ts';
import type { LaunchPlan } from './plan-launch.ts';

/** Characters of the hash that names a folder of the cache. */
const FOLDER_CHARS = 16;

/** The packages of a launch of `npx`, in its cache. */
export interface NpxPackage {
  /** The folder of the packages and their dependencies in the cache. */
  readonly folder: string;
  /** Asks the registry which version is current, and installs it; undefined for exact versions. */
  readonly check: LaunchPlan | undefined;
  /** The program to start in place of `npx`; undefined if npx has to decide. */
  readonly program: InstalledProgram | undefined;
}

interface InstalledProgram {
  readonly launch: LaunchPlan;
  /** Packages and versions, for the log. */
  readonly what: string;
}

/** Returns the packages of a launch of `npx`; undefined for one that is not understood. */
export function npxPackage(launch: LaunchPlan): NpxPackage | undefined {
  const request = requestOf(launch);
  const settings = request && npmSettings(launch, request.start);
  if (request === undefined || settings === undefined) return undefined;
  const { packages } = request;
  const folder = join(settings.cache, '_npx', folderName(packages));
  const isExact = packages.every(({ version }) => EXACT_VERSION.test(version));
  return {
    folder,
    check: isExact ? undefined : { ...launch, args: checkArgs(request) },
    program: installedProgram(launch, request, { folder, prefixes: settings.prefixes }),
  };
}

function installedProgram(
  launch: LaunchPlan,
  { packages, program: named, args, start }: Request,
  { folder, prefixes }: { readonly folder: string; readonly prefixes: readonly string[] },
): InstalledProgram | undefined {
  // npm holds this while it reads or changes the folder.
  if (existsSync(join(folder, 'concurrency.lock'))) return undefined;
  const lock = readJson(join(folder, 'node_modules', '.package-lock.json'));
  const installed = packages.map((spec) => installedPackage(folder, lock, spec));
  const [first] = installed;
  if (first === undefined || installed.includes(undefined)) return undefined;
  const bin = named ?? defaultBin(first);
  if (bin === undefined) return undefined;
  const binFolder = join(folder, 'node_modules', '.bin');
  const command = join(binFolder, bin);
  const names = [bin, ...packages.map(({ name }) => name)];
  const places = [...foldersAbove(start).map(localPlace), ...prefixes.map(globalPlace)];
  const isElsewhere = places.some((place) => names.some((name) => isProvided(place, name)));
  if (isElsewhere || !isExecutable(command)) return undefined;
  const { PATH = '' } = launch.env;
  // npx adds the folder to the search path: a server may start programs of its dependencies.
  const env = { ...launch.env, PATH: PATH === '' ? binFolder : `${binFolder}${delimiter}${PATH}` };
  const what = installed.map((found) => `${found?.['name']} ${found?.['version']}`).join(', ');
  return { launch: { ...launch, command, args, env }, what };
}

/** A request, with the folder in which npx searches for a project. */
interface Request extends PackageRequest {
  readonly start: string;
}

function requestOf({ args, cwd }: LaunchPlan): Request | undefined {
  const request = npxRequest(args);
  return request && { ...request, start: resolve(cwd, request.prefix ?? '') };
}

function checkArgs({ packages, prefix }: Request): readonly string[] {
  return [
    '--yes',
    ...(prefix === undefined ? [] : ['--prefix', prefix]),
    ...packages.flatMap(({ raw }) => ['--package', raw]),
    '--call',
    'exit 0',
  ];
}

/** The name that npm gives the folder of these packages. */
function folderName(packages: readonly PackageSpec[]): string {
  const sorted = packages.map(({ raw }) => raw).sort((a, b) => a.localeCompare(b, 'en'));
  return createHash('sha512').update(sorted.join('\n')).digest('hex').slice(0, FOLDER_CHARS);
}

/**
 * Returns the manifest of an installed package. npm writes the lock after the packages: while an installation runs, or
 * after it failed, the versions differ.
 */
function installedPackage(folder: string, lock: JsonObject, wanted: PackageSpec): JsonObject | undefined {
  const manifest = readJson(join(folder, 'node_modules', wanted.name, 'package.json'));
  const { version } = manifest;
  const locked = valueAt(lock, ['packages', `node_modules/${wanted.name}`, 'version']);
  if (typeof version !== 'string' || locked !== version) return undefined;
  return EXACT_VERSION.test(wanted.version) && wanted.version !== version ? undefined : manifest;
}

/** The only program of a package, or the one with the package's name. */
export function defaultBin({ name, bin }: JsonObject): string | undefined {
  if (typeof name !== 'string') return undefined;
  const plain = basename(name);
  if (typeof bin === 'string') return plain;
  if (!isRecord(bin)) return undefined;
  const [only, ...others] = Object.keys(bin);
  const isOne = only !== undefined && others.every((other) => bin[other] === bin[only]);
  const chosen = isOne ? only : plain;
  return Object.hasOwn(bin, chosen) && isProgramName(chosen) ? chosen : undefined;
}

/** Where npx searches before its cache. */
interface Place {
  readonly modules: string;
  readonly bin: string;
  /** The manifest of a project, whose own programs npx prefers. */
  readonly manifest?: string;
}

function localPlace(folder: string): Place {
  const modules = join(folder, 'node_modules');
  return { modules, bin: join(modules, '.bin'), manifest: join(folder, 'package.json') };
}

function globalPlace(prefix: string): Place {
  return { modules: join(prefix, 'lib', 'node_modules'), bin: join(prefix, 'bin') };
}

/** `name`: of a package or a program. */
function isProvided({ modules, bin, manifest }: Place, name: string): boolean {
  if (existsSync(join(modules, name)) || existsSync(join(bin, name))) return true;
  if (manifest === undefined) return false;
  const { name: project, bin: bins } = readJson(manifest);
  return project === name || (isRecord(bins) && Object.hasOwn(bins, name));
}

function readJson(file: string): JsonObject {
  return attempt(() => parseRecord(readFileSync(file, 'utf8')), undefined) ?? {};
}
