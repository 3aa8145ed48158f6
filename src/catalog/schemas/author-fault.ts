/** Finds what is wrong in a JSON Schema of a program's author; schemas of servers are taken as they are. */

import { isRecord } from '../../lib/json.ts';
import { parsePattern } from '../../lib/pattern-cost.ts';
import { followPointer } from './pointer.ts';
import { JSON_TYPES } from './schema-node.ts';

const TYPES: ReadonlySet<unknown> = new Set(JSON_TYPES);

type Rule = (value: unknown) => string | undefined;

const rule =
  (expected: string, fits: (value: unknown) => boolean): Rule =>
  (value) =>
    fits(value) ? undefined : expected;
const isSchema = (value: unknown): boolean => isRecord(value) || typeof value === 'boolean';
const isRegExp = (value: unknown): boolean => typeof value === 'string' && parsePattern(value) !== undefined;

const schema = rule('a schema', isSchema);
const schemas = rule('a list of schemas', (value) => Array.isArray(value) && value.every(isSchema));
const schemasByName = rule(
  'an object of schemas',
  (value) => isRecord(value) && Object.values(value).every(isSchema),
);
const list = rule('a list', Array.isArray);
const number = rule('a number', (value) => typeof value === 'number');

const RULES: Readonly<Record<string, Rule>> = {
  type: rule('a type of JSON Schema', (value) =>
    Array.isArray(value) ? value.length > 0 && value.every((type) => TYPES.has(type)) : TYPES.has(value),
  ),
  required: rule(
    'a list of names',
    (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
  ),
  pattern: rule('a regular expression (with the flag u)', isRegExp),
  patternProperties: (value) =>
    schemasByName(value) ??
    (Object.keys(value as object).every(isRegExp) ? undefined : 'an object with regular expressions'),
  enum: list,
  properties: schemasByName,
  $defs: schemasByName,
  definitions: schemasByName,
  dependentSchemas: schemasByName,
  items: (value) => (Array.isArray(value) ? schemas(value) : schema(value)),
  prefixItems: schemas,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: schema,
  else: schema,
  contains: schema,
  propertyNames: schema,
  additionalProperties: schema,
  minimum: number,
  maximum: number,
  minLength: number,
  maxLength: number,
  minItems: number,
  maxItems: number,
};

const INSIDE: ReadonlySet<Rule> = new Set([schema, schemas, RULES['items'] as Rule]);
const INSIDE_BY_NAME: ReadonlySet<Rule> = new Set([schemasByName, RULES['patternProperties'] as Rule]);

/** The first keyword that has no meaning, with its place; undefined if all have one. */
export function authorSchemaFault(root: Readonly<Record<string, unknown>>): string | undefined {
  const seen = new Set<unknown>();
  const look = (at: unknown, path: string): string | undefined => {
    if (!isRecord(at) || seen.has(at)) return undefined;
    seen.add(at);
    const { $ref } = at;
    const leadsNowhere =
      typeof $ref === 'string' && $ref.startsWith('#/') && followPointer(root, $ref) === undefined;
    if (leadsNowhere || ($ref !== undefined && typeof $ref !== 'string'))
      return `"${path}$ref" must be a reference to a place in the schema`;
    for (const [keyword, value] of Object.entries(at)) {
      const check = Object.hasOwn(RULES, keyword) ? RULES[keyword] : undefined;
      if (check === undefined || value === undefined) continue;
      const here = `${path}${keyword}`;
      const expected = check(value);
      if (expected !== undefined) return `"${here}" must be ${expected}`;
      const inner = INSIDE.has(check) ? [value].flat().map((one, i) => [String(i), one] as const) : [];
      const named = INSIDE_BY_NAME.has(check) ? Object.entries(value as object) : inner;
      for (const [name, one] of named) {
        const within = Array.isArray(value) || named !== inner ? `${here}.${name}.` : `${here}.`;
        const fault = look(one, within);
        if (fault !== undefined) return fault;
      }
    }
    return undefined;
  };
  return look(root, '');
}
