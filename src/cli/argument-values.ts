/** Converts the text of an argument to the type in the tool's schema: number, boolean, list and so on. */

import { PlugboardError } from '../errors.ts';
import { isRecord, type JsonObject, parseJson } from '../lib/json.ts';

/** Converts an argument's text to the type of its schema. `inList`: the text is one item of a list. */
export function coerce(key: string, text: string, schema: unknown, inList = false): unknown {
  const types = typesOf(schema);
  if (types.size === 0 || types.has('string')) return text;
  const value = valueFrom(text, types);
  if (value !== undefined) return value;
  if (!isExact(text.trim())) refuseInexact(text.trim());
  const wanted = [...types].join(' or ');
  throw new PlugboardError('INVALID_ARGUMENTS', `${key} takes ${takes(wanted, inList)}, not "${text}"`, {
    hint: inList ? listHint(key, text, schema) : `For example ${exampleOf(key, schema)}.`,
  });
}

function takes(wanted: string, inList: boolean): string {
  return inList ? `a list whose items are each ${article(wanted)}` : article(wanted);
}

/** `list=1,2` → `list=1 list=2`; other texts get an example. */
function listHint(key: string, text: string, schema: unknown): string {
  const parts = text.split(',').map((part) => part.trim());
  const given = parts.length > 1 ? parts.map((part) => valueFrom(part, typesOf(schema))) : [undefined];
  const items = given.includes(undefined) ? [exampleValue(schema)] : given;
  const words = items.map(
    (item) => `${key}=${typeof item === 'object' ? `'${JSON.stringify(item)}'` : item}`,
  );
  return `Write ${words.join(' ')}, or ${key}:='${JSON.stringify(items)}'.`;
}

function exampleOf(key: string, schema: unknown): string {
  const value = exampleValue(schema);
  return typeof value === 'object' && value !== null
    ? `${key}:='${JSON.stringify(value)}'`
    : `${key}=${String(value)}`;
}

function exampleValue(schema: unknown): unknown {
  const [first] = isRecord(schema) && Array.isArray(schema['enum']) ? schema['enum'] : [];
  const [type = 'object'] = typesOf(schema);
  return first ?? EXAMPLES[type] ?? EXAMPLES['object'];
}

const EXAMPLES: JsonObject = {
  integer: 2,
  number: 2.5,
  boolean: true,
  null: null,
  object: { key: 'value' },
  array: ['a'],
};

function valueFrom(text: string, types: ReadonlySet<string>): unknown {
  for (const type of ['integer', 'number', 'boolean', 'null', 'object', 'array'] as const) {
    if (!types.has(type)) continue;
    const value = READERS[type](text);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Parses a whole list given as JSON; undefined if the text is not a list. */
export function listFrom(text: string): unknown {
  return READERS.array(text);
}

function article(type: string): string {
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

const READERS: Readonly<Record<JsonType, (text: string) => unknown>> = {
  integer: (text) => (/^[+-]?\d+$/.test(text) && isExact(text) ? Number(text) : undefined),
  number: (text) =>
    text.trim() !== '' && Number.isFinite(Number(text)) && isExact(text.trim()) ? Number(text) : undefined,
  boolean: (text) => ({ true: true, false: false })[text],
  null: (text) => (text === 'null' || text === '' ? null : undefined),
  object: (text) => ofJson(text, isRecord),
  array: (text) => ofJson(text, Array.isArray),
};

type JsonType = 'integer' | 'number' | 'boolean' | 'null' | 'object' | 'array';

function ofJson(text: string, accepts: (value: unknown) => boolean): unknown {
  const value = parseJson(text);
  if (value === undefined || !accepts(value)) return undefined;
  refuseInexact(text);
  return value;
}

/** Returns the types that a property's schema allows, through unions and enum values; empty if any type is allowed. */
export function typesOf(schema: unknown): Set<string> {
  if (!isRecord(schema)) return new Set();
  const { type } = schema;
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((each) => typeof each === 'string'));
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  if (Array.isArray(values)) return new Set(values.map(typeOfValue));
  for (const key of ['anyOf', 'oneOf']) {
    const branches = schema[key];
    if (!Array.isArray(branches)) continue;
    const each = branches.map(typesOf);
    // If one branch accepts any type, the union accepts any type.
    return each.some((types) => types.size === 0) ? new Set() : new Set(each.flatMap((types) => [...types]));
  }
  return new Set();
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** Numbers with fewer digits are exact. */
const MANY_DIGITS = /\d{16}/;

/** False for an integer that would change when parsed. */
function isExact(text: string): boolean {
  if (!/^[+-]?\d+$/.test(text) || !MANY_DIGITS.test(text)) return true;
  const value = Number(text);
  return Number.isFinite(value) && BigInt(text.replace('+', '')) === BigInt(value);
}

/** @param json valid JSON, or one number */
export function refuseInexact(json: string): void {
  if (!MANY_DIGITS.test(json)) return;
  const inexact = numbersIn(json).find((number) => !isExact(number));
  if (inexact === undefined) return;
  throw new PlugboardError(
    'INVALID_ARGUMENTS',
    `${inexact} cannot be sent exactly: it has too many digits for a JSON number`,
    {
      hint: `Whole numbers are exact up to ${Number.MAX_SAFE_INTEGER}. If the tool takes text, write it in quotes: key:='"${inexact}"'.`,
    },
  );
}

/** Skips digits inside strings. */
function numbersIn(json: string): string[] {
  const found: string[] = [];
  const number = /[+-]?\d[\d.eE+-]*/y;
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '"') {
      for (at++; at < json.length && json[at] !== '"'; at++) if (json[at] === '\\') at++;
      continue;
    }
    number.lastIndex = at;
    const [text] = number.exec(json) ?? [];
    if (text === undefined) continue;
    found.push(text);
    at += text.length - 1;
  }
  return found;
}
