/** Writes the locks of servers into `mcp.lock.json`, one line for each package. */

import { dirname, join } from 'node:path';
import { type Home, projectOf } from '../config/home.ts';
import type { LockedServer, LockPlace } from '../config/lock-file.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord, type JsonObject, parseRecord } from '../lib/json.ts';
import { updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';

/** Sets the lock of a server, or removes it. */
export async function writeLock(home: Home, place: LockPlace, lock: LockedServer | undefined): Promise<void> {
  const isOurs = dirname(place.file) === home.dir;
  if (isOurs) await makeFolder(home.dir, 0o700);
  const change = (text: string | undefined): string | undefined => {
    const before = text === undefined || text.trim() === '' ? {} : parseRecord(text);
    if (before === undefined) throw notJson(place.file);
    const after = withValue({ ...before, version: 1 }, place.path, lock);
    return `${formatted(after)}\n`;
  };
  await updateFile(place.file, change, {
    lockDir: join(home.run, 'locks'),
    mode: isOurs ? 0o600 : undefined,
    within: isOurs ? undefined : projectOf(place.file),
  });
}

/** Returns a copy with the value at a path; undefined removes it, and objects that are empty then. */
function withValue(root: JsonObject, [key = '', ...rest]: readonly string[], value: unknown): JsonObject {
  const { [key]: before, ...others } = root;
  const after = rest.length === 0 ? value : withValue(isRecord(before) ? before : {}, rest, value);
  const isEmpty = after === undefined || (isRecord(after) && Object.keys(after).length === 0);
  if (isEmpty) return others;
  const all = { ...root, [key]: after };
  // Servers and projects are sorted, so that two branches that lock two servers can be merged.
  return key === 'version' || rest.length > 0
    ? all
    : Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** JSON with two spaces, in which each package is one line. */
function formatted(value: unknown, indent = '', isOneLine = false): string {
  if (!isRecord(value) || isOneLine || Object.keys(value).length === 0)
    return JSON.stringify(value) ?? 'null';
  const inner = `${indent}  `;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${inner}${JSON.stringify(key)}: ${formatted(member, inner, isPackage(key))}`);
  return `{\n${members.join(',\n')}\n${indent}}`;
}

function isPackage(key: string): boolean {
  return key.startsWith('node_modules/');
}

function notJson(file: string): PlugboardError {
  return new PlugboardError('CONFIG_UNWRITABLE', `${file} is not valid JSON`, {
    hint: 'Restore the file from version control, or delete it; nothing was changed.',
  });
}
