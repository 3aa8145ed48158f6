/** Cleans every text in a JSON value, names of members too; a value that is clean already is returned as it is. */

import { isRecord } from '../lib/json-rpc.ts';
import { clean } from './clean.ts';

/** Deeper values are left out rather than passed on unread. */
const MAX_DEPTH = 200;

export function cleanValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return mapSame(value, (member) => cleanValue(member, depth + 1));
  return isRecord(value) ? cleanMembers(value, depth) : value;
}

/** The same of an object, which stays one. */
export function cleanRecord<T extends Readonly<Record<string, unknown>>>(value: T): T {
  return cleanMembers(value, 0) as T;
}

function cleanMembers(value: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
  const names = Object.keys(value);
  let isSame = true;
  const members = new Map<string, unknown>();
  for (const name of names) {
    const member = value[name];
    const cleaned = cleanValue(member, depth + 1);
    const shown = clean(name);
    isSame &&= cleaned === member && shown === name;
    // A name that is only clean by what was removed from it never takes the place of another.
    if (shown !== name && (Object.hasOwn(value, shown) || members.has(shown))) continue;
    members.set(shown, cleaned);
  }
  // `fromEntries` defines, so that a member called `__proto__` is one.
  return isSame ? value : Object.fromEntries(members);
}

/** Like `map`, but the same list when nothing in it changed: most of what servers say is clean. */
export function mapSame<T>(list: readonly T[], change: (member: T) => T): readonly T[] {
  let changed: T[] | undefined;
  let at = 0;
  for (const member of list) {
    const next = change(member);
    if (next !== member) changed ??= list.slice(0, at);
    changed?.push(next);
    at += 1;
  }
  return changed ?? list;
}
