/** Reads which folders of the store a lock file refers to. */

import { readFile } from 'node:fs/promises';
import { parseLockedServer } from '../config/lock-file.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import { keyOf } from './lock-store.ts';

/**
 * Returns the folders of all servers of a lock file, with and without scripts: empty if there is no such file, and
 * undefined if it cannot be read, for example because of merge conflicts.
 */
export async function readLockKeys(file: string): Promise<ReadonlySet<string> | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) =>
    errorCode(error) === 'ENOENT' ? '{}' : undefined,
  );
  const root = text === undefined ? undefined : parseRecord(text);
  if (root === undefined) return undefined;
  const { servers, projects } = root;
  const tables = [servers, ...Object.values(isRecord(projects) ? projects : {}).map(serversOf)];
  const locks = tables.flatMap((table) => Object.values(isRecord(table) ? table : {})).map(parseLockedServer);
  if (!locks.every((lock) => typeof lock !== 'string')) return undefined;
  return new Set(locks.flatMap((lock) => [true, false].map((scripts) => keyOf({ lock, scripts }))));
}

function serversOf(project: unknown): unknown {
  return isRecord(project) ? project['servers'] : undefined;
}
