/**
 * Validates arguments against a tool's JSON Schema and reports problems so that a model can fix them.
 *
 * The schema is untrusted. Nothing in it may cost more than a bounded time or reach the network; a schema that cannot
 * be checked safely is left to the server, which validates anyway.
 */

import type { ErrorObject, ValidateFunction } from 'ajv';
import { followPointer } from '../catalog/schemas/pointer.ts';
import { dialectOf } from '../catalog/schemas/schema-dialect.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { nearest } from '../lib/nearest.ts';
import { parsePattern, patternCost } from '../lib/pattern-cost.ts';
import { clean } from '../policy/clean.ts';
import { COUNTED, type FailedParts, failedParts } from './failed-part.ts';

/** Compile time grows with the schema; above these limits only the server validates. */
const MAX_SCHEMA_NODES = 1_500;
const MAX_SCHEMA_DEPTH = 64;
/** References followed in one check: a few that point at each other twice can require billions. */
const MAX_REFERENCES = 2_000;
const MAX_PATTERN_CHARS = 512;
/** Total steps of all patterns in one check, well under a tenth of a second (A18); strings beyond that pass. */
const MAX_PATTERN_STEPS = 3_000_000;
const MAX_REPORTED = 8;
/** Errors that are explained; further ones are only counted. */
const MAX_EXPLAINED = 200;

type JsonObject = Readonly<Record<string, unknown>>;

/** Returns problems with arguments or output, one sentence each; empty if there are none. */
export type ArgumentCheck = (value: unknown) => string[];

export interface ArgumentChecker {
  /** Returns the check for a schema, compiled once per schema object. */
  checkFor(schema: JsonObject): ArgumentCheck;
  /** Returns the parts of a schema that a value does not match, for values that the check has rejected. */
  failedParts(schema: JsonObject, value: unknown): FailedParts;
}

/** A compiled schema. */
interface Compiled {
  readonly check: ArgumentCheck;
  /** Returns the parts that the last value did not match. */
  readonly parts: () => FailedParts;
}

const unchecked: Compiled = { check: () => [], parts: () => ({}) };

export async function createArgumentChecker(): Promise<ArgumentChecker> {
  const [{ Ajv2020 }, { Ajv2019 }, { Ajv }] = await Promise.all([
    import('ajv/dist/2020.js'),
    import('ajv/dist/2019.js'),
    import('ajv'),
  ]);
  const engines = { '2020-12': Ajv2020, '2019-09': Ajv2019, 'draft-07': Ajv } as const;
  const compiled = new WeakMap<JsonObject, Compiled>();
  const options = {
    strict: false,
    validateSchema: false,
    allErrors: true,
    validateFormats: false,
    logger: false,
    // A property may be named `constructor`, which every object inherits.
    ownProperties: true,
    // Ids are chosen by the server: two tools may use the same one.
    addUsedSchema: false,
    // When inlined, references that point at each other twice grow without bound.
    inlineRefs: false,
    // Errors have the schema that failed: the paths of those behind a reference do not say where it is.
    verbose: true,
  } as const;

  const compile = (schema: JsonObject): Compiled => {
    const { $schema, $id: _id, ...body } = schema;
    const dialect = dialectOf($schema);
    if (dialect === undefined || !isModest(body)) return unchecked;
    const rest = structuredClone(body);
    if (!markTargets(rest)) return unchecked;
    allowDefaults(rest);
    // A separate instance, so that nothing is retained for tools that no longer exist.
    const steps = { left: 0 };
    const own = { ...options, code: { regExp: guardedRegExp(steps) } };
    const engine = new engines[dialect](own);
    let followed = 0;
    engine.addKeyword({
      keyword: COUNTED,
      validate: () => {
        followed += 1;
        if (followed > MAX_REFERENCES) throw new Error('too many references');
        return true;
      },
    });
    // Ajv compares every pair of items, which takes minutes for a list of some thousand objects.
    engine.removeKeyword('uniqueItems').addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      schemaType: 'boolean',
      error: { message: 'must NOT have duplicate items' },
      validate: (isWanted: boolean, items: readonly unknown[]) =>
        !isWanted || new Set(items.map(canonicalJson)).size === items.length,
    });
    try {
      const validate = engine.compile(rest);
      const check: ArgumentCheck = (value) => {
        followed = 0;
        steps.left = MAX_PATTERN_STEPS;
        try {
          return validate(isObject(value) ? withoutAbsent(value, rest) : value)
            ? []
            : explain(validate, rest);
        } catch {
          return []; // Endless references, or an object deeper than the stack.
        }
      };
      const parts = (): FailedParts =>
        failedParts((validate.errors ?? []).slice(0, MAX_EXPLAINED), rest, fieldName);
      return { check, parts };
    } catch {
      return unchecked; // An unresolvable reference or an invalid keyword.
    }
  };
  const compiledFor = (schema: JsonObject): Compiled => getOrMake(compiled, schema, () => compile(schema));
  return {
    checkFor: (schema) => compiledFor(schema).check,
    failedParts(schema, value) {
      const { check, parts } = compiledFor(schema);
      return check(value).length === 0 ? {} : parts();
    },
  };
}

/** Whether a schema is small enough to compile. */
function isModest(schema: JsonObject): boolean {
  let nodes = 0;
  const fits = (value: unknown, depth: number): boolean => {
    if (typeof value !== 'object' || value === null) return true;
    nodes += 1;
    if (nodes > MAX_SCHEMA_NODES || depth > MAX_SCHEMA_DEPTH) return false;
    return Object.values(value).every((member) => fits(member, depth + 1));
  };
  return fits(schema, 0);
}

/** Adds a counter to every reference target; false if a reference leaves the schema, which is never followed. */
function markTargets(root: Record<string, unknown>): boolean {
  const mark = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return true;
    if (Array.isArray(value)) return value.every(mark);
    if (!isObject(value)) return true;
    const reference = value['$ref'];
    if (typeof reference === 'string') {
      const target = targetOf(root, reference);
      if (target === undefined) return false;
      target[COUNTED] = true;
    }
    if (value['$dynamicRef'] !== undefined || value['$recursiveRef'] !== undefined) return false;
    return Object.values(value).every(mark);
  };
  return mark(root);
}

/** Keywords whose values are data and not schemas. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/**
 * Makes every property with a default optional. zod 4 lists such properties in `required`, since they always exist
 * after parsing; the server fills them in.
 */
function allowDefaults(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  if (Array.isArray(schema)) {
    for (const member of schema) allowDefaults(member);
    return;
  }
  const node = schema as Record<string, unknown>;
  const { required, properties } = node;
  if (Array.isArray(required) && isObject(properties)) {
    node['required'] = required.filter((name) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return !(isObject(property) && Object.hasOwn(property, 'default'));
    });
  }
  for (const [key, member] of Object.entries(node)) {
    if (!DATA_KEYWORDS.has(key)) allowDefaults(member);
  }
}

function targetOf(root: Record<string, unknown>, reference: string): Record<string, unknown> | undefined {
  const target = followPointer(root, reference)?.target;
  return isObject(target) ? target : undefined;
}

interface GuardedRegExp {
  readonly code: string;
  (pattern: string, flags: string): { test(text: string): boolean };
}

/** Returns a RegExp factory with bounded cost: a pattern that may exceed the remaining steps matches everything. */
function guardedRegExp(steps: { left: number }): GuardedRegExp {
  const compile = (pattern: string, flags: string): { test(text: string): boolean } => {
    const cost = pattern.length > MAX_PATTERN_CHARS ? undefined : patternCost(pattern);
    const regExp = cost === undefined ? undefined : parsePattern(pattern, flags);
    return {
      test(text) {
        if (cost === undefined || regExp === undefined) return true;
        const needed = cost.steps(text.length);
        if (needed > steps.left) return true;
        steps.left -= needed;
        return regExp.test(text);
      },
    };
  };
  return Object.assign(compile, { code: 'guardedRegExp' });
}

/** Removes nulls of optional parameters: models send null for "not given", and headers omit it. */
function withoutAbsent(args: JsonObject, schema: JsonObject): JsonObject {
  if (!Object.values(args).includes(null)) return args;
  const { required } = schema;
  const given = Object.entries(args).filter(
    ([name, value]) =>
      value !== null || (Array.isArray(required) && required.includes(name)) || !isDeclared(schema, name),
  );
  return Object.fromEntries(given);
}

/** Only declared parameters are optional ones; undeclared ones are checked unchanged. */
function isDeclared(schema: JsonObject, name: string): boolean {
  const properties = schema['properties'];
  return isObject(properties) && Object.hasOwn(properties, name);
}

function explain(validate: ValidateFunction, schema: JsonObject): string[] {
  const errors = validate.errors ?? [];
  const explained = errors.slice(0, MAX_EXPLAINED);
  const sentences = new Set(
    explained.map((error) => sentence(error, errors, schema)).filter((text) => text !== ''),
  );
  const shown = [...sentences].slice(0, MAX_REPORTED);
  const more = sentences.size - shown.length + errors.length - explained.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

function sentence(error: ErrorObject, all: readonly ErrorObject[], schema: JsonObject): string {
  const where = fieldName(error.instancePath);
  const { params } = error;
  switch (error.keyword) {
    case 'required': {
      const missing = String(params['missingProperty']);
      const typo = extras(all, error.instancePath).find((extra) => nearest(extra, [missing]).length > 0);
      const hint = typo === undefined ? '' : ` (you gave ${quote(typo)})`;
      return `${join(where, missing)} is required${hint}`;
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const extra = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
      const [close] = nearest(extra, propertiesAt(schema, error.instancePath));
      return `${join(where, extra)} is not known${close === undefined ? '' : `; did you mean ${quote(close)}?`}`;
    }
    case 'type':
      return `${where || 'the arguments'} must be ${words(params['type'])}`;
    case 'enum':
      return `${where} must be one of ${list(params['allowedValues'])}`;
    case 'const':
      return `${where} must be ${JSON.stringify(params['allowedValue'])}`;
    case 'if':
      return ''; // The branch's own errors report the problem inside it.
    default:
      return `${where || 'the arguments'} ${error.message ?? 'is not valid'}`;
  }
}

/** Names given at this path that the schema does not declare. */
function extras(all: readonly ErrorObject[], instancePath: string): string[] {
  return all
    .filter((error) => error.keyword === 'additionalProperties' && error.instancePath === instancePath)
    .slice(0, MAX_EXPLAINED)
    .map((error) => String(error.params['additionalProperty']));
}

function propertiesAt(schema: JsonObject, instancePath: string): string[] {
  let node: unknown = schema;
  for (const step of instancePath.split('/').slice(1)) {
    const record = isObject(node) ? node : {};
    node =
      isObject(record['properties']) && step in record['properties']
        ? record['properties'][step]
        : record['items'];
  }
  return isObject(node) && isObject(node['properties']) ? Object.keys(node['properties']) : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `/items/0/name` → `items[0].name` */
function fieldName(instancePath: string): string {
  return instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : join(path, step)), '');
}

function join(path: string, step: string): string {
  const shown = clean(step, { multiline: false, max: 100 });
  return path === '' ? shown : `${path}.${shown}`;
}

function quote(name: string): string {
  return JSON.stringify(clean(name, { multiline: false, max: 100 }));
}

function words(type: unknown): string {
  const names = [type].flat().map((name) => (/^[aeiou]/.test(String(name)) ? `an ${name}` : `a ${name}`));
  return names.join(' or ').replace('a null', 'null');
}

function list(values: unknown): string {
  const shown = Array.isArray(values) ? values.slice(0, 12).map((value) => JSON.stringify(value)) : [];
  return Array.isArray(values) && values.length > 12 ? `${shown.join(', ')}, …` : shown.join(', ');
}
