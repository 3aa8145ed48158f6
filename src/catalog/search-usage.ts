/** Stores search usage (the tool called after each search) in the home folder, for later ranking (CAT-8). */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { isRecord } from '../lib/json.ts';
import { updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { addUse, type UsageCounts } from './search/usage.ts';

export interface SearchUsage {
  /** Returns the stored counts; read from disk at the first search. */
  counts(): Promise<UsageCounts>;
  /** Records that a tool found by this query was called. */
  learn(query: string, tool: string): void;
  flush(): Promise<void>;
}

export function openSearchUsage(home: Home): SearchUsage {
  const file = join(home.cache, 'searches.json');
  const lockDir = join(home.run, 'locks');
  let known: Promise<UsageCounts> | undefined;
  let writing: Promise<void> = Promise.resolve();
  const read = (): Promise<UsageCounts> => {
    known ??= readFile(file, 'utf8').then(parse, () => new Map());
    return known;
  };
  return {
    counts: read,
    learn(query, tool) {
      known = read().then((counts) => addUse(counts, query, tool));
      // Added to the current file, because another process may have written too.
      const add = (text: string | undefined): string => serialize(addUse(parse(text ?? ''), query, tool));
      writing = writing
        .then(() => makeFolder(home.cache, 0o700))
        .then(() => updateFile(file, add, { lockDir, mode: 0o600 }))
        .catch(() => {}); // If the home folder is read-only, nothing is stored.
    },
    flush: () => writing,
  };
}

function parse(text: string): UsageCounts {
  const counts = new Map<string, ReadonlyMap<string, number>>();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return counts;
  }
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

/** Serializes as rows, because their order records which terms were used last. */
function serialize(counts: UsageCounts): string {
  return `${JSON.stringify([...counts].map(([term, tools]) => [term, Object.fromEntries(tools)]))}\n`;
}
