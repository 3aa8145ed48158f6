/** Removes `null` where a model means "not given": some send it for every optional argument. */

import { followPointer } from '../catalog/schemas/pointer.ts';
import { isRecord } from '../lib/json.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 32;

/** Returns the arguments without nulls for declared, optional, non-nullable arguments; unchanged if there are none. */
export function withoutNulls(args: Record<string, unknown>, schema: JsonObject): Record<string, unknown> {
  return hasNull(args, 0) ? (cleaned(args, schema, schema, 0) as Record<string, unknown>) : args;
}

function hasNull(value: unknown, depth: number): boolean {
  if (value === null) return true;
  if (typeof value !== 'object' || depth > MAX_DEPTH) return false;
  return Object.values(value).some((member) => hasNull(member, depth + 1));
}

function cleaned(value: unknown, written: unknown, root: JsonObject, depth: number): unknown {
  const schema = resolved(written, root);
  if (schema === undefined || typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => cleaned(item, schema['items'], root, depth + 1));
  const { properties, required } = schema;
  if (!isRecord(properties)) return value;
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const isOptional = !(Array.isArray(required) && required.includes(name));
    if (member === null && isOptional && property !== undefined && !takesNull(property, root, 0)) return [];
    return [[name, cleaned(member, property, root, depth + 1)]];
  });
  return Object.fromEntries(entries);
}

/** Also true if it cannot be determined: then the server decides. */
function takesNull(written: unknown, root: JsonObject, depth: number): boolean {
  const schema = resolved(written, root);
  if (schema === undefined || depth > MAX_DEPTH) return true;
  if (schema['nullable'] === true) return true;
  if (Object.hasOwn(schema, 'const')) return schema['const'] === null;
  const { type, enum: values } = schema;
  if (Array.isArray(values) && !values.includes(null)) return false;
  if (type !== undefined) return Array.isArray(type) ? type.includes('null') : type === 'null';
  for (const key of ['anyOf', 'oneOf'] as const) {
    const branches = schema[key];
    if (Array.isArray(branches)) return branches.some((branch) => takesNull(branch, root, depth + 1));
  }
  const { allOf } = schema;
  return !Array.isArray(allOf) || allOf.every((part) => takesNull(part, root, depth + 1));
}

/** Resolves a schema's reference; undefined if the target is unknown. */
function resolved(written: unknown, root: JsonObject): JsonObject | undefined {
  if (!isRecord(written)) return undefined;
  const { $ref } = written;
  if (typeof $ref !== 'string') return written;
  const target = followPointer(root, $ref)?.target;
  return isRecord(target) && typeof target['$ref'] !== 'string' ? target : undefined;
}
