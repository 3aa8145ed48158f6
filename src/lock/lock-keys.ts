/** Reads which folders of the store a lock file refers to. */

import { readFile } from 'node:fs/promises';
import { parseLockedServer } from '../config/lock-file.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import { keyOf } from './lock-store.ts';

/** Returns the folders of all servers of a lock file, with and without scripts; empty if there is no such file. */
export async function readLockKeys(file: string): Promise<ReadonlySet<string>> {
  const root = parseRecord(await readFile(file, 'utf8').catch(() => ''));
  const { servers, projects } = root ?? {};
  const tables = [servers, ...Object.values(isRecord(projects) ? projects : {}).map(serversOf)];
  const locks = tables
    .flatMap((table) => Object.values(isRecord(table) ? table : {}))
    .map(parseLockedServer)
    .filter((lock) => typeof lock !== 'string');
  return new Set(locks.flatMap((lock) => [true, false].map((scripts) => keyOf({ lock, scripts }))));
}

function serversOf(project: unknown): unknown {
  return isRecord(project) ? project['servers'] : undefined;
}
