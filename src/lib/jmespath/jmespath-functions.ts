/** The functions of JMESPath, with those for text of its community edition. Each spends steps for the values it reads. */

import { isRecord } from '../json.ts';

/** Evaluates references to expressions (`&name`) and spends steps; implemented by the evaluation. */
export interface FunctionContext {
  /** Throws if too much was spent. */
  spend(steps: number): void;
  evaluate(reference: Reference, value: unknown): unknown;
  isEqual(left: unknown, right: unknown): boolean;
  /** Serializes a value whose size is bounded. */
  toJson(value: unknown): string;
  /** Throws for an argument of a wrong type. */
  fail(why: string): never;
}

/** An expression that is an argument of a function. */
export class Reference {
  readonly child: unknown;

  constructor(child: unknown) {
    this.child = child;
  }
}

type TypeName = 'number' | 'string' | 'boolean' | 'null' | 'array' | 'object' | 'expression';
/** `any`, or types that are accepted; `numbers` and `strings` are arrays of them. */
type Parameter = readonly (TypeName | 'any' | 'numbers' | 'strings')[];

export interface SelectFunction {
  readonly parameters: readonly Parameter[];
  /** How many of the parameters may be omitted. */
  readonly optional?: number;
  /** The last parameter may be repeated. */
  readonly variadic?: boolean;
  run(context: FunctionContext, args: readonly unknown[]): unknown;
}

/** Characters of a text that cost one step. */
export const CHARS_PER_STEP = 32;
/** Characters of a sought text that make a search cost once more: in the worst case each is compared at each place. */
const SOUGHT_CHARS = 16;

/** The steps of a search in a text. */
function searchCost(whole: string, sought: string): number {
  return (whole.length / CHARS_PER_STEP) * (1 + Math.floor(sought.length / SOUGHT_CHARS));
}

export function typeName(value: unknown): TypeName {
  if (value === null || value === undefined) return 'null';
  if (value instanceof Reference) return 'expression';
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'number':
      return 'number';
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    default:
      return 'object';
  }
}

/** Returns what a function expects, if the arguments do not fit. */
export function argumentFault(
  { parameters, optional = 0, variadic }: SelectFunction,
  args: readonly unknown[],
): string | undefined {
  const least = parameters.length - optional;
  const isTooMany = variadic !== true && args.length > parameters.length;
  if (args.length < least || isTooMany) {
    const count =
      variadic === true ? `${least} or more` : optional > 0 ? `${least} to ${parameters.length}` : `${least}`;
    return `takes ${count} ${count === '1' ? 'argument' : 'arguments'}, not ${args.length}`;
  }
  for (const [at, value] of args.entries()) {
    const parameter = parameters[Math.min(at, parameters.length - 1)] ?? [];
    if (!parameter.some((type) => fits(type, value)))
      return `takes ${parameter.join(' or ')} as argument ${at + 1}, not ${typeName(value)}`;
  }
  return undefined;
}

function fits(type: Parameter[number], value: unknown): boolean {
  if (type === 'any') return !(value instanceof Reference);
  if (type === 'numbers') return Array.isArray(value) && value.every((item) => typeof item === 'number');
  if (type === 'strings') return Array.isArray(value) && value.every((item) => typeof item === 'string');
  return typeName(value) === type;
}

// The checks of `argumentFault` justify these casts.
const list = (value: unknown): readonly unknown[] => value as readonly unknown[];
const numbers = (value: unknown): readonly number[] => value as readonly number[];
const text = (value: unknown): string => value as string;
const record = (value: unknown): Readonly<Record<string, unknown>> => value as Record<string, unknown>;
const reference = (value: unknown): Reference => value as Reference;

const ANY: Parameter = ['any'];
const NUMBER: Parameter = ['number'];
const STRING: Parameter = ['string'];
const ARRAY: Parameter = ['array'];
const OBJECT: Parameter = ['object'];
const EXPRESSION: Parameter = ['expression'];

/** Returns an object whose members a name can be neither inherited by nor change the prototype of. */
export function objectFrom(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries(entries);
}

function compare(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const [one, other] = [String(left), String(right)];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Returns the keys of the items, which must all be numbers or all be strings. */
function keysBy(
  context: FunctionContext,
  items: readonly unknown[],
  by: Reference,
): readonly (number | string)[] {
  const keys = items.map((item) => context.evaluate(by, item));
  const [first] = keys;
  const type = typeof first;
  if (
    keys.length > 0 &&
    ((type !== 'number' && type !== 'string') || keys.some((key) => typeof key !== type))
  )
    return context.fail('needs an expression whose values are all numbers or all strings');
  return keys as (number | string)[];
}

function sortCost(count: number): number {
  return Math.ceil(count * Math.log2(count + 2));
}

function best(
  sign: 1 | -1,
): (context: FunctionContext, values: readonly unknown[], keys: readonly unknown[]) => unknown {
  return (context, values, keys) => {
    context.spend(values.length);
    let found = -1;
    for (const [at, key] of keys.entries()) if (found < 0 || compare(key, keys[found]) * sign > 0) found = at;
    return found < 0 ? null : values[found];
  };
}
const largest = best(1);
const smallest = best(-1);

function trimmer(pattern: (characters: ReadonlySet<string>) => (value: string) => string): SelectFunction {
  return {
    parameters: [STRING, STRING],
    optional: 1,
    run: (context, [value, characters]) => {
      const removed = characters === undefined || characters === '' ? ' \t\r\n' : text(characters);
      context.spend((text(value).length + removed.length) / CHARS_PER_STEP);
      return pattern(new Set(removed.split('')))(text(value));
    },
  };
}

function trimmedStart(characters: ReadonlySet<string>): (value: string) => string {
  return (value) => {
    let at = 0;
    while (at < value.length && characters.has(value.charAt(at))) at += 1;
    return value.slice(at);
  };
}

function trimmedEnd(characters: ReadonlySet<string>): (value: string) => string {
  return (value) => {
    let end = value.length;
    while (end > 0 && characters.has(value.charAt(end - 1))) end -= 1;
    return value.slice(0, end);
  };
}

function replaced(context: FunctionContext, [subject, old, by, count]: readonly unknown[]): string {
  const [whole, from, to] = [text(subject), text(old), text(by)];
  context.spend(searchCost(whole, from));
  if (from === '') return whole;
  const most = count === undefined ? Number.POSITIVE_INFINITY : Number(count);
  const parts: string[] = [];
  let start = 0;
  for (let done = 0; done < most; done += 1) {
    const at = whole.indexOf(from, start);
    if (at < 0) break;
    context.spend(1 + to.length / CHARS_PER_STEP);
    parts.push(whole.slice(start, at), to);
    start = at + from.length;
  }
  return parts.length === 0 ? whole : [...parts, whole.slice(start)].join('');
}

function split(context: FunctionContext, [subject, by, count]: readonly unknown[]): readonly string[] {
  const [whole, separator] = [text(subject), text(by)];
  context.spend(searchCost(whole, separator));
  const most = count === undefined ? Number.POSITIVE_INFINITY : Math.max(0, Number(count));
  const parts: string[] = [];
  let start = 0;
  // Part by part, so that a limit is reached before a list of millions exists.
  while (parts.length < most) {
    const at = separator === '' ? start + 1 : whole.indexOf(separator, start);
    if (at < 0 || at > whole.length || (separator === '' && at === whole.length)) break;
    context.spend(1);
    parts.push(whole.slice(start, at));
    start = at + separator.length;
  }
  return separator === '' && whole === '' ? [] : [...parts, whole.slice(start)];
}

function find(last: boolean): SelectFunction {
  return {
    parameters: [STRING, STRING],
    run: (context, [subject, sought]) => {
      context.spend(searchCost(text(subject), text(sought)));
      const at = last ? text(subject).lastIndexOf(text(sought)) : text(subject).indexOf(text(sought));
      return at < 0 || sought === '' ? null : at;
    },
  };
}

function casing(change: (value: string) => string): SelectFunction {
  return {
    parameters: [STRING],
    run: (context, [value]) => {
      context.spend(text(value).length / CHARS_PER_STEP);
      return change(text(value));
    },
  };
}

function arithmetic(run: (value: number) => number): SelectFunction {
  return { parameters: [NUMBER], run: (_context, [value]) => run(Number(value)) };
}

function total(context: FunctionContext, values: readonly number[]): number {
  context.spend(values.length);
  return values.reduce((sum, value) => sum + value, 0);
}

export const FUNCTIONS: ReadonlyMap<string, SelectFunction> = new Map<string, SelectFunction>([
  ['abs', arithmetic(Math.abs)],
  [
    'avg',
    {
      parameters: [['numbers']],
      run: (context, [values]) =>
        numbers(values).length === 0 ? null : total(context, numbers(values)) / numbers(values).length,
    },
  ],
  ['ceil', arithmetic(Math.ceil)],
  [
    'contains',
    {
      parameters: [['array', 'string'], ANY],
      run: (context, [subject, sought]) => {
        if (typeof subject === 'string') {
          context.spend(searchCost(subject, typeof sought === 'string' ? sought : ''));
          return typeof sought === 'string' && subject.includes(sought);
        }
        return list(subject).some((item) => context.isEqual(item, sought));
      },
    },
  ],
  [
    'ends_with',
    { parameters: [STRING, STRING], run: (_context, [value, end]) => text(value).endsWith(text(end)) },
  ],
  ['find_first', find(false)],
  ['find_last', find(true)],
  ['floor', arithmetic(Math.floor)],
  [
    'from_items',
    {
      parameters: [ARRAY],
      run: (context, [items]) => {
        context.spend(list(items).length);
        return objectFrom(
          list(items).map((item): [string, unknown] => {
            if (!Array.isArray(item) || item.length !== 2 || typeof item[0] !== 'string')
              return context.fail('takes a list of [name, value]');
            return [item[0], item[1]];
          }),
        );
      },
    },
  ],
  [
    'group_by',
    {
      parameters: [ARRAY, EXPRESSION],
      run: (context, [items, by]) => {
        const groups = new Map<string, unknown[]>();
        for (const item of list(items)) {
          const key = context.evaluate(reference(by), item);
          if (key === null) continue;
          if (typeof key !== 'string') return context.fail('needs an expression whose values are strings');
          const group = groups.get(key);
          if (group === undefined) groups.set(key, [item]);
          else group.push(item);
        }
        return objectFrom(groups);
      },
    },
  ],
  [
    'items',
    {
      parameters: [OBJECT],
      run: (context, [value]) => {
        const entries = Object.entries(record(value));
        context.spend(entries.length);
        return entries;
      },
    },
  ],
  [
    'join',
    {
      parameters: [STRING, ['strings']],
      run: (context, [by, values]) => {
        const parts = list(values).map(text);
        const chars = parts.reduce((sum, part) => sum + part.length + text(by).length, 0);
        context.spend(parts.length + chars / CHARS_PER_STEP);
        return parts.join(text(by));
      },
    },
  ],
  [
    'keys',
    {
      parameters: [OBJECT],
      run: (context, [value]) => {
        const keys = Object.keys(record(value));
        context.spend(keys.length);
        return keys;
      },
    },
  ],
  [
    'length',
    {
      parameters: [['string', 'array', 'object']],
      run: (context, [value]) => {
        if (Array.isArray(value)) return value.length;
        if (isRecord(value)) return Object.keys(value).length;
        context.spend(text(value).length / CHARS_PER_STEP);
        // Characters, not code units.
        let pairs = 0;
        for (let at = 0; at < text(value).length; at += 1)
          if ((text(value).charCodeAt(at) & 0xfc00) === 0xdc00) pairs += 1;
        return text(value).length - pairs;
      },
    },
  ],
  ['lower', casing((value) => value.toLowerCase())],
  [
    'map',
    {
      parameters: [EXPRESSION, ARRAY],
      run: (context, [by, items]) => list(items).map((item) => context.evaluate(reference(by), item)),
    },
  ],
  [
    'max',
    {
      parameters: [['numbers', 'strings']],
      run: (context, [values]) => largest(context, list(values), list(values)),
    },
  ],
  [
    'max_by',
    {
      parameters: [ARRAY, EXPRESSION],
      run: (context, [items, by]) =>
        largest(context, list(items), keysBy(context, list(items), reference(by))),
    },
  ],
  [
    'merge',
    {
      parameters: [OBJECT],
      variadic: true,
      run: (context, objects) => {
        const merged = new Map<string, unknown>();
        for (const value of objects)
          for (const [name, member] of Object.entries(record(value))) {
            context.spend(1);
            merged.set(name, member);
          }
        return objectFrom(merged);
      },
    },
  ],
  [
    'min',
    {
      parameters: [['numbers', 'strings']],
      run: (context, [values]) => smallest(context, list(values), list(values)),
    },
  ],
  [
    'min_by',
    {
      parameters: [ARRAY, EXPRESSION],
      run: (context, [items, by]) =>
        smallest(context, list(items), keysBy(context, list(items), reference(by))),
    },
  ],
  [
    'not_null',
    {
      parameters: [ANY],
      variadic: true,
      run: (_context, values) => values.find((value) => value !== null) ?? null,
    },
  ],
  ['replace', { parameters: [STRING, STRING, STRING, NUMBER], optional: 1, run: replaced }],
  [
    'reverse',
    {
      parameters: [['string', 'array']],
      run: (context, [value]) => {
        context.spend(typeof value === 'string' ? value.length : list(value).length);
        const all = typeof value === 'string' ? [...value] : [...list(value)];
        const reversed = all.reverse();
        return typeof value === 'string' ? reversed.join('') : reversed;
      },
    },
  ],
  [
    'sort',
    {
      parameters: [['numbers', 'strings']],
      run: (context, [values]) => {
        context.spend(sortCost(list(values).length));
        return [...list(values)].sort(compare);
      },
    },
  ],
  [
    'sort_by',
    {
      parameters: [ARRAY, EXPRESSION],
      run: (context, [items, by]) => {
        const keys = keysBy(context, list(items), reference(by));
        context.spend(sortCost(keys.length));
        const order = keys.map((_key, at) => at).sort((a, b) => compare(keys[a], keys[b]) || a - b);
        return order.map((at) => list(items)[at]);
      },
    },
  ],
  ['split', { parameters: [STRING, STRING, NUMBER], optional: 1, run: split }],
  [
    'starts_with',
    { parameters: [STRING, STRING], run: (_context, [value, start]) => text(value).startsWith(text(start)) },
  ],
  ['sum', { parameters: [['numbers']], run: (context, [values]) => total(context, numbers(values)) }],
  ['to_array', { parameters: [ANY], run: (_context, [value]) => (Array.isArray(value) ? value : [value]) }],
  [
    'to_number',
    {
      parameters: [ANY],
      run: (context, [value]) => {
        if (typeof value === 'number') return value;
        if (typeof value !== 'string') return null;
        context.spend(value.length / CHARS_PER_STEP);
        if (value.trim() === '') return null;
        const number = Number(value);
        return Number.isFinite(number) ? number : null;
      },
    },
  ],
  [
    'to_string',
    {
      parameters: [ANY],
      run: (context, [value]) => (typeof value === 'string' ? value : context.toJson(value)),
    },
  ],
  ['trim', trimmer((characters) => (value) => trimmedEnd(characters)(trimmedStart(characters)(value)))],
  ['trim_left', trimmer(trimmedStart)],
  ['trim_right', trimmer(trimmedEnd)],
  ['type', { parameters: [ANY], run: (_context, [value]) => typeName(value) }],
  ['upper', casing((value) => value.toUpperCase())],
  [
    'values',
    {
      parameters: [OBJECT],
      run: (context, [value]) => {
        const values = Object.values(record(value));
        context.spend(values.length);
        return values;
      },
    },
  ],
]);
