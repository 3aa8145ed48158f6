/**
 * The tool lists of servers on disk, one file each, so that a second start knows every tool before any
 * server runs (CAT-4). A file is found by everything that can change the list: a change finds nothing.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { asImplementation, type Era, type Implementation } from '../connection/eras.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { CacheFiles } from './cache-files.ts';

/** Raised when what is kept or how it is read changes; older files are then not found any more. */
const FORMAT = 1;
/** For lists whose server says nothing about how long they are good. */
export const DEFAULT_TTL_MS: number = 60 * 60 * 1000;
/** No server decides that a list is good for ever. */
const MAX_TTL_MS: number = 24 * 60 * 60 * 1000;
const MAX_FILES = 500;

export interface CachedList {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly instructions?: string;
  /** Absent in files of older versions. */
  readonly serverInfo?: Implementation;
  /** Whether mirrored headers matter to this server. */
  readonly http: boolean;
  readonly items: readonly unknown[];
  readonly ttlMs?: number;
  /** What else the server has declared, as far as it is asked for; absent in files of older versions. */
  readonly offers?: readonly string[];
  /** Whether calls of its tools can become tasks; absent in files of older versions. */
  readonly tasks?: boolean;
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
  const files = new CacheFiles(join(home.cache, 'tools'), clock, MAX_FILES);
  return {
    async read(key) {
      const found = await files.read(key);
      const list = found === undefined ? undefined : listOf(found.content);
      if (found === undefined || list === undefined) return undefined;
      return { list, fresh: found.ageMs < goodForMs(list.ttlMs) };
    },
    write: (key, list) => files.write(key, { ...list }),
    flush: () => files.flush(),
  };
}

/** How long a list of a cache is served without asking its server. */
export function goodForMs(ttlMs: number | undefined): number {
  return Math.min(ttlMs ?? DEFAULT_TTL_MS, MAX_TTL_MS);
}

/** A list as it is written down, without the time. */
export function parseCachedList(text: string): CachedList | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isRecord(value) ? listOf(value) : undefined;
}

function listOf(value: Readonly<Record<string, unknown>>): CachedList | undefined {
  const { era, protocolVersion, instructions, http, items, ttlMs, offers, tasks, seal } = value;
  const serverInfo = asImplementation(value['serverInfo']);
  if ((era !== 'modern' && era !== 'legacy') || typeof protocolVersion !== 'string') return undefined;
  if (!Array.isArray(items)) return undefined;
  return {
    era,
    protocolVersion,
    ...(typeof instructions === 'string' ? { instructions } : {}),
    ...(serverInfo === undefined ? {} : { serverInfo }),
    http: http === true,
    items,
    ...(typeof ttlMs === 'number' ? { ttlMs } : {}),
    ...(Array.isArray(offers) ? { offers: offers.map(String) } : {}),
    ...(tasks === true ? { tasks } : {}),
    ...(typeof seal === 'string' ? { seal } : {}),
  };
}
