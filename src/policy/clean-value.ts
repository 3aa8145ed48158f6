/** Cleans every text in a JSON value, names of members too; a value that is clean already is given back as it is. */

import { isRecord } from '../lib/json-rpc.ts';
import { clean } from './clean.ts';

/** Deeper than this nobody reads; what is there is left out rather than passed on unread. */
const MAX_DEPTH = 200;

export function cleanValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return mapSame(value, (member) => cleanValue(member, depth + 1));
  if (!isRecord(value)) return value;
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    const cleaned = cleanValue(member, depth + 1);
    const name = clean(key);
    if (cleaned === member && name === key) continue;
    changed ??= { ...value };
    if (name !== key) delete changed[key];
    Object.defineProperty(changed, name, {
      value: cleaned,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return changed ?? value;
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
