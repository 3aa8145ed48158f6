/**
 * Caches the tool lists of servers on disk, one file each, so that a second start has every tool before any server runs
 * (CAT-4). The key includes everything that can change the list.
 */

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { asImplementation, type Era, type Implementation } from '../connection/eras.ts';
import type { ListKind } from '../connection/listing.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord, parseJson, parseRecord } from '../lib/json.ts';
import { writeAmongNewest } from '../lib/keep-newest.ts';

/** Increased when the format or its interpretation changes; older files are then no longer found. */
const FORMAT = 1;
/** For lists without a TTL. */
export const DEFAULT_TTL_MS: number = 60 * 60 * 1000;
/** An unchanged list is written again after this part of its TTL, so that it is served for most of it. */
const REWRITE_AFTER_PART = 0.1;
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
 * @param parts everything that decides the list, such as the expanded entry, its scope and folder, the capabilities of the host and the principal.
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
function goodForMs(ttlMs: number | undefined): number {
  return Math.min(ttlMs ?? DEFAULT_TTL_MS, MAX_TTL_MS);
}

/** Parses a serialized list (without the timestamp). */
export function parseCachedList(text: string): CachedList | undefined {
  const value = parseJson(text);
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

// A folder of timestamped JSON files by key: bounded reads, background writes, only the newest files kept.

const MAX_FILE_BYTES: number = 64 * 1024 * 1024;

type Content = Readonly<Record<string, unknown>>;

class CacheFiles {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #maxFiles: number;
  readonly #writing = new Map<string, Promise<void>>();

  constructor(folder: string, clock: Clock, maxFiles: number) {
    this.#folder = folder;
    this.#clock = clock;
    this.#maxFiles = maxFiles;
  }

  /** `ageMs` is infinite for a file from the future, which would look fresh forever after the clock was set back. */
  async read(key: string): Promise<{ readonly content: Content; readonly ageMs: number } | undefined> {
    const file = this.#fileOf(key);
    const size = await stat(file).then(
      (stats) => stats.size,
      () => undefined,
    );
    if (size === undefined || size > MAX_FILE_BYTES) return undefined;
    const content = parse(await readFile(file, 'utf8').catch(() => ''));
    if (content === undefined) return undefined;
    const ageMs = this.#clock.now() - content.at;
    return { content: content.rest, ageMs: ageMs >= 0 ? ageMs : Number.POSITIVE_INFINITY };
  }

  /** Writes atomically; a failure (read-only home folder) only makes the next start slower. */
  write(key: string, content: Content): void {
    const text = JSON.stringify(content);
    const at = this.#clock.now();
    const before = this.#writing.get(key) ?? Promise.resolve();
    const done: Promise<void> = before
      .then(async () => {
        if (await this.#isStored(key, content, text)) return;
        const dated = JSON.stringify({ at, ...content });
        // Changed entries leave their old files behind.
        await writeAmongNewest(this.#fileOf(key), dated, this.#maxFiles);
      })
      .catch(() => {})
      .finally(() => {
        if (this.#writing.get(key) === done) this.#writing.delete(key);
      });
    this.#writing.set(key, done);
  }

  async flush(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  /** True if the file has this content and is recent: a command that runs every minute need not write it again. */
  async #isStored(key: string, { ttlMs }: Content, text: string): Promise<boolean> {
    const stored = await this.read(key);
    const recentMs = goodForMs(typeof ttlMs === 'number' ? ttlMs : undefined) * REWRITE_AFTER_PART;
    return stored !== undefined && stored.ageMs < recentMs && JSON.stringify(stored.content) === text;
  }

  #fileOf(key: string): string {
    return join(this.#folder, `${key}.json`);
  }
}

function parse(text: string): { readonly at: number; readonly rest: Content } | undefined {
  const value = parseRecord(text);
  if (typeof value?.['at'] !== 'number') return undefined;
  const { at, ...rest } = value;
  return { at: Number(at), rest };
}

// Caches raw lists of resources, templates and prompts on disk, so that a new host can answer at once (CON-16).

/** Three lists for each server. */
const MAX_CONTENT_FILES = 1_500;

type ContentKind = Exclude<ListKind, 'tools'>;

export interface CachedContent {
  readonly items: readonly unknown[];
  readonly fresh: boolean;
}

/** Uses the keys of the catalog cache. */
export interface ContentCache {
  read(key: string, kind: ContentKind): Promise<CachedContent | undefined>;
  write(key: string, kind: ContentKind, items: readonly unknown[], ttlMs: number | undefined): void;
  flush(): Promise<void>;
}

export function openContentCache(home: Home, clock: Clock): ContentCache {
  const files = new CacheFiles(join(home.cache, 'content'), clock, MAX_CONTENT_FILES);
  return {
    async read(key, kind) {
      const found = await files.read(`${key}-${kind}`);
      if (found === undefined) return undefined;
      const { items, ttlMs } = found.content;
      if (!Array.isArray(items)) return undefined;
      return { items, fresh: found.ageMs < goodForMs(typeof ttlMs === 'number' ? ttlMs : undefined) };
    },
    write: (key, kind, items, ttlMs) =>
      files.write(`${key}-${kind}`, { items, ...(ttlMs === undefined ? {} : { ttlMs }) }),
    flush: () => files.flush(),
  };
}
