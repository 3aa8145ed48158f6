/** Whether a schema can be held to by the letter, or would lose something on the way (CAT-5). */

import { isRecord } from '../lib/json-rpc.ts';

/** Deeper schemas are cut by OpenAI's strict rules: ten levels, each of them `properties` and a name. */
const MAX_NESTING = 18;

/**
 * False where an object is open on purpose: strict mode would turn it into JSON text or refuse its keys.
 * A property that happens to be called like a keyword only costs the tool its strictness.
 */
export function allowsStrict(schema: unknown): boolean {
  return !isOpen(schema, 0);
}

function isOpen(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > MAX_NESTING) return true;
  if (Array.isArray(value)) return value.some((item) => isOpen(item, depth + 1));
  if (!isRecord(value)) return false;
  const { additionalProperties, patternProperties } = value;
  if (additionalProperties === true || isRecord(additionalProperties)) return true;
  if (patternProperties !== undefined || (depth > 0 && isAnyObject(value))) return true;
  return Object.values(value).some((inner) => isOpen(inner, depth + 1));
}

/** An object that says nothing about what is in it. */
function isAnyObject(schema: Record<string, unknown>): boolean {
  const { type } = schema;
  const types = Array.isArray(type) ? type : [type];
  const says = ['properties', 'anyOf', 'oneOf', 'allOf', '$ref'].some((key) => Object.hasOwn(schema, key));
  return types.includes('object') && !says;
}
