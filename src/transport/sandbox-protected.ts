/**
 * Protects project files through which git, an editor or an agent later starts programs outside of a sandbox: a
 * confined process that can write to the project may read them, but not change or create them (A37).
 */

import { lstatSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { isInside } from '../lib/inside.ts';
import { gitPlaces, type PlaceKind } from './sandbox-git.ts';
import type { Mounts } from './sandbox-mounts.ts';

/** Read-only if they exist. */
const PROTECTED = [
  '.git',
  '.gitmodules',
  '.mcp.json',
  'mcp.lock.json',
  '.claude',
  '.codex',
  '.cursor',
  '.gemini',
  '.vscode',
  '.opencode',
  'opencode.json',
  'opencode.jsonc',
  '.pi',
  '.zed',
  '.idea',
  '.roo',
  '.kiro',
  '.windsurf',
  '.devcontainer',
  '.husky',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.envrc',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  '.tool-versions',
  'mise.toml',
  '.mise.toml',
];

/** Files that programs load without a prompt in a trusted folder: they cannot be created either. */
export const RESERVED: ReadonlyMap<string, PlaceKind> = new Map([
  ['.git', 'folder'],
  ['.mcp.json', 'file'],
  ['.claude', 'folder'],
  ['.codex', 'folder'],
  ['.cursor', 'folder'],
  ['.gemini', 'folder'],
  ['.vscode', 'folder'],
]);

/**
 * Maximum number of mounts for one writable folder, including those for folders on the path. Each start creates them
 * twice; bubblewrap takes a quarter of a second for this many, and four seconds for four times as many.
 */
const MAX_MOUNTS = 256;

export interface Protection {
  readonly folder: string;
  readonly places: ReadonlySet<string>;
  /** Names in the folder that must exist before they can be covered. */
  readonly missing: ReadonlyMap<string, PlaceKind>;
}

/** The reason why a folder cannot be protected. */
export interface Unprotectable {
  readonly unprotectable: string;
}

/** Finds the paths to protect in a writable folder. `given`: paths that the entry itself lists as writable. */
export async function protectionOf(
  folder: string,
  given: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Protection | Unprotectable> {
  const ofGit = await gitPlaces(folder, env, MAX_MOUNTS);
  if (ofGit.has(folder) && !given.includes(folder)) {
    return { unprotectable: `${folder} is itself a folder of git hooks, which cannot be protected` };
  }
  // Folders listed in the entry are protected separately, unless they are protected paths themselves.
  const listed = given.filter((path) => path !== folder && isInside(path, folder));
  const isProtected = (place: string): boolean => !listed.some((path) => isInside(place, path));
  const found = [...ofGit.keys()].filter((place) => place !== folder && isProtected(place));
  if (new Set(found.flatMap((place) => wayTo(folder, place))).size > MAX_MOUNTS) {
    const most = `more than ${MAX_MOUNTS} places to protect`;
    return {
      unprotectable: `${folder} has ${most} (submodules, folders of hooks, and the folders above them)`,
    };
  }
  const places = new Set([...PROTECTED.map((name) => join(folder, name)).filter(isProtected), ...found]);
  const ends = [...places].map((place) => endOf(folder, place, places));
  const link = ends.find(({ kind }) => kind === 'link');
  if (link !== undefined) return linked(link.path);
  const missing = [...ofGit]
    .filter(([place]) => places.has(place) && endOf(folder, place, places).kind === 'missing')
    .map(([place, kind]) => [relative(folder, place), kind] as const);
  return { folder, places, missing: new Map(missing) };
}

/** Mounts the protected paths read-only. */
export function protect(mounts: Mounts, protection: Protection): Protection | Unprotectable {
  const { folder, places } = protection;
  for (const place of places) {
    const { kind, path } = endOf(folder, place, places);
    if (kind === 'link') return linked(path);
    // A path that is still missing is in a folder that we cannot write, so the process cannot either.
    if (kind === 'there') mounts.set(path, { kind: 'read', from: path });
  }
  return protection;
}

/**
 * Finds the part of a path to cover: a symbolic link in it could be replaced; paths behind a file or another protected
 * path are covered with it.
 */
function endOf(
  folder: string,
  place: string,
  places: ReadonlySet<string>,
): { readonly kind: 'there' | 'link' | 'missing'; readonly path: string } {
  for (const path of wayTo(folder, place)) {
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (info === undefined) return { kind: 'missing', path };
    if (info.isSymbolicLink()) return { kind: 'link', path };
    if (places.has(path) || !info.isDirectory()) return { kind: 'there', path };
  }
  return { kind: 'there', path: place };
}

/** Returns every path from the folder (exclusive) to the place (inclusive), outermost first. */
function wayTo(folder: string, place: string): readonly string[] {
  const names = relative(folder, place).split(sep);
  return names.map((_name, at) => join(folder, ...names.slice(0, at + 1)));
}

function linked(path: string): Unprotectable {
  return { unprotectable: `${path} is a link, which cannot be protected` };
}
