/** Formats an entry as names and values, with secrets replaced by their source. */

import { describeEntry } from '../config/describe.ts';
import type { ServerSpec } from '../config/entry.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { reveal } from '../policy/clean.ts';
import { joinArgv } from './argv.ts';
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

/** Returns the command line in shell syntax, or the url. */
export function reachedBy(spec: ServerSpec): { readonly command?: string; readonly url?: string } {
  const { command, args, url } = describeEntry(spec);
  if (typeof command === 'string') {
    const words = Array.isArray(args) ? args.map(String) : [];
    return { command: joinArgv([command, ...words]) };
  }
  return typeof url === 'string' ? { url } : {};
}
