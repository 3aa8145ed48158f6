/** Stores search usage (the tool called after each search) in the home folder, for later ranking (CAT-8). */

import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { isRecord } from '../lib/json.ts';
import { JsonStore } from '../lib/json-store.ts';
import { addUse, type UsageCounts } from './search/usage.ts';

export interface SearchUsage {
  /** Returns the stored counts; read from disk at the first search. */
  counts(): Promise<UsageCounts>;
  /** Records that a tool found by this query was called. */
  learn(query: string, tool: string): void;
  flush(): Promise<void>;
}

export function openSearchUsage(home: Home): SearchUsage {
  const store = new JsonStore({
    file: join(home.cache, 'searches.json'),
    lockDir: join(home.run, 'locks'),
    parse: parseCounts,
    toJson: rowsOf,
  });
  let known: Promise<UsageCounts> | undefined;
  const read = (): Promise<UsageCounts> => {
    known ??= store.read();
    return known;
  };
  return {
    counts: read,
    learn(query, tool) {
      known = read().then((counts) => addUse(counts, query, tool));
      store.updateLater((counts) => addUse(counts, query, tool));
    },
    flush: () => store.flush(),
  };
}

function parseCounts(value: unknown): UsageCounts {
  const counts = new Map<string, ReadonlyMap<string, number>>();
  if (!Array.isArray(value)) return counts;
  for (const row of value) {
    if (!Array.isArray(row) || typeof row[0] !== 'string' || !isRecord(row[1])) continue;
    const tools = Object.entries(row[1]).filter(
      (each): each is [string, number] => typeof each[1] === 'number',
    );
    counts.set(row[0], new Map(tools));
  }
  return counts;
}

/** Rows, because their order records which terms were used last. */
function rowsOf(counts: UsageCounts): unknown {
  return [...counts].map(([term, tools]) => [term, Object.fromEntries(tools)]);
}
