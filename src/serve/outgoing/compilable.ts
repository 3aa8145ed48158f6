/**
 * Decides whether the client of SDK v1 can compile an output schema.
 *
 * It compiles those of a whole list at once, with Ajv for draft-07, and one that throws makes the client lose every
 * tool of every server. Ajv takes too long to load for a list, so the reasons for a throw are checked here by hand.
 * Only schemas that Ajv compiles are checked: unreferenced definitions may contain anything.
 */

import { SchemaRefs } from '../../catalog/schemas/refs.ts';
import { JSON_TYPES } from '../../catalog/schemas/schema-node.ts';
import { isRecord } from '../../lib/json.ts';

type Schema = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isNumber: Check = (value) => typeof value === 'number';
const isText: Check = (value) => typeof value === 'string';
const isBoolean: Check = (value) => typeof value === 'boolean';
const isSchema: Check = (value) => typeof value === 'boolean' || isRecord(value);

const TYPES: ReadonlySet<unknown> = new Set(JSON_TYPES);
const COMPARED_FORMATS: ReadonlySet<unknown> = new Set([
  'date',
  'time',
  'date-time',
  'iso-time',
  'iso-date-time',
]);

const KEYWORDS: Readonly<Record<string, Check>> = {
  multipleOf: isNumber,
  maximum: isNumber,
  minimum: isNumber,
  exclusiveMaximum: isNumber,
  exclusiveMinimum: isNumber,
  maxLength: isNumber,
  minLength: isNumber,
  maxProperties: isNumber,
  minProperties: isNumber,
  maxItems: isNumber,
  minItems: isNumber,
  $id: isReference,
  $ref: isReference,
  format: isText,
  pattern: isPattern,
  required: Array.isArray,
  enum: (value) => Array.isArray(value) && value.length > 0,
  allOf: isListOfSchemas,
  anyOf: isListOfSchemas,
  oneOf: isListOfSchemas,
  uniqueItems: isBoolean,
  nullable: isBoolean,
  properties: isMapOfSchemas,
  dependencies: isMapOfSchemas,
  patternProperties: (value) => isMapOfSchemas(value) && Object.keys(value as Schema).every(isPattern),
  additionalItems: isSchema,
  contains: isSchema,
  propertyNames: isSchema,
  additionalProperties: isSchema,
  not: isSchema,
  if: isSchema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: isSchema,
  else: isSchema,
  items: (value) => isSchema(value) || isListOfSchemas(value),
  type: isType,
  // Draft-04's name of `$id`.
  id: () => false,
};
const ONE = [
  'additionalItems',
  'contains',
  'propertyNames',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
];
const LISTS = ['allOf', 'anyOf', 'oneOf'];
const MAPS = ['properties', 'dependencies', 'patternProperties'];
const LIMITS = ['formatMaximum', 'formatMinimum', 'formatExclusiveMaximum', 'formatExclusiveMinimum'];

/** Returns the problem of a schema; undefined if it compiles. */
export function compileFault(root: Schema): string | undefined {
  const ids = new SchemaRefs(root);
  if (ids.fault !== undefined) return ids.fault;
  const seen = new Set<unknown>();
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const schema = waiting.pop();
    if (!isRecord(schema) || seen.has(schema)) continue;
    seen.add(schema);
    const fault = keywordFault(schema, schema === root);
    if (fault !== undefined) return fault;
    const { $ref: reference } = schema;
    if (typeof reference === 'string') {
      const target = ids.resolve(reference, schema);
      if (target === undefined) return `$ref ${JSON.stringify(reference)} leads nowhere`;
      waiting.push(target);
    }
    waiting.push(...below(schema));
  }
  return undefined;
}

function keywordFault(schema: Schema, isRoot: boolean): string | undefined {
  for (const [keyword, value] of Object.entries(schema)) {
    const isValid = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    if (isValid?.(value) === false) return `${keyword} is not valid`;
  }
  const { type, nullable, $async, format } = schema;
  if (nullable !== undefined) {
    const types = [type].flat();
    if (types.every((name) => name === undefined || name === '')) return 'nullable is used without type';
    if (nullable === false && types.includes('null')) return 'nullable contradicts type';
  }
  if ($async !== undefined && $async !== false && !isRoot) return '$async is not valid';
  const limit = LIMITS.find((keyword) => schema[keyword] !== undefined);
  if (limit !== undefined && !(COMPARED_FORMATS.has(format) && isText(schema[limit])))
    return `${limit} is not valid`;
  return undefined;
}

/** Yields the direct subschemas of a schema. */
function* below(schema: Schema): Generator<unknown> {
  for (const keyword of ONE) if (schema[keyword] !== undefined) yield schema[keyword];
  for (const keyword of LISTS) if (Array.isArray(schema[keyword])) yield* schema[keyword];
  for (const keyword of MAPS) if (isRecord(schema[keyword])) yield* Object.values(schema[keyword]);
  const { items } = schema;
  if (Array.isArray(items)) yield* items;
  else yield items;
}

function isType(value: unknown): boolean {
  return value === '' || (Array.isArray(value) ? value : [value]).every((name) => TYPES.has(name));
}

function isReference(value: unknown): boolean {
  if (typeof value !== 'string' || /\s/.test(value)) return false;
  const hasScheme = /^[^/?#]*:/.test(value);
  return !hasScheme || /^[a-z][a-z0-9+.-]*:/i.test(value);
}

function isPattern(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    return new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Ajv reads non-schema members as `{}`, and fails on null. */
function isListOfSchemas(value: unknown): boolean {
  return Array.isArray(value) && !value.includes(null);
}

function isMapOfSchemas(value: unknown): boolean {
  return isRecord(value) && !Object.values(value).includes(null);
}
