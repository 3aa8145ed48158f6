/**
 * Stores accepted changes of the user's own servers until a command reports them. A file of lines, because the host
 * that detects a change often belongs to an agent or the daemon, whose log is rarely read.
 */

import { appendFileSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { parseRecord } from '../lib/json.ts';
import { makeFolderSync } from '../lib/make-folder.ts';

/** Limit on entries in the file; the oldest are dropped when it is read. */
const MAX_NEWS = 200;

export interface PinNews {
  /** The server's pin key (`pinKey`). */
  readonly key: string;
  readonly server: string;
  /** Changed items: names of tools, "its instructions". */
  readonly changed: readonly string[];
  /** Names of new tools. */
  readonly added: readonly string[];
}

/** Appends synchronously, because the process may end before a deferred write; entries are rare and small. */
export function keepNews(home: Home, news: PinNews): void {
  try {
    makeFolderSync(home.cache, 0o700);
    appendFileSync(newsFile(home), `${JSON.stringify(news)}\n`, { mode: 0o600 });
  } catch {
    // The log has it.
  }
}

/** Removes and returns the entries of these servers; others are kept. */
export function takeNews(home: Home, keys: ReadonlySet<string>): readonly PinNews[] {
  const file = newsFile(home);
  const claimed = `${file}.${process.pid}`;
  try {
    renameSync(file, claimed);
  } catch {
    return [];
  }
  const all = readFileSync(claimed, 'utf8').split('\n').slice(-MAX_NEWS).flatMap(parsed);
  const others = all.filter(({ key }) => !keys.has(key));
  for (const each of others) keepNews(home, each);
  rmSync(claimed, { force: true });
  return all.filter(({ key }) => keys.has(key));
}

function newsFile(home: Home): string {
  return join(home.cache, 'pin-news.jsonl');
}

function parsed(line: string): PinNews[] {
  const { key, server, changed, added } = parseRecord(line) ?? {};
  if (typeof key !== 'string' || typeof server !== 'string') return [];
  return [{ key, server, changed: texts(changed), added: texts(added) }];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
