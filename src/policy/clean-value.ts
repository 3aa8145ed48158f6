/** Removes hidden text from every string and member name in a JSON value; returns clean values unchanged. */

import { isRecord } from '../lib/json.ts';
import { clean } from './clean.ts';

/** Deeper values are dropped, not passed on unchecked. */
const MAX_DEPTH = 200;

export function cleanValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return mapSame(value, (member) => cleanValue(member, depth + 1));
  return isRecord(value) ? cleanMembers(value, depth) : value;
}

/** Cleans an object, which stays an object. */
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
    // A name that only became clean by removal never replaces another member.
    if (shown !== name && (Object.hasOwn(value, shown) || members.has(shown))) continue;
    members.set(shown, cleaned);
  }
  // `fromEntries` defines properties, so a member called `__proto__` becomes an ordinary one.
  return isSame ? value : Object.fromEntries(members);
}

/** Like `map`, but returns the same list if nothing changed, which is the usual case. */
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
