/** Reads JSON whose form is unknown. */

import { attempt } from './attempt.ts';

/** An object of unknown members, as JSON has it. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns undefined for text that is not JSON. */
export function parseJson(text: string): unknown {
  return attempt(() => JSON.parse(text), undefined);
}

/** Returns undefined for text that is not a JSON object. */
export function parseRecord(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text);
  return isRecord(value) ? value : undefined;
}

/** Returns an own member, never one of the prototype: the keys may be chosen by a server. */
export function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Returns the value at a path of keys; undefined if there is none. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isRecord(value) ? own(value, key) : undefined), root);
}
