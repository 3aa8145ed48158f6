/**
 * Caches the tool lists of servers on disk, one file each, so that a second start has every tool before any server runs
 * (CAT-4). The key includes everything that can change the list.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { asImplementation, type Era, type Implementation } from '../connection/eras.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { CacheFiles } from './cache-files.ts';

/** Increased when the format or its interpretation changes; older files are then no longer found. */
const FORMAT = 1;
/** For lists without a TTL. */
export const DEFAULT_TTL_MS: number = 60 * 60 * 1000;
/** Upper limit on a server's TTL. */
const MAX_TTL_MS: number = 24 * 60 * 60 * 1000;
const MAX_FILES = 500;

export interface CachedList {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly instructions?: string;
  /** Missing in files of older versions. */
  readonly serverInfo?: Implementation;
  /** True if mirrored headers apply to this server (HTTP). */
  readonly http: boolean;
  readonly items: readonly unknown[];
  readonly ttlMs?: number;
  /** Other declared capabilities and extensions that we use; missing in files of older versions. */
  readonly offers?: readonly string[];
  /** Whether calls of its tools can become tasks; missing in files of older versions. */
  readonly tasks?: boolean;
  /** Fingerprint of the pins under which the whole list was accepted; see `policy/pins-store.ts`. */
  readonly seal?: string;
}

export interface Found {
  readonly list: CachedList;
  readonly fresh: boolean;
}

export interface CatalogCache {
  read(key: string): Promise<Found | undefined>;
  /** Writes atomically in the background; a failure only makes the next start slower. */
  write(key: string, list: CachedList): void;
  flush(): Promise<void>;
}

/**
 * Returns the cache key.
 *
 * @param parts everything that decides the list: the expanded entry, the principal, the folder.
 */
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

/** Returns how long a cached list is served without asking its server. */
export function goodForMs(ttlMs: number | undefined): number {
  return Math.min(ttlMs ?? DEFAULT_TTL_MS, MAX_TTL_MS);
}

/** Parses a serialized list (without the timestamp). */
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
