/** Parses the keywords of one schema that need no context: types, values, bounds and texts. */

import { isRecord } from '../../lib/json.ts';
import { parsePattern } from '../../lib/pattern-cost.ts';
import {
  JSON_TYPES,
  type JsonType,
  type Mutable,
  matchesTypes,
  NO_LIMITS,
  NO_NAMES,
  type SchemaNode,
  typeOfValue,
} from './schema-node.ts';

type Limits = Map<string, string | number | boolean>;

/** Type names that servers use but JSON Schema does not define. */
const TYPE_ALIASES: ReadonlyMap<string, JsonType> = new Map([
  ...JSON_TYPES.map((type) => [type, type] as const),
  ...(['str', 'text', 'date', 'datetime', 'uuid', 'email', 'url', 'file'] as const).map(
    (alias) => [alias, 'string'] as const,
  ),
  ...(['float', 'double', 'decimal'] as const).map((alias) => [alias, 'number'] as const),
  ...(['int', 'int32', 'int64', 'long'] as const).map((alias) => [alias, 'integer'] as const),
  ['bool', 'boolean'],
  ...(['dict', 'map', 'record', 'hash', 'json'] as const).map((alias) => [alias, 'object'] as const),
  ...(['list', 'tuple', 'set'] as const).map((alias) => [alias, 'array'] as const),
  ...(['none', 'nil'] as const).map((alias) => [alias, 'null'] as const),
]);

const NUMBER_LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;
const COUNT_LIMITS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;
const TEXT_LIMITS = ['pattern', 'format'] as const;
/** Real patterns are shorter, and each reference repeats the pattern. */
const MAX_PATTERN_CHARS = 1_000;

/** Cached lists for single types, since nearly every schema has one. */
const SINGLE_TYPES: ReadonlyMap<unknown, readonly JsonType[]> = new Map(
  [...TYPE_ALIASES].map(([name, type]) => [name, [type]]),
);

/** Returns the types that a schema names; undefined if none of them exists. */
export function readTypes(raw: unknown): readonly JsonType[] | undefined {
  const single = SINGLE_TYPES.get(raw);
  if (single !== undefined) return single;
  const named = (Array.isArray(raw) ? raw : [raw]).flatMap((name) => {
    const type = typeof name === 'string' ? TYPE_ALIASES.get(name.toLowerCase()) : undefined;
    return type === undefined ? [] : [type];
  });
  return named.length === 0 ? undefined : [...new Set(named)];
}

/** Infers the types of a schema without `type` from its other keywords (CAT-5, in this order). */
export function inferTypes(node: SchemaNode): readonly JsonType[] | undefined {
  if (node.properties.size > 0 || node.required.size > 0 || node.additional !== undefined) return ['object'];
  if (node.items !== undefined) return ['array'];
  if (node.enum !== undefined) return [...new Set(node.enum.map(typeOfValue))];
  if (NUMBER_LIMITS.some((limit) => node.limits.has(limit))) return ['number'];
  if (node.limits.has('minItems') || node.limits.has('maxItems')) return ['array'];
  return undefined;
}

/** Copies title, description, default and examples into `into`. */
export function readWords(raw: Record<string, unknown>, into: Mutable<SchemaNode>): void {
  const { title, description, examples } = raw;
  if (typeof title === 'string' && title !== '') into.title = title;
  if (typeof description === 'string' && description !== '') into.description = description;
  if (raw['default'] !== undefined) into.default = raw['default'];
  if (Array.isArray(examples) && examples.length > 0) into.examples = examples;
}

/** Copies `enum` or `const` without values that the types exclude; types that exclude every value are ignored. */
export function readValues(raw: Record<string, unknown>, into: Mutable<SchemaNode>): void {
  const { types } = into;
  const constant = Object.hasOwn(raw, 'const');
  const listed = constant ? [raw['const']] : raw['enum'];
  if (!Array.isArray(listed) || listed.length === 0) return;
  const distinct = [...new Map(listed.map((value) => [JSON.stringify(value), value as unknown])).values()];
  const fitting = types.length === 0 ? distinct : distinct.filter((value) => matchesTypes(value, types));
  if (fitting.length === 0) into.types = [...new Set(distinct.map(typeOfValue))];
  into.enum = fitting.length === 0 ? distinct : fitting;
  if (constant) into.constant = true;
}

const LIMITS: ReadonlySet<string> = new Set([
  ...NUMBER_LIMITS,
  ...COUNT_LIMITS,
  ...TEXT_LIMITS,
  'uniqueItems',
]);

export function readLimits(raw: Record<string, unknown>): SchemaNode['limits'] {
  // Fast path: most schemas have none.
  if (!hasKeyIn(raw, LIMITS)) return NO_LIMITS;
  const limits: Limits = new Map();
  for (const key of NUMBER_LIMITS) {
    const value = raw[key];
    if (typeof value === 'number' && Number.isFinite(value) && (key !== 'multipleOf' || value > 0))
      limits.set(key, value);
  }
  // Draft 4 used `minimum: 0, exclusiveMinimum: true`.
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const value = limits.get(bound);
    if (raw[flag] === true && value !== undefined) {
      limits.delete(bound);
      limits.set(flag, value);
    }
  }
  for (const key of COUNT_LIMITS) {
    const value = raw[key];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) limits.set(key, value);
  }
  for (const key of TEXT_LIMITS) {
    const value = raw[key];
    if (typeof value !== 'string' || value === '' || value.length > MAX_PATTERN_CHARS) continue;
    if (key !== 'pattern' || parsePattern(value) !== undefined) limits.set(key, value);
  }
  if (raw['uniqueItems'] === true) limits.set('uniqueItems', true);
  return limits;
}

export function hasKeyIn(raw: Readonly<Record<string, unknown>>, keys: ReadonlySet<string>): boolean {
  for (const key in raw) if (keys.has(key)) return true;
  return false;
}

const TEXTS = ['default', 'examples', 'enum', 'const', 'required'] as const;

/** Estimates the characters of a schema itself, without its subschemas. */
export function ownChars(raw: Readonly<Record<string, unknown>>): number {
  const { properties, title, description } = raw;
  let chars = 0;
  if (typeof title === 'string') chars += title.length;
  if (typeof description === 'string') chars += description.length;
  for (const key of TEXTS) {
    const value = raw[key];
    if (value !== undefined) chars += JSON.stringify(value)?.length ?? 0;
  }
  if (isRecord(properties)) for (const name in properties) chars += name.length;
  return chars;
}

/** Returns the names in `required`, and properties with `required: true` as in draft 3. */
export function readRequired(raw: Record<string, unknown>): ReadonlySet<string> {
  const { required, properties } = raw;
  if (!Array.isArray(required) && !isRecord(properties)) return NO_NAMES;
  const names = new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []);
  if (isRecord(properties)) {
    for (const name of Object.keys(properties)) {
      const property = properties[name];
      if (isRecord(property) && property['required'] === true) names.add(name);
    }
  }
  return names;
}
