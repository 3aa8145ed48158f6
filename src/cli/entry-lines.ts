/** An entry as names and values for people, secrets replaced by where they come from. */

import { describeEntry } from '../config/describe.ts';
import type { ServerSpec } from '../config/entry.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { reveal } from '../policy/clean.ts';
import { layOut } from './table.ts';
import { joinWords } from './words.ts';

/** A name and a value; an empty name goes on with the one before. */
export type Pair = readonly [name: string, value: string];

export function entryPairs(spec: ServerSpec): Pair[] {
  return recordPairs(describeEntry(spec));
}

/** Keys and values of an entry: the command as a line to paste, maps one pair a line, the rest as JSON. */
export function recordPairs(entry: Readonly<Record<string, unknown>>): Pair[] {
  const pairs: Pair[] = [];
  const { command, args, ...rest } = entry;
  if (typeof command === 'string') {
    const words = Array.isArray(args) ? args.map(String) : [];
    pairs.push(['command', joinWords([command, ...words].map(reveal))]);
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

/** Pairs as indented lines, values under each other and never cut: they may be what somebody has to agree to. */
export function pairLines(pairs: readonly Pair[]): string[] {
  return layOut(pairs, { columns: [{}, {}], total: undefined }).map((line) => `  ${line}`);
}
