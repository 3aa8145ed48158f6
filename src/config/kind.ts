/** The kinds of values of configuration keys: each validates a value and provides its JSON Schema. */

import { isRecord } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { type Fault, type JsonPath, type JsonType, type Report, reportTypo, wrong } from './fault.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Kind {
  /** Completes the sentence "must be …". */
  readonly expected: string;
  readonly schema: JsonSchema;
  /** Accepted JSON types; a value of another type is reported by its type. */
  readonly types: readonly JsonType[];
  /** Reports every problem with a value; no report means that it is valid. */
  check(value: unknown, path: JsonPath, report: Report): void;
}

/** One key: its kind and its purpose. */
export interface Key {
  readonly kind: Kind;
  readonly description: string;
}

export type Keys = ReadonlyMap<string, Key>;

/** Creates a table of keys from an object. */
export function keys(table: Readonly<Record<string, Key>>): Keys {
  return new Map(Object.entries(table));
}

export const anything: Kind = { expected: 'any value', schema: {}, types: [], check: () => undefined };

export const flag: Kind = plain(
  'true or false',
  'boolean',
  { type: 'boolean' },
  (value) => typeof value === 'boolean',
);

/** A string that can be passed to a process. */
export const text: Kind = string('a string', {}, () => true);

export const word: Kind = string(
  'a string that is not empty',
  { minLength: 1 },
  (value) => value.trim() !== '',
);

export function pattern(expected: string, source: string): Kind {
  const expression = new RegExp(source, 'u');
  return string(expected, { pattern: source }, (value) => expression.test(value));
}

/** An integer from 1 to `maximum`. */
export function positive(maximum: number): Kind {
  return wholeNumber(1, maximum);
}

export function wholeNumber(minimum: number, maximum: number): Kind {
  return plain(
    `a whole number from ${minimum} to ${maximum}`,
    'number',
    { type: 'integer', minimum, maximum },
    (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
  );
}

export function oneOf(...values: readonly [string, ...string[]]): Kind {
  const expected = values
    .map((value) => `"${value}"`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1');
  return {
    expected,
    schema: { enum: values },
    types: ['string'],
    check(value, path, report) {
      if (typeof value === 'string' && values.includes(value)) return;
      const meant = typeof value === 'string' ? nearest(value, values, 1)[0] : undefined;
      report(wrong(value, path, this, meant === undefined ? undefined : `Did you mean "${meant}"?`));
    },
  };
}

export function list(item: Kind, itemsExpected: string): Kind {
  const expected = `a list of ${itemsExpected}`;
  return {
    expected,
    schema: { type: 'array', items: item.schema },
    types: ['array'],
    check(value, path, report) {
      if (!Array.isArray(value)) return report(wrong(value, path, this));
      for (const [index, element] of value.entries()) item.check(element, [...path, index], report);
    },
  };
}

/** An object with arbitrary keys; `name`, if given, validates each key. */
export function record(member: Kind, expected: string, name?: Kind): Kind {
  return {
    expected,
    schema: {
      type: 'object',
      additionalProperties: member.schema,
      ...(name === undefined ? {} : { propertyNames: name.schema }),
    },
    types: ['object'],
    check(value, path, report) {
      if (!isRecord(value)) return report(wrong(value, path, this));
      for (const [key, element] of Object.entries(value)) {
        name?.check(key, [...path, key], (fault) =>
          report({ ...fault, at: 'key', message: keyMessage(key, name) }),
        );
        member.check(element, [...path, key], report);
      }
    },
  };
}

/** An object with a table of keys. */
export function object(table: Keys): Kind {
  return {
    expected: 'an object',
    schema: {
      type: 'object',
      properties: Object.fromEntries(
        [...table].map(([name, { kind, description }]) => [name, { description, ...kind.schema }]),
      ),
    },
    types: ['object'],
    check(value, path, report) {
      if (!isRecord(value)) return report(wrong(value, path, this));
      for (const [name, element] of Object.entries(value)) {
        const key = table.get(name);
        if (key) key.kind.check(element, [...path, name], report);
        else reportTypo(name, path, unusedKeys(table, value), report);
      }
    },
  };
}

function unusedKeys(table: Keys, value: Readonly<Record<string, unknown>>): string[] {
  return [...table.keys()].filter((name) => !Object.hasOwn(value, name));
}

/** One of several kinds; problems are reported by the kind that matches the value's type, if any. */
export function either(...kinds: readonly [Kind, ...Kind[]]): Kind {
  const expected = kinds.map((kind) => kind.expected).join(' or ');
  return {
    expected,
    schema: { anyOf: kinds.map((kind) => kind.schema) },
    types: kinds.flatMap((kind) => kind.types),
    check(value, path, report) {
      let deepest: Fault[] | undefined;
      for (const kind of kinds) {
        const faults: Fault[] = [];
        kind.check(value, path, (fault) => faults.push(fault));
        if (!faults.some((fault) => fault.fatal)) return faults.forEach(report);
        if (faults.every((fault) => fault.path.length > path.length)) deepest = faults;
      }
      for (const fault of deepest ?? [wrong(value, path, this)]) report(fault);
    },
  };
}

/** Rejects NUL in every string: a process would receive the string truncated there. */
function string(expected: string, schema: JsonSchema, accepts: (value: string) => boolean): Kind {
  return {
    expected,
    schema: { type: 'string', ...schema },
    types: ['string'],
    check(value, path, report) {
      if (typeof value !== 'string' || !accepts(value)) report(wrong(value, path, this));
      else if (value.includes('\0'))
        report(wrong(value, path, { ...this, expected: 'a string without NUL characters' }));
    },
  };
}

function plain(
  expected: string,
  type: JsonType,
  schema: JsonSchema,
  accepts: (value: unknown) => boolean,
): Kind {
  return {
    expected,
    schema,
    types: [type],
    check(value, path, report) {
      if (!accepts(value)) report(wrong(value, path, this));
    },
  };
}

function keyMessage(key: string, name: Kind): string {
  return `${JSON.stringify(key)} must be ${name.expected}.`;
}
