/** Finds paths in a plugin's entry that lead out of its folder: the user approves the plugin by that folder. */

import { posix } from 'node:path';
import { loadsCode } from './code-variables.ts';
import { type Fault, type JsonPath, showPath } from './fault.ts';

/** A reference to the plugin's own folders, with a default or without. */
const OWN_FOLDER = /\$\{(?:CLAUDE_)?PLUGIN_(?:ROOT|DATA)(?::-[^}]*)?\}/g;
/** Any other reference with a default; the default is checked. */
const WITH_DEFAULT = /\$\{[A-Za-z_]\w*:-([^}]*)\}/g;
/** Placeholder in a text for one of the plugin's own folders. */
const OWN = '\0';
const SEPARATORS = /[\s'"`;&|<>()=,:]+/;
/** Keys whose relative paths are resolved by the system or by an interpreter. */
const PATH_KEYS: ReadonlySet<string> = new Set(['command', 'args', 'cwd', 'headersHelper']);

/** Returns one fault for each text that leads out; absolute paths and variables without a default are not checked. */
export function leavingPaths(entry: Readonly<Record<string, unknown>>, path: JsonPath): Fault[] {
  const { cwd } = entry;
  const folder = typeof cwd === 'string' ? folderOf(cwd) : '.';
  return textsIn(entry, path).flatMap(({ text, at }) => {
    const inner = at.slice(path.length);
    const isPath = PATH_KEYS.has(String(inner[0])) || (inner[0] === 'env' && loadsCode(String(inner[1])));
    const base = inner[0] === 'cwd' ? '.' : folder;
    return leaves(text, isPath ? base : undefined) ? [fault(at)] : [];
  });
}

/** Returns the working folder relative to the plugin's; the plugin's own folder if it cannot be determined. */
function folderOf(cwd: string): string {
  const filled = fill(cwd);
  if (filled.startsWith(OWN)) return `.${filled.slice(OWN.length)}`;
  return posix.isAbsolute(filled) || filled.includes('${') ? '.' : filled;
}

function leaves(text: string, base: string | undefined): boolean {
  return fill(text)
    .split(SEPARATORS)
    .some((piece) => {
      if (piece.startsWith(OWN)) return isOutside(`.${piece.slice(OWN.length)}`);
      if (base === undefined || posix.isAbsolute(piece) || piece.startsWith('$')) return false;
      return isOutside(posix.join(base, piece));
    });
}

function fill(text: string): string {
  return text.replaceAll(OWN_FOLDER, OWN).replaceAll(WITH_DEFAULT, '$1').replaceAll('\\', '/');
}

function isOutside(path: string): boolean {
  const normal = posix.normalize(path);
  return normal === '..' || normal.startsWith('../');
}

function textsIn(value: unknown, at: JsonPath): { readonly text: string; readonly at: JsonPath }[] {
  if (typeof value === 'string') return [{ text: value, at }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    textsIn(member, [...at, Array.isArray(value) ? Number(key) : key]),
  );
}

function fault(path: JsonPath): Fault {
  const message = `${showPath(path.slice(-2))} leads out of the folder of its plugin.`;
  const hint = 'Relative paths of a plugin stay in its folder.';
  return { path, at: 'value', message, hint, fatal: true };
}
