/** Caches raw lists of resources, templates and prompts on disk, so that a new host can answer at once (CON-16). */

import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import type { ListKind } from '../connection/listing.ts';
import type { Clock } from '../lib/clock.ts';
import { goodForMs } from './cache.ts';
import { CacheFiles } from './cache-files.ts';

/** Three lists for each server. */
const MAX_FILES = 1_500;

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
  const files = new CacheFiles(join(home.cache, 'content'), clock, MAX_FILES);
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
