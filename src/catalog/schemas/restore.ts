/** Converts a model's arguments for a converted schema back to the server's original schema. */

import { isRecord, parseJson } from '../../lib/json.ts';

/** The conversions to undo at one place of the arguments; absent if there are none. */
export interface Undo {
  /** The value is JSON text. */
  readonly json?: boolean;
  /** By the name that the model used. */
  readonly properties?: ReadonlyMap<string, UndoProperty>;
  readonly additional?: Undo;
  readonly items?: Undo;
  readonly branches?: readonly UndoBranch[];
}

export interface UndoProperty {
  readonly name: string;
  /** `null` means "not given": the server declares this argument as optional, not as nullable. */
  readonly dropNull: boolean;
  readonly undo?: Undo;
}

export interface UndoBranch {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly undo?: Undo;
}

export function restoreValue(value: unknown, undo: Undo | undefined): unknown {
  if (undo === undefined) return value;
  if (undo.branches !== undefined) {
    const branch = undo.branches.find((candidate) => fits(value, candidate));
    return restoreValue(value, branch?.undo);
  }
  if (undo.json && typeof value === 'string') return parseContainer(value) ?? value;
  if (Array.isArray(value)) {
    const { items } = undo;
    return items === undefined ? value : value.map((item) => restoreValue(item, items));
  }
  return isRecord(value) ? restoreObject(value, undo) : value;
}

function restoreObject(value: Record<string, unknown>, undo: Undo): Record<string, unknown> {
  const entries = Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
    const property = undo.properties?.get(key);
    if (property === undefined) return [[key, restoreValue(member, undo.additional)]];
    if (member === null && property.dropNull) return [];
    return [[property.name, restoreValue(member, property.undo)]];
  });
  return Object.fromEntries(entries);
}

function parseContainer(text: string): object | undefined {
  const value = parseJson(text);
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** True if a value matches this branch by its type and, for objects, by its properties. */
function fits(value: unknown, { schema, undo }: UndoBranch): boolean {
  if (undo?.json) return typeof value === 'string' && parseContainer(value) !== undefined;
  const values = Object.hasOwn(schema, 'const') ? [schema['const']] : schema['enum'];
  if (Array.isArray(values) && !values.includes(value)) return false;
  const types = Array.isArray(schema['type']) ? schema['type'] : [schema['type']];
  if (value === null) return types.includes('null') || schema['nullable'] === true;
  if (typeof value === 'number') return types.includes('number') || types.includes('integer');
  if (Array.isArray(value)) return types.includes('array');
  if (!isRecord(value)) return types.includes(typeof value);
  return types.includes('object') && fitsObject(value, schema);
}

function fitsObject(value: Record<string, unknown>, schema: Readonly<Record<string, unknown>>): boolean {
  const { properties, required } = schema;
  const known = isRecord(properties) ? properties : {};
  const hasRequired =
    !Array.isArray(required) || required.every((name: string) => Object.hasOwn(value, name));
  return (
    hasRequired &&
    Object.entries(value).every(([name, member]) => {
      const property = Object.hasOwn(known, name) ? known[name] : undefined;
      if (!isRecord(property)) return schema['additionalProperties'] !== false;
      const values = Object.hasOwn(property, 'const') ? [property['const']] : property['enum'];
      return !Array.isArray(values) || values.includes(member);
    })
  );
}
