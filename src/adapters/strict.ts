/** Decides whether a schema can use strict mode without losing information (CAT-5). */

import { isRecord } from '../lib/json.ts';

/** OpenAI's strict rules cut off deeper schemas: ten levels, each of them `properties` and a name. */
const MAX_NESTING = 18;

/**
 * Returns false if an object is open on purpose: strict mode would turn it into JSON text or reject its keys. A
 * property that happens to be named like a keyword only disables strict mode for the tool.
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

/** True for an object schema without constraints on its members. */
function isAnyObject(schema: Record<string, unknown>): boolean {
  const { type } = schema;
  const types = Array.isArray(type) ? type : [type];
  const says = ['properties', 'anyOf', 'oneOf', 'allOf', '$ref'].some((key) => Object.hasOwn(schema, key));
  return types.includes('object') && !says;
}
