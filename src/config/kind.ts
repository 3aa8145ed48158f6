/**
 * The kinds of values of configuration keys: each validates a value, provides its JSON Schema, and has the TypeScript
 * type of what it accepts. A table of keys is written for a type, and the compiler rejects it if they differ.
 */

import { isRecord, type JsonObject } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { type Fault, type JsonPath, type JsonType, type Report, reportTypo, wrong } from './fault.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A kind of value whose type is not known here. */
export interface AnyKind {
  /** Completes the sentence "must be …". */
  readonly expected: string;
  readonly schema: JsonSchema;
  /** Accepted JSON types; a value of another type is reported by its type. */
  readonly types: readonly JsonType[];
  /** Reports every problem with a value; false if one of them is fatal. */
  check(value: unknown, path: JsonPath, report: Report): boolean;
}

/** A kind that accepts values of exactly the type `T`: `in out` rejects a kind that accepts more, or less. */
export interface Kind<in out T> extends AnyKind {
  check(value: unknown, path: JsonPath, report: Report): value is T;
}

/** One key: its kind and its purpose. */
export interface Key<Kinds extends AnyKind = AnyKind> {
  readonly kind: Kinds;
  readonly description: string;
  /** The effect of leaving the key out, for the docs. */
  readonly default?: string | number;
}

/** The keys of objects of type `T`. */
export interface Keys<in out T> extends AnyKeys {
  /** Absent; carries the type. */
  readonly members?: (members: T) => T;
}

export type AnyKeys = ReadonlyMap<string, Key>;

/** One row for each key of `T`, whose kind accepts exactly the type of that key. */
type Table<T> = { readonly [Name in keyof T]-?: Key<Kind<Exclude<T[Name], undefined>>> };

/**
 * Creates the table of keys of a type.
 *
 * @example
 * keys<Permissions>({ allow: { kind: globs, description: 'Calls that are not asked about.' }, … });
 */
export function keys<T>(table: Table<T>): Keys<T> {
  return new Map<string, Key>(Object.entries(table));
}

/** Joins tables of different keys. */
export function joined<A, B>(a: Keys<A>, b: Keys<B>): Keys<A & B> {
  return new Map([...a, ...b]);
}

/** Returns a table without some of its keys. */
export function without<T, Name extends keyof T & string>(
  table: Keys<T>,
  ...names: readonly Name[]
): Keys<Omit<T, Name>> {
  return new Map([...table].filter(([key]) => !names.some((name) => name === key)));
}

/** Returns the members of a value that are keys of the table and valid; reports the others. */
export function validMembers<T>(
  table: Keys<T>,
  value: JsonObject,
  report: Report,
  unknownKey: (name: string) => void,
): Partial<T> {
  const members = Object.entries(value).filter(([name, member]) => {
    const key = table.get(name);
    if (key === undefined) unknownKey(name);
    return key?.kind.check(member, [name], report) === true;
  });
  return Object.fromEntries(members) as Partial<T>; // each member was checked by its kind
}

/** Returns those members of a validated value that are keys of the table, as copies without prototypes. */
export function membersOf<T>(table: Keys<T>, value: Partial<T>): Partial<T> {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => table.has(name))
      .map(([name, member]) => [name, withoutPrototype(member)]),
  ) as Partial<T>; // a copy of what `value` has
}

/** Copies a value without prototypes, so that a tool called `constructor` is looked up correctly. */
function withoutPrototype(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototype);
  if (!isRecord(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, member] of Object.entries(value)) copy[key] = withoutPrototype(member);
  return copy;
}

/** A value that is validated where it is used; until then its type is what its author should have written. */
export function checkedLater<T>(): Kind<T> {
  return { expected: 'any value', schema: {}, types: [], check: (_value): _value is T => true };
}

export const flag: Kind<boolean> = plain(
  'true or false',
  'boolean',
  { type: 'boolean' },
  (value): value is boolean => typeof value === 'boolean',
);

/** A string that can be passed to a process. */
export const text: Kind<string> = string('a string', {}, () => true);

export const word: Kind<string> = string(
  'a string that is not empty',
  { minLength: 1 },
  (value) => value.trim() !== '',
);

/** Strings that match a pattern; `T` is their type, if it is narrower than a string. */
export function pattern<T extends string = string>(expected: string, source: string): Kind<T> {
  const expression = new RegExp(source, 'u');
  return string(expected, { pattern: source }, (value) => expression.test(value));
}

/** An integer from 1 to `maximum`. */
export function positive(maximum: number): Kind<number> {
  return wholeNumber(1, maximum);
}

export function wholeNumber(minimum: number, maximum: number): Kind<number> {
  return plain(
    `a whole number from ${minimum} to ${maximum}`,
    'number',
    { type: 'integer', minimum, maximum },
    (value): value is number =>
      Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
  );
}

/** Lists values in a sentence: `"a", "b" or "c"`. */
export function choice(values: readonly string[]): string {
  return values
    .map((value) => `"${value}"`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1');
}

export function oneOf<const T extends string>(...values: readonly [T, ...T[]]): Kind<T> {
  return {
    expected: choice(values),
    schema: { enum: values },
    types: ['string'],
    check(value, path, report): value is T {
      if (values.some((each) => each === value)) return true;
      const meant = typeof value === 'string' ? nearest(value, values, 1)[0] : undefined;
      report(wrong(value, path, this, meant === undefined ? undefined : `Did you mean "${meant}"?`));
      return false;
    },
  };
}

export function list<T>(item: Kind<T>, itemsExpected: string): Kind<readonly T[]> {
  const expected = `a list of ${itemsExpected}`;
  return {
    expected,
    schema: { type: 'array', items: item.schema },
    types: ['array'],
    check(value, path, report): value is readonly T[] {
      if (!Array.isArray(value)) return refuse(value, path, this, report);
      // Every element is checked, so that all problems are reported.
      return value.filter((element, index) => !item.check(element, [...path, index], report)).length === 0;
    },
  };
}

/** An object with arbitrary keys; `name`, if given, validates each key. */
export function record<T>(
  member: Kind<T>,
  expected: string,
  name?: Kind<string>,
): Kind<Readonly<Record<string, T>>> {
  return {
    expected,
    schema: {
      type: 'object',
      additionalProperties: member.schema,
      ...(name === undefined ? {} : { propertyNames: name.schema }),
    },
    types: ['object'],
    check(value, path, report): value is Readonly<Record<string, T>> {
      if (!isRecord(value)) return refuse(value, path, this, report);
      const invalid = Object.entries(value).filter(([key, element]) => {
        const isNamed = name?.check(key, [...path, key], (fault) =>
          report({ ...fault, at: 'key', message: keyMessage(key, name) }),
        );
        return !member.check(element, [...path, key], report) || isNamed === false;
      });
      return invalid.length === 0;
    },
  };
}

/** An object with a table of keys, each of which may be absent. */
export function object<T>(table: Keys<T>): Kind<Partial<T>> {
  return {
    expected: 'an object',
    schema: {
      type: 'object',
      properties: Object.fromEntries(
        [...table].map(([name, { kind, description }]) => [name, { description, ...kind.schema }]),
      ),
    },
    types: ['object'],
    check(value, path, report): value is Partial<T> {
      if (!isRecord(value)) return refuse(value, path, this, report);
      const invalid = Object.entries(value).filter(([name, element]) => {
        const key = table.get(name);
        if (key) return !key.kind.check(element, [...path, name], report);
        reportTypo(name, path, unusedKeys(table, value), report);
        return false;
      });
      return invalid.length === 0;
    },
  };
}

/** A kind whose values must also pass a test of the whole value. */
export function complete<T>(kind: Kind<T>, expected: string, passes: (value: T) => boolean): Kind<T> {
  return {
    ...kind,
    expected,
    check(value, path, report): value is T {
      if (!kind.check(value, path, report)) return false;
      return passes(value) || refuse(value, path, this, report);
    },
  };
}

function unusedKeys(table: AnyKeys, value: JsonObject): string[] {
  return [...table.keys()].filter((name) => !Object.hasOwn(value, name));
}

/** One of several kinds; problems are reported by the kind that matches the value's type, if any. */
export function either<A, B>(...kinds: readonly [Kind<A>, Kind<B>]): Kind<A | B> {
  const expected = kinds.map((kind) => kind.expected).join(' or ');
  return {
    expected,
    schema: { anyOf: kinds.map((kind) => kind.schema) },
    types: kinds.flatMap((kind) => kind.types),
    check(value, path, report): value is A | B {
      let deepest: Fault[] | undefined;
      for (const kind of kinds) {
        const faults: Fault[] = [];
        if (kind.check(value, path, (fault) => faults.push(fault))) {
          faults.forEach(report);
          return true;
        }
        if (faults.every((fault) => fault.path.length > path.length)) deepest = faults;
      }
      for (const fault of deepest ?? [wrong(value, path, this)]) report(fault);
      return false;
    },
  };
}

/** Rejects NUL in every string: a process would receive the string truncated there. */
function string<T extends string>(
  expected: string,
  schema: JsonSchema,
  accepts: (value: string) => boolean,
): Kind<T> {
  return {
    expected,
    schema: { type: 'string', ...schema },
    types: ['string'],
    check(value, path, report): value is T {
      if (typeof value !== 'string' || !accepts(value)) return refuse(value, path, this, report);
      if (!value.includes('\0')) return true;
      return refuse(value, path, { ...this, expected: 'a string without NUL characters' }, report);
    },
  };
}

function plain<T>(
  expected: string,
  type: JsonType,
  schema: JsonSchema,
  accepts: (value: unknown) => value is T,
): Kind<T> {
  return {
    expected,
    schema,
    types: [type],
    check(value, path, report): value is T {
      return accepts(value) || refuse(value, path, this, report);
    },
  };
}

/** Reports a value of the wrong kind; false, as the result of a check. */
function refuse(value: unknown, path: JsonPath, kind: AnyKind, report: Report): false {
  report(wrong(value, path, kind));
  return false;
}

function keyMessage(key: string, name: AnyKind): string {
  return `${JSON.stringify(key)} must be ${name.expected}`;
}
