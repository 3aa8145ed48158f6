/** Reads the members of an object schema: its properties, the required ones, and the targets of references. */

import { isRecord } from '../../lib/json.ts';
import { followPointer } from './pointer.ts';

export type Schema = Readonly<Record<string, unknown>>;

const MAX_REFERENCES = 8;

/** Returns the properties of an object, including those from `allOf`. */
export function propertiesOf(schema: Schema, root: Schema): Schema {
  const all = partsOf(schema, root).map(({ properties }) => (isRecord(properties) ? properties : {}));
  return Object.assign(Object.create(null), ...all);
}

export function requiredOf(schema: Schema, root: Schema): ReadonlySet<string> {
  const lists = partsOf(schema, root).map(({ required }) => (Array.isArray(required) ? required : []));
  return new Set(lists.flat().filter((name) => typeof name === 'string'));
}

/** Resolves references within the same document; {} for one without a target. */
export function resolvedSchema(schema: unknown, root: Schema): Schema {
  let at = schema;
  for (let left = MAX_REFERENCES; left > 0; left--) {
    if (!isRecord(at)) return {};
    const { $ref, ...rest } = at;
    if (typeof $ref !== 'string') return at;
    const target = followPointer(root, $ref)?.target;
    // Keys next to a reference describe this use of its target.
    at = isRecord(target) ? { ...target, ...rest } : rest;
  }
  return {};
}

function partsOf(schema: Schema, root: Schema): readonly Schema[] {
  const { allOf } = schema;
  return [schema, ...(Array.isArray(allOf) ? allOf.map((part) => resolvedSchema(part, root)) : [])];
}
