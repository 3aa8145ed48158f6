/** Remembers the era of each server, with a date, so that a known server is not probed again (CON-5). */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isRemote, isStdio, type ServerEntry } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { IN_PROCESS_KEY } from '../config/in-process.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { type Dated, DatedMap } from '../lib/json-store.ts';
import type { Negotiated, RememberedEra } from './eras.ts';

/** A remembered legacy era must expire: an upgraded server still accepts legacy requests. */
export const ERA_MAX_AGE_MS: number = 24 * 60 * 60 * 1000;
const MAX_REMEMBERED_ERAS = 1_000;

interface DatedEra extends Dated {
  readonly verdict: RememberedEra;
}

export interface EraCache {
  get(entry: ServerEntry): RememberedEra | undefined;
  /** Remembers the negotiated era; written to disk in the background. */
  remember(entry: ServerEntry, negotiated: Negotiated): void;
  /** Called after a failed start, which an outdated era may have caused. */
  forget(entry: ServerEntry): void;
  /** Resolves when all remembered eras are on disk. */
  flush(): Promise<void>;
}

/** For servers whose era is not stored: each start probes. */
export const NO_ERA_CACHE: EraCache = {
  get: () => undefined,
  remember: () => {},
  forget: () => {},
  flush: () => Promise.resolve(),
};

export async function openEraCache(home: Home, clock: Clock): Promise<EraCache> {
  const known = await DatedMap.open<DatedEra>({
    file: join(home.cache, 'eras.json'),
    lockDir: join(home.run, 'locks'),
    maxEntries: MAX_REMEMBERED_ERAS,
    parse: ({ at, verdict }) => {
      const parsed = parseEra(verdict);
      return parsed === undefined ? undefined : { at: Number(at), verdict: parsed };
    },
  });
  const current = (key: string): RememberedEra | undefined => {
    const remembered = known.get(key);
    if (remembered === undefined || clock.now() - remembered.at > ERA_MAX_AGE_MS) return undefined;
    return remembered.verdict;
  };
  return {
    get: (entry) => current(keyOf(entry)),
    remember(entry, negotiated) {
      const key = keyOf(entry);
      // A verdict that still holds keeps its date: each server is probed once a day.
      if (current(key)?.era === negotiated.era) return;
      known.set(key, { at: clock.now(), verdict: { era: negotiated.era } });
    },
    forget: (entry) => known.delete(keyOf(entry)),
    flush: () => known.flush(),
  };
}

/** Hashes everything that determines the program that responds, so that no secret is stored in the clear. */
function keyOf(entry: ServerEntry): string {
  const identity = isStdio(entry)
    ? [entry.command, entry.args ?? [], entry.cwd ?? '', entry.env ?? {}]
    : isRemote(entry)
      ? [entry.type ?? 'http', entry.url]
      : [IN_PROCESS_KEY];
  return createHash('sha256').update(canonicalJson(identity)).digest('hex').slice(0, 32);
}

/** Files of earlier versions contain more members; only the era is read. */
function parseEra(value: unknown): RememberedEra | undefined {
  const era = isRecord(value) ? value['era'] : undefined;
  return era === 'legacy' || era === 'modern' ? { era } : undefined;
}
