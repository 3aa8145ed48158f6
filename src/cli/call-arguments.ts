/** The arguments of `call`, from words to an object: `key=value`, `key:=json`, one JSON object, or `-` for stdin. */

import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { parseJson } from './json-argument.ts';
import { readStdin } from './read-stdin.ts';

type Arguments = Record<string, unknown>;
type Schema = Readonly<Record<string, unknown>>;

/** A word that gives one argument. Its text is made into a value when the tool's schema is known. */
export interface Assignment {
  readonly key: string;
  readonly text: string;
  readonly isJson: boolean;
}

export type CallInput = { readonly json: Arguments } | { readonly assignments: readonly Assignment[] };

const FORMS = `Write key=value, key:=json, one JSON object such as '{"path":"."}', or - to read one from stdin.`;

/** Everything that can be wrong without knowing the tool is said here, before any server is started. */
export async function readInput(words: readonly string[], stdin: AsyncIterable<Buffer>): Promise<CallInput> {
  const [first] = words;
  if (words.length === 1 && first === '-')
    return { json: objectFrom(await readStdin(stdin), 'What stdin gave') };
  if (words.length === 1 && first?.trimStart().startsWith('{')) {
    return { json: objectFrom(first, 'The argument') };
  }
  return { assignments: words.map(assignment) };
}

function objectFrom(text: string, what: string): Arguments {
  const value = parseJson(text, { what, hint: FORMS, code: 'INVALID_ARGUMENTS' });
  if (isRecord(value)) return value;
  throw new PlugboardError('INVALID_ARGUMENTS', `${what} has to be a JSON object.`, { hint: FORMS });
}

function assignment(word: string): Assignment {
  const at = word.indexOf('=');
  const isJson = at > 1 && word.charAt(at - 1) === ':';
  const key = word.slice(0, isJson ? at - 1 : at);
  if (at < 1 || key === '') {
    throw new PlugboardError('INVALID_ARGUMENTS', `"${word}" is not an argument.`, { hint: FORMS });
  }
  const text = word.slice(at + 1);
  if (isJson) parseValue(key, text);
  return { key, text, isJson };
}

function parseValue(key: string, text: string): unknown {
  return parseJson(text, {
    what: `The value of ${key}`,
    hint: `:= takes JSON; for plain text write ${key}=text.`,
    code: 'INVALID_ARGUMENTS',
  });
}

/** The values that the tool wants: a number property takes a number, a string stays a string. */
export function toArguments(input: CallInput, inputSchema: Schema): Arguments {
  if ('json' in input) return input.json;
  const properties = isRecord(inputSchema['properties']) ? inputSchema['properties'] : {};
  const args = new Map<string, unknown>();
  for (const { key, text, isJson } of input.assignments) {
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    args.set(key, isJson ? parseValue(key, text) : coerce(key, text, schema));
  }
  // From entries, so that a key called __proto__ is a key like any other.
  return Object.fromEntries(args);
}

function coerce(key: string, text: string, schema: unknown): unknown {
  const types = typesOf(schema);
  if (types.size === 0 || types.has('string')) return text;
  for (const type of ['integer', 'number', 'boolean', 'null', 'object', 'array'] as const) {
    if (!types.has(type)) continue;
    const value = READERS[type](text);
    if (value !== undefined) return value;
  }
  const wanted = [...types].join(' or ');
  throw new PlugboardError('INVALID_ARGUMENTS', `${key} takes ${article(wanted)}, not "${text}".`, {
    hint: `For another type write ${key}:=json.`,
  });
}

function article(type: string): string {
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

const READERS: Readonly<Record<JsonType, (text: string) => unknown>> = {
  integer: (text) =>
    /^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined,
  number: (text) => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined),
  boolean: (text) => ({ true: true, false: false })[text],
  null: (text) => (text === 'null' || text === '' ? null : undefined),
  object: (text) => ofJson(text, isRecord),
  array: (text) => ofJson(text, Array.isArray),
};

type JsonType = 'integer' | 'number' | 'boolean' | 'null' | 'object' | 'array';

function ofJson(text: string, accepts: (value: unknown) => boolean): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return accepts(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The types that a property's schema names, through unions and the values of an enum; none: anything goes. */
function typesOf(schema: unknown): Set<string> {
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
    // One branch that takes anything makes the union take anything.
    return each.some((types) => types.size === 0) ? new Set() : new Set(each.flatMap((types) => [...types]));
  }
  return new Set();
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}
