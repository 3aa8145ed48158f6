/**
 * Creates empty placeholders for files that a confined process must not create: only existing files can be covered.
 * They exist while such processes run, and are removed after the last one. A record in Plugboard's home folder counts
 * the users, so that leftovers of a killed host are removed at the next start.
 */

import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readFile, rmdir, unlink, writeFile } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import type { Home } from '../config/home.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord } from '../lib/json.ts';
import { lockFileFor, withFileLock } from '../lib/locked-file.ts';
import { processRow } from '../lib/process-table.ts';
import type { PlaceKind } from './sandbox-git.ts';

/** A file that every agent reads as "no servers". */
const NO_SERVERS = '{ "mcpServers": {} }\n';

interface Holders {
  /** Process ids by holder id. */
  readonly holders: Readonly<Record<string, number>>;
  /** Names that were created here. */
  readonly made: readonly string[];
}

export type Release = () => Promise<void>;

/** Creates the missing names in the folder; they are removed when every holder has released them. */
export async function holdStandIns(
  home: Home,
  folder: string,
  names: ReadonlyMap<string, PlaceKind>,
): Promise<Release> {
  const id = randomUUID();
  const record = `${lockFileFor(join(home.run, 'sandbox'), folder)}.json`;
  const locked = <T>(work: () => Promise<T>): Promise<T> =>
    withFileLock(lockFileFor(join(home.run, 'sandbox'), folder), work);
  await locked(async () => {
    const { holders, made } = await readHolders(record, folder);
    const added = await makeMissing(folder, names);
    const all = {
      holders: { ...living(holders), [id]: process.pid },
      made: [...new Set([...made, ...added])],
    };
    await writeFile(record, JSON.stringify(all), { mode: 0o600 });
  });
  let released: Promise<void> | undefined;
  return () => {
    released ??= locked(async () => {
      const { holders, made } = await readHolders(record, folder);
      const { [id]: _own, ...others } = living(holders);
      if (Object.keys(others).length > 0) {
        await writeFile(record, JSON.stringify({ holders: others, made }), { mode: 0o600 });
        return;
      }
      // Folders after their contents.
      for (const name of [...made].sort().reverse()) await removeUnused(folder, name);
      await unlink(record).catch(() => undefined);
    });
    return released;
  };
}

async function makeMissing(
  folder: string,
  names: ReadonlyMap<string, PlaceKind>,
): Promise<readonly string[]> {
  const made: string[] = [];
  for (const name of new Set([...names.keys()].flatMap(withParents))) {
    const path = join(folder, name);
    if ((await lstat(path).catch(() => undefined)) !== undefined) continue;
    try {
      if (names.get(name) === 'file') await writeFile(path, emptyText(name), { flag: 'wx' });
      else await mkdir(path);
      made.push(name);
    } catch (error) {
      // If we cannot write there, the process cannot either.
      if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS', 'ENOENT'].includes(errorCode(error) ?? '')) throw error;
    }
  }
  return made;
}

function emptyText(name: string): string {
  return name === '.mcp.json' ? NO_SERVERS : '';
}

/** Returns `a`, `a/b` and `a/b/c` for `a/b/c`. */
function withParents(name: string): readonly string[] {
  const parts = name.split(sep);
  return parts.map((_part, at) => parts.slice(0, at + 1).join(sep));
}

/** Removes a placeholder unless it has content by now. */
async function removeUnused(folder: string, name: string): Promise<void> {
  const path = join(folder, name);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) await rmdir(path).catch(() => undefined);
  else if (text === emptyText(name)) await unlink(path).catch(() => undefined);
}

async function readHolders(record: string, folder: string): Promise<Holders> {
  const value: unknown = await readFile(record, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  if (!isRecord(value) || !isRecord(value['holders']) || !Array.isArray(value['made'])) {
    return { holders: {}, made: [] };
  }
  const made = value['made'].filter((name): name is string => {
    return typeof name === 'string' && resolve(folder, name).startsWith(folder + sep);
  });
  const holders = Object.entries(value['holders']).filter((entry): entry is [string, number] => {
    return Number.isSafeInteger(entry[1]);
  });
  return { holders: Object.fromEntries(holders), made };
}

function living(holders: Holders['holders']): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(holders).filter(([, pid]) => processRow(pid) !== undefined));
}
