/** Formats an entry as names and values, with secrets replaced by their source. */

import { describeEntry } from '../config/describe.ts';
import type { ServerSpec } from '../config/entry.ts';
import { joinArgv } from '../lib/argv.ts';
import { counted } from '../lib/counted.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { reveal } from '../policy/clean.ts';
import { layOut } from './text-layout.ts';

/** A name and a value; an empty name continues the previous pair. */
export type Pair = readonly [name: string, value: string];

/** A pair that is left out if it has no value. */
export type MaybePair = readonly [name: string, value: string | undefined];

export function presentPairs(pairs: readonly MaybePair[]): Pair[] {
  return pairs.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
}

export function entryPairs(spec: ServerSpec): Pair[] {
  return recordPairs(describeEntry(spec));
}

/** Returns an entry's keys and values: the command as one shell line, one pair per map member, the rest as JSON. */
export function recordPairs(entry: JsonObject): Pair[] {
  const pairs: Pair[] = [];
  const { command, args, ...rest } = entry;
  if (typeof command === 'string') {
    const words = Array.isArray(args) ? args.map(String) : [];
    pairs.push(['command', joinArgv([command, ...words].map(reveal))]);
  }
  for (const [key, value] of Object.entries(rest)) {
    if (isRecord(value) && Object.values(value).every((each) => typeof each === 'string')) {
      const inner = Object.entries(value).map(([name, text]) => `${reveal(name)}=${reveal(String(text))}`);
      pairs.push(...inner.map((text, at): Pair => [at === 0 ? reveal(key) : '', text]));
    } else {
      pairs.push([reveal(key), reveal(typeof value === 'string' ? value : JSON.stringify(value))]);
    }
  }
  return pairs;
}

/** Returns pairs as indented, aligned lines; never truncated, because a person may have to approve them. */
export function pairLines(pairs: readonly Pair[]): string[] {
  return layOut(pairs, { columns: [{}, {}], total: undefined }).map((line) => `  ${line}`);
}

/** How a server is reached, as `list` prints it. */
export interface Reached {
  readonly command?: string;
  readonly url?: string;
  readonly lock?: LockDocument;
}

/** Returns the command line in shell syntax with its lock, or the url. */
export function reachedBy(spec: ServerSpec): Reached {
  const { command, args, url } = describeEntry(spec);
  if (typeof command === 'string') {
    const words = Array.isArray(args) ? args.map(String) : [];
    return { command: joinArgv([command, ...words]), ...lockDocument(spec) };
  }
  return typeof url === 'string' ? { url } : {};
}

/** The lock of a server, as `list` and `get` print it with `--json`. */
export type LockDocument =
  | {
      readonly package: string;
      readonly version: string;
      readonly integrity: string;
      readonly packages: number;
      readonly file: string;
    }
  | { readonly error: string; readonly file: string };

export function lockDocument({ lock }: Pick<ServerSpec, 'lock'>): { readonly lock?: LockDocument } {
  if (lock === undefined) return {};
  const { file } = lock;
  if (lock.kind === 'invalid') return { lock: { error: lock.reason, file } };
  const { package: name, version, integrity, packages } = lock.server;
  return { lock: { package: name, version, integrity, packages: Object.keys(packages).length, file } };
}

/** Returns the lock as one line; undefined without one. */
export function lockLine({ lock }: Pick<ServerSpec, 'lock'>): string | undefined {
  if (lock === undefined) return undefined;
  if (lock.kind === 'invalid') return reveal(`${lock.reason} (${lock.file})`);
  const { package: name, version, packages } = lock.server;
  return reveal(`${name} ${version}, ${counted(Object.keys(packages).length, 'package')} (${lock.file})`);
}
