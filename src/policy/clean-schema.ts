/**
 * Removes hidden text from the descriptive texts of a schema, not from what it validates (A15: poisoned parameters).
 */

import { isRecord } from '../lib/json.ts';
import { clean } from './clean.ts';
import { cleanValue } from './clean-value.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Keywords with descriptive text; the server depends on property names, enums and patterns. */
const WORDS: ReadonlySet<string> = new Set(['title', 'description', '$comment', 'default']);

/** Returns the cleaned schema; the same object if nothing changed, so that caches by identity still work. */
export function cleanSchema(schema: Schema): Schema {
  return cleaned(schema) as Schema; // an object stays one
}

/** Recursive; schemas are bounded in depth when they are accepted. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) {
    const members = value.map(cleaned);
    return members.some((member, at) => member !== value[at]) ? members : value;
  }
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
