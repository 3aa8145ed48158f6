/**
 * Files of a project by which git, an editor or an agent starts programs later, outside of any sandbox: a confined
 * process that may write to the project reads them and does not change or create them (A37).
 */

import { lstatSync, readFileSync } from 'node:fs';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { isInside } from '../lib/inside.ts';
import type { Mounts } from './sandbox-mounts.ts';

/** Read-only where they exist. */
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

/** Those that programs take up without a question in a folder that is trusted already: they cannot be created either. */
export const RESERVED: readonly string[] = [
  '.git',
  '.mcp.json',
  '.claude',
  '.codex',
  '.cursor',
  '.gemini',
  '.vscode',
];

/**
 * Covers what is protected in a folder that can be written. `given`: paths that the entry itself lists as writable.
 * Returns a name that cannot be covered, if there is one: a link, which could be replaced.
 */
export function protect(mounts: Mounts, folder: string, given: readonly string[]): string | undefined {
  const places = [...PROTECTED.map((name) => join(folder, name)), ...gitPlaces(folder)];
  for (const place of places) {
    if (given.some((path) => path !== folder && isInside(path, place))) continue;
    const info = lstatSync(place, { throwIfNoEntry: false });
    if (info === undefined) continue;
    if (info.isSymbolicLink()) return place;
    mounts.set(place, { kind: 'read', from: place });
  }
  return undefined;
}

/** The folder of the repository's hooks, and what says where the repositories of its submodules are. */
function gitPlaces(folder: string): readonly string[] {
  const hooks = valuesOf(join(folder, '.git', 'config'), 'hooksPath')
    .filter((path) => !isAbsolute(path) && !path.startsWith('~'))
    .map((path) => resolve(folder, path));
  const submodules = valuesOf(join(folder, '.gitmodules'), 'path').map((path) => resolve(folder, path));
  return [
    ...hooks,
    ...submodules.map((path) => {
      const link = join(path, '.git');
      // One that is not there yet has an empty folder, which is then covered as a whole.
      return lstatSync(link, { throwIfNoEntry: false }) === undefined ? path : link;
    }),
  ].filter((path) => path.startsWith(folder + sep));
}

function valuesOf(file: string, key: string): readonly string[] {
  try {
    const lines = readFileSync(file, 'utf8').matchAll(new RegExp(`^\\s*${key}\\s*=\\s*(.+?)\\s*$`, 'gim'));
    return [...lines].map(([, value = '']) => value.replace(/^"(.*)"$/, '$1'));
  } catch {
    return [];
  }
}
