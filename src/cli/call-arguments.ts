/** The arguments of `call`, from words to an object: `key=value`, `--key value`, `key:=json`, `key=@file`, JSON, stdin. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { nearest } from '../lib/nearest.ts';
import { parseJson } from './json-argument.ts';
import { readStdin } from './read-stdin.ts';

type Arguments = Record<string, unknown>;
type Schema = Readonly<Record<string, unknown>>;

/** A word that gives one argument. Its text is made into a value when the tool's schema is known. */
export interface Assignment {
  readonly key: string;
  readonly text: string;
  readonly isJson: boolean;
  /** Written as `--key`, where dashes may mean underscores or capitals. */
  readonly isFlag: boolean;
}

export type CallInput = { readonly json: Arguments } | { readonly assignments: readonly Assignment[] };

const FORMS = `Write key=value, --key value, key:=json, key=@file, one JSON object such as '{"path":"."}', or - to read one from stdin.`;

/** Everything that can be wrong without knowing the tool is said here, before any server is started. */
export async function readInput(
  words: readonly string[],
  { stdin, cwd }: { readonly stdin: AsyncIterable<Buffer>; readonly cwd: string },
): Promise<CallInput> {
  const [first] = words;
  if (words.length === 1 && first === '-') return { json: objectFrom(await readStdin(stdin), 'stdin') };
  if (words.length === 1 && first?.trimStart().startsWith('{')) {
    return { json: objectFrom(first, 'The argument') };
  }
  return { assignments: assignments(words, cwd) };
}

function assignments(words: readonly string[], cwd: string): Assignment[] {
  const found: Assignment[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const next = words[at + 1];
    if (!FLAG.test(word)) found.push(assignment(word, cwd));
    else if (word.includes('=')) found.push({ ...assignment(word.slice(2), cwd), isFlag: true });
    // A flag without a value is a switch.
    else if (next === undefined || FLAG.test(next)) found.push(flagged(word, 'true'));
    else {
      found.push(flagged(word, next));
      at += 1;
    }
  }
  return found;
}

function flagged(word: string, text: string): Assignment {
  return { key: word.slice(2), text, isJson: false, isFlag: true };
}

const FLAG = /^--[A-Za-z]/;

function objectFrom(text: string, what: string): Arguments {
  const value = parseJson(text, { what, hint: FORMS, code: 'INVALID_ARGUMENTS' });
  if (isRecord(value)) return value;
  throw new PlugboardError('INVALID_ARGUMENTS', `${what} has to be a JSON object.`, { hint: FORMS });
}

function assignment(word: string, cwd: string): Assignment {
  const at = word.indexOf('=');
  const isJson = at > 1 && word.charAt(at - 1) === ':';
  const key = word.slice(0, isJson ? at - 1 : at);
  if (at < 1 || key === '') {
    throw new PlugboardError('INVALID_ARGUMENTS', `Cannot parse "${word}": expected key=value.`, {
      hint: FORMS,
    });
  }
  const text = word.slice(at + 1);
  if (isJson) parseValue(key, text);
  else if (text.startsWith('@'))
    return { key, text: contentOf(key, text.slice(1), cwd), isJson, isFlag: false };
  return { key, text, isJson, isFlag: false };
}

function contentOf(key: string, file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8');
  } catch (cause) {
    const why = errorCode(cause) ?? 'unknown reason';
    throw new PlugboardError(
      'INVALID_ARGUMENTS',
      `${key}=@${file} takes a file that cannot be read (${why}).`,
      {
        hint: `For a text that begins with @ write ${key}:='${JSON.stringify(`@${file}`)}'.`,
        cause,
      },
    );
  }
}

function parseValue(key: string, text: string): unknown {
  return parseJson(text, {
    what: `The value of ${key}`,
    hint: `:= takes JSON; for plain text write ${key}=text.`,
    code: 'INVALID_ARGUMENTS',
  });
}

/** What `call` takes itself: a misspelt one of these would be taken for an argument. */
const OWN_FLAGS: readonly string[] = ['timeout', 'yes', 'limit', 'output', 'save-images', 'json', 'verbose'];

/**
 * The values that the tool wants: a number property takes a number, a string stays a string, a key that is given
 * several times makes a list. `note` is called for arguments that the tool does not name.
 */
export function toArguments(
  input: CallInput,
  inputSchema: Schema,
  note: (message: string) => void,
): Arguments {
  if ('json' in input) return input.json;
  const properties = isRecord(inputSchema['properties']) ? inputSchema['properties'] : {};
  const given = new Map<string, Assignment[]>();
  for (const each of input.assignments) {
    const key = each.isFlag ? propertyOf(each.key, properties) : each.key;
    given.set(key, [...(given.get(key) ?? []), each]);
  }
  const args = [...given].map(([key, all]): [string, unknown] => {
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    // Written as JSON it is sent as it is, whatever it is called.
    const isPlain = all.some(({ isJson }) => !isJson);
    const isFlag = all.some((each) => each.isFlag);
    if (schema === undefined && isPlain) checkKnown(key, { properties, given, isFlag, note });
    return [key, givenValue(key, all, schema)];
  });
  // From entries, so that a key called __proto__ is a key like any other.
  return Object.fromEntries(args);
}

/** `--max-results` for a property `max_results` or `maxResults`. */
function propertyOf(key: string, properties: Schema): string {
  if (Object.hasOwn(properties, key)) return key;
  const plain = (name: string): string => name.replace(/[-_]/g, '').toLowerCase();
  const same = Object.keys(properties).filter((name) => plain(name) === plain(key));
  return same.length === 1 ? (same[0] ?? key) : key;
}

interface Unknown {
  readonly properties: Schema;
  readonly given: ReadonlyMap<string, unknown>;
  readonly isFlag: boolean;
  readonly note: (message: string) => void;
}

/** A key that the tool does not name is probably misspelt; one that is like no other is sent, with a note. */
function checkKnown(key: string, { properties, given, isFlag, note }: Unknown): void {
  const names = Object.keys(properties);
  if (names.length === 0 && !isFlag) return;
  const unused = names.filter((name) => !given.has(name));
  const [meant] = nearest(key, [...unused, ...(isFlag ? OWN_FLAGS : [])], 1);
  if (meant !== undefined) {
    const shown = isFlag ? `--${meant}` : `${meant}=…`;
    throw new PlugboardError('INVALID_ARGUMENTS', `The tool has no argument "${key}".`, {
      hint: `Did you mean ${shown}? ${key}:=json sends it all the same.`,
    });
  }
  if (isFlag) {
    throw new PlugboardError('INVALID_ARGUMENTS', `The tool has no argument "${key}".`, {
      hint: names.length === 0 ? 'It takes none.' : `It takes: ${names.join(', ')}.`,
    });
  }
  note(`note: the tool does not name an argument "${key}"; it is sent as it is`);
}

function givenValue(key: string, all: readonly Assignment[], schema: unknown): unknown {
  const [only, ...more] = all;
  const read = (each: Assignment, wanted: unknown): unknown =>
    each.isJson ? parseValue(key, each.text) : coerce(key, each.text, wanted);
  const isList = typesOf(schema).has('array');
  if (only !== undefined && more.length === 0 && (only.isJson || !isList)) return read(only, schema);
  if (only !== undefined && more.length === 0) {
    const whole = READERS.array(only.text);
    if (whole !== undefined) return whole;
  }
  if (!isList && schema !== undefined) {
    throw new PlugboardError(
      'INVALID_ARGUMENTS',
      `${key} is given ${all.length} times, and takes one value.`,
      {
        hint: `Give ${key} once.`,
      },
    );
  }
  const items = isRecord(schema) ? schema['items'] : undefined;
  return all.map((each) => read(each, items));
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
    hint: `Write it as JSON: ${key}:='${EXAMPLES[[...types][0] ?? ''] ?? '{"a":1}'}'`,
  });
}

const EXAMPLES: Readonly<Record<string, string>> = {
  integer: '2',
  number: '2.5',
  boolean: 'true',
  null: 'null',
  object: '{"key":"value"}',
  array: '["a"]',
};

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
