/** Cleans what a schema says to people and models, and nothing that it checks by (A15: poison in a parameter). */

import { isRecord } from '../lib/json-rpc.ts';
import { clean } from './clean.ts';
import { cleanValue } from './clean-value.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose values are words; names of properties, enums and patterns are what the server goes by. */
const WORDS: ReadonlySet<string> = new Set(['title', 'description', '$comment', 'default']);

/** The same object where nothing had to be cleaned, so that whatever is kept by its identity still is found. */
export function cleanSchema(schema: Schema): Schema {
  return cleaned(schema) as Schema; // an object stays one
}

/** Schemas are bounded in depth where they are accepted. */
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
