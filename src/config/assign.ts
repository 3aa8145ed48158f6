/**
 * Parses and applies single values of an entry for `set` and `unset`: `env.DEBUG=1`, `args:=["a"]`, `enabled:=false`.
 */

import { PlugboardError } from '../errors.ts';
import { isRecord, type JsonObject, parseJson } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { ENTRY_KEYS } from './config-keys.ts';
import { type Fault, type JsonPath, showPath } from './fault.ts';
import { otherAgentsHint } from './other-agents-keys.ts';

export interface Assignment {
  readonly path: JsonPath;
  /** Text is converted to the type of the key; JSON is used unchanged. */
  readonly value: { readonly text: string } | { readonly json: unknown };
}

/** Keys whose members have arbitrary names, which may contain dots. */
const FREE: ReadonlySet<string> = new Set(['env', 'headers', 'headersFromEnv']);
/** Only a review by a person changes this key. */
const UNAPPROVED = 'unapproved';

/**
 * Parses `key=value` and `key:=json`.
 *
 * @throws PlugboardError USAGE for another shape, an unknown key or a value that is not JSON
 */
export function parseAssignment(word: string): Assignment {
  const at = word.indexOf('=');
  const isJson = at > 0 && word[at - 1] === ':';
  const key = word.slice(0, isJson ? at - 1 : Math.max(at, 0)).trim();
  if (key === '') {
    throw usage(`Cannot parse ${JSON.stringify(shortened(word))}: expected key=value`, SHAPES);
  }
  const path = parseKey(key);
  const text = word.slice(at + 1);
  if (!isJson) return { path, value: { text } };
  try {
    return { path, value: { json: JSON.parse(text) } };
  } catch {
    throw usage(
      `The value of ${key} is not valid JSON`,
      `For text write ${key}=value; for JSON quote it: ${key}:='["a"]'.`,
    );
  }
}

const SHAPES = "Write key=value, key:='json', or env.NAME=value for one member.";

/** Parses a key into its path in the entry. */
export function parseKey(key: string): JsonPath {
  const [first = '', ...rest] = key.replace(/\[(\d+)\]/g, '.$1').split('.');
  if (!ENTRY_KEYS.has(first) && !first.startsWith('x-')) throw unknownKey(first);
  if (first === UNAPPROVED) {
    throw usage(
      `"${UNAPPROVED}" cannot be set by hand`,
      'Review and approve the server with plugboard trust <name>.',
    );
  }
  if (rest.length === 0) return [first];
  if (FREE.has(first)) return [first, rest.join('.')];
  // Tool names may contain dots; the last part is one key.
  if (first === 'tools' && rest.length > 1) return [first, rest.slice(0, -1).join('.'), rest.at(-1) ?? ''];
  return [first, ...rest.map((part) => (/^\d+$/.test(part) ? Number(part) : part))];
}

function unknownKey(key: string): PlugboardError {
  const [meant] = nearest(key, ENTRY_KEYS.keys(), 1);
  const instead = otherAgentsHint(key);
  const hint =
    instead ??
    (meant === undefined
      ? `The keys of an entry are ${[...ENTRY_KEYS.keys()].filter((each) => each !== UNAPPROVED).join(', ')}.`
      : `Did you mean "${meant}"?`);
  return usage(`${JSON.stringify(shortened(key))} is not a key of a server's entry`, hint);
}

/**
 * Returns the entry with the values set. Text becomes a number, boolean or list if the key requires it; a repeated key
 * appends to a list.
 */
export function assign(raw: JsonObject, assignments: readonly Assignment[]): JsonObject {
  const byPath = new Map<string, Assignment[]>();
  for (const each of assignments) {
    const key = JSON.stringify(each.path);
    byPath.set(key, [...(byPath.get(key) ?? []), each]);
  }
  let entry = raw;
  for (const [first, ...more] of byPath.values()) {
    if (first !== undefined) entry = assignOne(entry, first.path, [first, ...more]);
  }
  return entry;
}

function assignOne(raw: JsonObject, path: JsonPath, given: readonly Assignment[]): JsonObject {
  const values = given.map(({ value }) => value);
  const [only] = values;
  if (only !== undefined && 'json' in only && values.length === 1) return put(raw, path, only.json);
  const texts = values.map((value) => ('text' in value ? value.text : String(value.json)));
  const candidates = texts.length > 1 ? [texts] : candidatesFor(texts[0] ?? '', path);
  const tried = candidates.map((value) => put(raw, path, value));
  const fitting = tried.find((entry) => faultsAt(entry, path).length === 0);
  if (fitting !== undefined) return fitting;
  const fault = tried.flatMap((entry) => faultsAt(entry, path))[0];
  if (texts.length > 1)
    throw usage(`${showPath(path)} was given ${texts.length} times and is not a list`, 'Give it once.');
  throw usage(
    fault?.message ?? `${showPath(path)} cannot have this value`,
    fault?.hint ?? hintFor(path, texts[0] ?? ''),
  );
}

/** Returns a hint with valid values for a text that was rejected. */
function hintFor(path: JsonPath, text: string): string {
  const key = path.join('.');
  const { enum: choices, type } = schemaAt(path);
  if (Array.isArray(choices)) return `Write ${choices.map((choice) => `${key}=${choice}`).join(' or ')}.`;
  if (type === 'boolean') return `Write ${key}=true or ${key}=false.`;
  if (type === 'integer' || type === 'number') {
    const [, amount = '', unit = ''] = /^(\d{1,6})\s*(ms|s|m|min)?$/i.exec(text) ?? [];
    const isTime = /Ms$/.test(key);
    const factor = UNIT_MS.get(unit.toLowerCase()) ?? 1;
    const example = amount === '' ? EXAMPLE_MS : Number(amount) * factor;
    return isTime
      ? `Write the time in milliseconds, for example ${key}=${example}.`
      : `Write a number without a unit, for example ${key}=${amount === '' ? 1 : amount}.`;
  }
  return `For another type write ${key}:=<json>.`;
}

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['min', 60_000],
]);
const EXAMPLE_MS = 60_000;

/** Returns the schema at a path of an entry; {} if it is open. */
function schemaAt([first, ...rest]: JsonPath): JsonObject {
  let schema: unknown = ENTRY_KEYS.get(String(first))?.kind.schema;
  for (const segment of rest) {
    const { properties, additionalProperties, items }: JsonObject = isRecord(schema) ? schema : {};
    schema = isRecord(properties) ? properties[String(segment)] : (additionalProperties ?? items);
  }
  return isRecord(schema) ? schema : {};
}

/** Returns the possible values of a text, the most likely first. */
function candidatesFor(text: string, path: JsonPath): readonly unknown[] {
  const parsed = parseJson(text);
  const isOpen = ENTRY_KEYS.get(String(path[0]))?.kind.types.length === 0;
  // A key that accepts any value would accept the text too, although a boolean is meant.
  if (isOpen && typeof parsed === 'boolean') return [parsed];
  return [text, ...(parsed === undefined ? [] : [parsed]), [text]];
}

function faultsAt(entry: JsonObject, path: JsonPath): Fault[] {
  const [first] = path;
  const faults: Fault[] = [];
  ENTRY_KEYS.get(String(first))?.kind.check(entry[String(first)], [String(first)], (fault) =>
    faults.push(fault),
  );
  return faults.filter((fault) =>
    path.every((segment, at) => fault.path[at] === segment || at >= fault.path.length),
  );
}

/** Returns the entry without the values at these paths; also removes objects that become empty. */
export function unassign(raw: JsonObject, paths: readonly JsonPath[], server: string): JsonObject {
  let entry = raw;
  for (const path of paths) {
    const changed = without(entry, path);
    if (changed === undefined) {
      throw usage(`The entry of "${server}" has no ${showPath(path)}`, keysThere(entry, path));
    }
    entry = changed;
  }
  return entry;
}

/** Lists the keys of the innermost existing object on a path. */
function keysThere(entry: JsonObject, path: JsonPath): string {
  let [place, depth]: [JsonObject, number] = [entry, 0];
  for (const segment of path.slice(0, -1)) {
    const inner = place[String(segment)];
    if (!isRecord(inner)) break;
    [place, depth] = [inner, depth + 1];
  }
  const keys = Object.keys(place);
  if (depth > 0) return `${path.slice(0, depth).join('.')} has ${keys.join(', ')}.`;
  const [meant] = path.length > 1 ? [] : nearest(String(path[0]), keys, 1);
  return meant === undefined ? `It has ${keys.join(', ')}.` : `Did you mean "${meant}"?`;
}

function put(value: unknown, path: JsonPath, member: unknown): JsonObject {
  return putAt(value, path, member) as JsonObject; // a path has at least one key, so the outermost value is an object
}

function putAt(value: unknown, path: JsonPath, member: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return member;
  if (typeof key === 'number') {
    const items: readonly unknown[] = Array.isArray(value) ? value : [];
    if (key > items.length)
      throw usage(
        `The list has ${items.length} members; the next is ${items.length}`,
        'Members are counted from 0.',
      );
    return Object.assign([...items], { [key]: putAt(items[key], rest, member) });
  }
  const object = isRecord(value) ? value : {};
  return { ...object, [key]: putAt(object[key], rest, member) };
}

/** Returns undefined if there is no value at the path. */
function without(value: JsonObject, path: JsonPath): JsonObject | undefined {
  const [key = '', ...rest] = path;
  const member = value[key];
  if (member === undefined) return undefined;
  const { [key]: _gone, ...others } = value;
  if (rest.length === 0) return others;
  if (Array.isArray(member) && typeof rest[0] === 'number' && rest.length === 1) {
    return rest[0] < member.length
      ? { ...value, [key]: member.filter((_, at) => at !== rest[0]) }
      : undefined;
  }
  const inner = isRecord(member) ? without(member, rest) : undefined;
  if (inner === undefined) return undefined;
  return Object.keys(inner).length === 0 ? others : { ...value, [key]: inner };
}

/** Truncates a mistyped argument, so that an error does not quote a secret in it. */
function shortened(word: string): string {
  const MAX_CHARS = 24;
  return word.length > MAX_CHARS ? `${word.slice(0, MAX_CHARS)}…` : word;
}

function usage(message: string, hint: string): PlugboardError {
  return new PlugboardError('USAGE', message, { hint });
}
