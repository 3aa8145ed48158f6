/**
 * Removes hidden text from every string and member name in a JSON value, or from the descriptive texts of a schema, not
 * from what it validates (A15: poisoned parameters). Returns clean values unchanged.
 */

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

type Schema = Readonly<Record<string, unknown>>;

/** Keywords with descriptive text; the server depends on property names, enums and patterns. */
const WORDS: ReadonlySet<string> = new Set(['title', 'description', '$comment', 'default']);

/** Returns the cleaned schema; the same object if nothing changed, so that caches by identity still work. */
export function cleanSchema(schema: Schema): Schema {
  return cleaned(schema) as Schema; // an object stays one
}

/** Recursive; schemas are bounded in depth when they are accepted. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return mapSame(value, cleaned);
  if (!isRecord(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [key, member] of Object.entries(value)) {
    const after =
      typeof member === 'string' && WORDS.has(key)
        ? clean(member)
        : key === 'examples' && Array.isArray(member)
          ? cleanValue(member)
          : cleaned(member);
    if (after === member) continue;
    // No prototype: a property may be called `__proto__`.
    copy ??= Object.assign(Object.create(null), value) as Record<string, unknown>;
    copy[key] = after;
  }
  return copy ?? value;
}
