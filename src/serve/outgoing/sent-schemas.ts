/** Converts JSON Schemas of tools for the client's revision. */

import type { JsonObject } from '../../catalog/accept-bounds.ts';
import { isRecord } from '../../lib/json.ts';
import { compileFault } from './compilable.ts';
import type { Reader } from './reader.ts';
import { isTexts, type Note, shown, withChanges } from './valid-fields.ts';

/** Converts an input schema; accepted ones always have a root of type object. */
export function sentInput(schema: JsonObject, { isModern }: Reader, note: Note): JsonObject {
  return isModern ? modern(schema, 'inputSchema', note) : legacy(schema, 'inputSchema', note);
}

/** Converts an output schema; undefined if the client could not use it, or would reject the list that contains it. */
export function sentOutput(schema: JsonObject, { isModern }: Reader, note: Note): JsonObject | undefined {
  if (isModern) return modern(schema, 'outputSchema', note);
  if (schema['type'] !== 'object') {
    note('outputSchema is left out: before 2026-07-28 its root has to be of type object');
    return undefined;
  }
  const sent = legacy(schema, 'outputSchema', note);
  const fault = compileFault(sent);
  if (fault === undefined) return sent;
  note(`outputSchema is left out: ${fault}`);
  return undefined;
}

function modern(schema: JsonObject, name: string, note: Note): JsonObject {
  const { $schema: dialect } = schema;
  if (dialect === undefined || typeof dialect === 'string') return schema;
  note(`${name}.$schema is ${shown(dialect)}`);
  return withChanges(schema, { $schema: undefined });
}

/** Properties must be objects in the legacy era: other values that JSON Schema allows there are converted. */
function legacy(schema: JsonObject, name: string, note: Note): JsonObject {
  const { properties, required } = schema;
  const changes: Record<string, unknown> = {};
  if (properties !== undefined && !isRecord(properties)) {
    changes['properties'] = undefined;
    note(`${name}.properties is ${shown(properties)}`);
  } else if (properties !== undefined && !Object.values(properties).every(isObject)) {
    const odd = Object.keys(properties).filter((key) => !isObject(properties[key]));
    note(`${name}.properties.${odd.slice(0, 3).join(', ')} is not an object`);
    changes['properties'] = Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, isObject(value) ? value : asObject(value)]),
    );
  }
  if (required !== undefined && !isTexts(required)) {
    note(`${name}.required is ${shown(required)}`);
    changes['required'] = Array.isArray(required)
      ? required.filter((key) => typeof key === 'string')
      : undefined;
  }
  return withChanges(schema, changes);
}

/** Returns the object equivalent of a boolean schema; `{}` for a value that is not a schema. */
function asObject(value: unknown): JsonObject {
  return value === false ? { not: {} } : {};
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
