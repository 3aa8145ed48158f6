/**
 * The part of Ajv that argument checks use, as an interpreter: workers and pages with a content security policy
 * cannot compile a schema to code. Errors have Ajv's shape. `unevaluatedProperties` and `unevaluatedItems` are left
 * to the server.
 */

import { followPointer } from '../../catalog/schemas/pointer.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Failure {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
}

interface Keyword {
  readonly keyword: string;
  readonly validate: (schema: never, value: never) => boolean;
}

interface Options {
  readonly code: { readonly regExp: (pattern: string, flags: string) => { test(text: string): boolean } };
}

interface Validate {
  (value: unknown): boolean;
  errors: Failure[] | null;
}

export class Ajv {
  readonly #regExp: Options['code']['regExp'];
  readonly #own = new Map<string, Keyword>();

  constructor({ code }: Options) {
    this.#regExp = code.regExp;
  }

  addKeyword(keyword: Keyword): this {
    this.#own.set(keyword.keyword, keyword);
    return this;
  }

  removeKeyword(_name: string): this {
    return this;
  }

  compile(root: Schema): Validate {
    const validate: Validate = Object.assign(
      (value: unknown): boolean => {
        const found: Failure[] = [];
        new Run(root, this.#regExp, this.#own).check(root, value, '', found);
        validate.errors = found;
        return found.length === 0;
      },
      { errors: null },
    );
    return validate;
  }
}

export { Ajv as Ajv2019, Ajv as Ajv2020 };

/** One check of one value. */
class Run {
  readonly #root: Schema;
  readonly #regExp: Options['code']['regExp'];
  readonly #own: ReadonlyMap<string, Keyword>;

  constructor(root: Schema, regExp: Options['code']['regExp'], own: ReadonlyMap<string, Keyword>) {
    this.#root = root;
    this.#regExp = regExp;
    this.#own = own;
  }

  /** Adds the problems of a value to `found`. */
  check(schema: unknown, value: unknown, at: string, found: Failure[]): void {
    if (schema === false) found.push(failure('false schema', at, {}, 'boolean schema is false'));
    if (!isObject(schema)) return;
    for (const { keyword, validate } of this.#own.values())
      if (keyword in schema && keyword !== 'uniqueItems') validate(schema[keyword] as never, value as never);
    if (typeof schema['$ref'] === 'string')
      this.check(followPointer(this.#root, schema['$ref'])?.target, value, at, found);
    checkAny(schema, value, at, found);
    this.#combined(schema, value, at, found);
    if (typeof value === 'number') checkNumber(schema, value, at, found);
    if (typeof value === 'string') this.#text(schema, value, at, found);
    if (Array.isArray(value)) this.#list(schema, value, at, found);
    else if (isObject(value)) this.#object(schema, value, at, found);
  }

  #fits(schema: unknown, value: unknown, at: string): boolean {
    const found: Failure[] = [];
    this.check(schema, value, at, found);
    return found.length === 0;
  }

  #combined(schema: Schema, value: unknown, at: string, found: Failure[]): void {
    const { allOf, anyOf, oneOf, not } = schema;
    for (const each of listOf(allOf)) this.check(each, value, at, found);
    if (Array.isArray(anyOf)) this.#one(anyOf, value, at, found, 'anyOf', (count) => count > 0);
    if (Array.isArray(oneOf)) this.#one(oneOf, value, at, found, 'oneOf', (count) => count === 1);
    if (not !== undefined && this.#fits(not, value, at))
      found.push(failure('not', at, {}, 'must NOT be valid'));
    if (schema['if'] !== undefined)
      this.check(schema[this.#fits(schema['if'], value, at) ? 'then' : 'else'], value, at, found);
  }

  #one(
    schemas: readonly unknown[],
    value: unknown,
    at: string,
    found: Failure[],
    keyword: 'anyOf' | 'oneOf',
    isEnough: (count: number) => boolean,
  ): void {
    const tries = schemas.map((each) => {
      const failures: Failure[] = [];
      this.check(each, value, at, failures);
      return failures;
    });
    const count = tries.filter((failures) => failures.length === 0).length;
    if (isEnough(count)) return;
    if (count === 0) found.push(...tries.flat());
    const which = keyword === 'anyOf' ? 'a schema in anyOf' : 'exactly one schema in oneOf';
    found.push(failure(keyword, at, {}, `must match ${which}`));
  }

  #text(schema: Schema, value: string, at: string, found: Failure[]): void {
    const { minLength, maxLength, pattern } = schema;
    const length = [...value].length;
    const limit = (text: string): Failure => failure('length', at, {}, `must NOT have ${text} characters`);
    if (typeof minLength === 'number' && length < minLength) found.push(limit(`fewer than ${minLength}`));
    if (typeof maxLength === 'number' && length > maxLength) found.push(limit(`more than ${maxLength}`));
    if (typeof pattern === 'string' && !this.#regExp(pattern, 'u').test(value))
      found.push(failure('pattern', at, { pattern }, `must match pattern "${pattern}"`));
  }

  #list(schema: Schema, value: readonly unknown[], at: string, found: Failure[]): void {
    const { prefixItems, items, additionalItems, contains, uniqueItems, minItems, maxItems } = schema;
    const first = listOf(Array.isArray(items) ? items : prefixItems);
    const rest = Array.isArray(items) ? additionalItems : items;
    value.forEach((item, index) => {
      const own = index < first.length ? first[index] : rest;
      if (own !== undefined) this.check(own, item, `${at}/${index}`, found);
    });
    const limit = (text: string): Failure => failure('items', at, {}, `must NOT have ${text} items`);
    if (typeof minItems === 'number' && value.length < minItems) found.push(limit(`fewer than ${minItems}`));
    if (typeof maxItems === 'number' && value.length > maxItems) found.push(limit(`more than ${maxItems}`));
    if (uniqueItems === true && new Set(value.map(canonicalJson)).size < value.length)
      found.push(limit('duplicate'));
    if (contains === undefined) return;
    const count = value.filter((item) => this.#fits(contains, item, at)).length;
    const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema;
    if (count < Number(minContains) || count > Number(maxContains))
      found.push(failure('contains', at, {}, `must contain at least ${minContains} valid item(s)`));
  }

  #object(schema: Schema, value: Schema, at: string, found: Failure[]): void {
    const { required, additionalProperties, propertyNames, minProperties, maxProperties } = schema;
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    const patterns = isObject(schema['patternProperties']) ? Object.entries(schema['patternProperties']) : [];
    for (const name of listOf(required)) missing(String(name), value, at, found);
    const names = Object.keys(value);
    for (const name of names) {
      const where = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const isDeclared = Object.hasOwn(properties, name);
      if (isDeclared) this.check(properties[name], value[name], where, found);
      const fitting = patterns.filter(([pattern]) => this.#regExp(pattern, 'u').test(name));
      for (const [, each] of fitting) this.check(each, value[name], where, found);
      if (propertyNames !== undefined) this.check(propertyNames, name, at, found);
      if (isDeclared || fitting.length > 0 || additionalProperties === undefined) continue;
      if (additionalProperties === false) found.push(extra(name, at));
      else this.check(additionalProperties, value[name], where, found);
    }
    const limit = (text: string): Failure =>
      failure('properties', at, {}, `must NOT have ${text} properties`);
    if (typeof minProperties === 'number' && names.length < minProperties)
      found.push(limit(`fewer than ${minProperties}`));
    if (typeof maxProperties === 'number' && names.length > maxProperties)
      found.push(limit(`more than ${maxProperties}`));
    this.#dependent(schema, value, at, found);
  }

  #dependent(schema: Schema, value: Schema, at: string, found: Failure[]): void {
    for (const key of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
      const given = isObject(schema[key]) ? Object.entries(schema[key]) : [];
      for (const [name, needed] of given) {
        if (!Object.hasOwn(value, name)) continue;
        if (Array.isArray(needed)) for (const other of needed) missing(String(other), value, at, found);
        else this.check(needed, value, at, found);
      }
    }
  }
}

function checkAny(schema: Schema, value: unknown, at: string, found: Failure[]): void {
  const { type } = schema;
  const types = [type].flat();
  if (type !== undefined && !types.some((name) => isOfType(name, value)))
    found.push(failure('type', at, { type }, `must be ${types.join(',')}`));
  const allowed = schema['enum'];
  const text = canonicalJson(value);
  if (Array.isArray(allowed) && !allowed.some((each) => canonicalJson(each) === text))
    found.push(failure('enum', at, { allowedValues: allowed }, 'must be equal to one of the allowed values'));
  if (schema['const'] !== undefined && canonicalJson(schema['const']) !== text)
    found.push(failure('const', at, { allowedValue: schema['const'] }, 'must be equal to constant'));
}

function checkNumber(schema: Schema, value: number, at: string, found: Failure[]): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const add = (message: string): void => void found.push(failure('limit', at, {}, message));
  if (typeof minimum === 'number' && value < minimum) add(`must be >= ${minimum}`);
  if (typeof maximum === 'number' && value > maximum) add(`must be <= ${maximum}`);
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) add(`must be > ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) add(`must be < ${exclusiveMaximum}`);
  if (typeof multipleOf === 'number' && !Number.isInteger(value / multipleOf))
    add(`must be multiple of ${multipleOf}`);
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

function missing(name: string, value: Schema, at: string, found: Failure[]): void {
  if (Object.hasOwn(value, name)) return;
  found.push(failure('required', at, { missingProperty: name }, `must have required property '${name}'`));
}

function extra(name: string, at: string): Failure {
  const message = 'must NOT have additional properties';
  return failure('additionalProperties', at, { additionalProperty: name }, message);
}

function failure(keyword: string, instancePath: string, params: Failure['params'], message: string): Failure {
  return { keyword, instancePath, params, message };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
