/**
 * The tool lists of servers on disk, one file each, so that a second start knows every tool before any
 * server runs (CAT-4). A file is found by everything that can change the list: a change finds nothing.
 */

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import type { Era } from '../connection/eras.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import { replaceFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';

/** Raised when what is kept or how it is read changes; older files are then not found any more. */
const FORMAT = 1;
/** For lists whose server says nothing about how long they are good. */
export const DEFAULT_TTL_MS: number = 60 * 60 * 1000;
/** No server decides that a list is good for ever. */
const MAX_TTL_MS: number = 24 * 60 * 60 * 1000;
const MAX_FILES = 500;
const MAX_FILE_BYTES: number = 64 * 1024 * 1024;

export interface CachedList {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly instructions?: string;
  /** Whether mirrored headers matter to this server. */
  readonly http: boolean;
  readonly items: readonly unknown[];
  readonly ttlMs?: number;
  /** What else the server has declared, as far as it is asked for; absent in files of older versions. */
  readonly offers?: readonly string[];
  /** The pins under which all of it was in order; see `policy/pins-store.ts`. */
  readonly seal?: string;
}

export interface Found {
  readonly list: CachedList;
  readonly fresh: boolean;
}

export interface CatalogCache {
  read(key: string): Promise<Found | undefined>;
  /** Written in the background, atomically; a home that cannot be written costs the next start its speed. */
  write(key: string, list: CachedList): void;
  flush(): Promise<void>;
}

/** @param parts everything that decides which list a server gives: its entry filled in, who we are to it, its folder. */
export function cacheKey(parts: readonly unknown[]): string {
  return createHash('sha256')
    .update(canonicalJson([FORMAT, ...parts]))
    .digest('hex')
    .slice(0, 40);
}

export function openCatalogCache(home: Home, clock: Clock): CatalogCache {
  const folder = join(home.cache, 'tools');
  const writing = new Map<string, Promise<void>>();
  const fileOf = (key: string): string => join(folder, `${key}.json`);

  const save = async (key: string, text: string): Promise<void> => {
    await makeFolder(folder, 0o700);
    await replaceFile(fileOf(key), text, { mode: 0o600 });
    // Entries that changed leave theirs behind.
    await keepNewest(folder, MAX_FILES);
  };

  return {
    async read(key) {
      const file = fileOf(key);
      const size = await stat(file).then(
        (stats) => stats.size,
        () => undefined,
      );
      if (size === undefined || size > MAX_FILE_BYTES) return undefined;
      const kept = parse(await readFile(file, 'utf8').catch(() => ''));
      if (kept === undefined) return undefined;
      const age = clock.now() - kept.at;
      const ttl = Math.min(kept.list.ttlMs ?? DEFAULT_TTL_MS, MAX_TTL_MS);
      // A clock that was set back makes a list look young for ever: that is not fresh either.
      return { list: kept.list, fresh: age >= 0 && age < ttl };
    },
    write(key, list) {
      const text = JSON.stringify({ at: clock.now(), ...list });
      const before = writing.get(key) ?? Promise.resolve();
      const done: Promise<void> = before
        .then(() => save(key, text))
        .catch(() => {})
        .finally(() => {
          if (writing.get(key) === done) writing.delete(key);
        });
      writing.set(key, done);
    },
    async flush() {
      await Promise.all(writing.values());
    },
  };
}

function parse(text: string): { at: number; list: CachedList } | undefined {
  const value = parseJson(text);
  if (!isRecord(value) || typeof value['at'] !== 'number') return undefined;
  const list = listOf(value);
  return list === undefined ? undefined : { at: value['at'], list };
}

/** A list as it is written down, without the time. */
export function parseCachedList(text: string): CachedList | undefined {
  const value = parseJson(text);
  return isRecord(value) ? listOf(value) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function listOf(value: Readonly<Record<string, unknown>>): CachedList | undefined {
  const { era, protocolVersion, instructions, http, items, ttlMs, offers, seal } = value;
  if ((era !== 'modern' && era !== 'legacy') || typeof protocolVersion !== 'string') return undefined;
  if (!Array.isArray(items)) return undefined;
  return {
    era,
    protocolVersion,
    ...(typeof instructions === 'string' ? { instructions } : {}),
    http: http === true,
    items,
    ...(typeof ttlMs === 'number' ? { ttlMs } : {}),
    ...(Array.isArray(offers) ? { offers: offers.map(String) } : {}),
    ...(typeof seal === 'string' ? { seal } : {}),
  };
}
