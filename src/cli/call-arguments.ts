/** Parses the arguments of `call` into an object: `key=value`, `--key value`, `key:=json`, `key=@file`, JSON, stdin. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { errorCode } from '../lib/error-code.ts';
import { groupBy } from '../lib/group-by.ts';
import { isRecord } from '../lib/json.ts';
import { parseJsonArgument } from '../lib/json-argument.ts';
import { nearest } from '../lib/nearest.ts';
import { coerce, listFrom, refuseInexact, typesOf } from './argument-values.ts';
import { readStdin } from './read-stdin.ts';

type Arguments = Record<string, unknown>;
type Schema = Readonly<Record<string, unknown>>;

/** One argument from argv. Its text is converted when the tool's schema is known. */
export interface Assignment {
  readonly key: string;
  readonly text: string;
  readonly isJson: boolean;
  /** Written as `--key`, whose dashes may match underscores or camel case. */
  readonly isFlag: boolean;
  /** A flag without a value: a boolean. */
  readonly isBare?: boolean;
  /** The argument after a flag, if the flag turns out to be a boolean. */
  readonly spare?: Assignment | undefined;
}

export type CallInput = { readonly json: Arguments } | { readonly assignments: readonly Assignment[] };

const FORMS = `Write key=value, --key value, key:=json, key=@file (key=@- for stdin), one JSON object such as '{"path":"."}', or - to read one from stdin.`;

/** Parses argv, and reports every error that does not depend on the tool before any server is started. */
export async function readInput(
  words: readonly string[],
  { stdin, cwd }: { readonly stdin: AsyncIterable<Buffer>; readonly cwd: string },
): Promise<CallInput> {
  const [first] = words;
  if (words.length === 1 && first === '-') return { json: objectFrom(await readStdin(stdin), 'stdin') };
  if (words.length === 1 && first?.trimStart().startsWith('{')) {
    return { json: objectFrom(first, 'The argument') };
  }
  const piped = words.some((word) => FROM_STDIN.test(word)) ? await readStdin(stdin) : undefined;
  return { assignments: assignments(words, { cwd, piped }) };
}

const FROM_STDIN = /^[^=]+=@-$/;

interface Sources {
  readonly cwd: string;
  /** The contents of stdin, if an argument reads it. */
  readonly piped: string | undefined;
}

function assignments(words: readonly string[], from: Sources): Assignment[] {
  const found: Assignment[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const next = words[at + 1];
    if (!FLAG.test(word)) found.push(assignment(word, from));
    else if (word.includes('=')) found.push({ ...assignment(word.slice(2), from), isFlag: true });
    else if (next === undefined || FLAG.test(next)) found.push({ ...flagged(word, 'true'), isBare: true });
    else {
      found.push({ ...flagged(word, next), spare: spareOf(next, from) });
      at += 1;
    }
  }
  return found;
}

function flagged(word: string, text: string): Assignment {
  return { key: word.slice(2), text, isJson: false, isFlag: true };
}

/** In `--on text=hi`, only the schema shows whether --on takes a value. */
function spareOf(word: string, from: Sources): Assignment | undefined {
  if (!/^[\w.-]+:?=/.test(word)) return undefined;
  return attempt(() => assignment(word, from), undefined);
}

const FLAG = /^--[A-Za-z]/;

function objectFrom(text: string, what: string): Arguments {
  const value = parseJsonArgument(text, { what, hint: FORMS, code: 'INVALID_ARGUMENTS' });
  refuseInexact(text);
  if (isRecord(value)) return value;
  throw new PlugboardError('INVALID_ARGUMENTS', `${what} must be a JSON object`, { hint: FORMS });
}

function assignment(word: string, from: Sources): Assignment {
  if (word === '-' || word.trimStart().startsWith('{')) {
    const what = word === '-' ? '- (JSON on stdin)' : 'A JSON object';
    throw new PlugboardError('INVALID_ARGUMENTS', `${what} cannot be mixed with other arguments`, {
      hint: `Put all of them into the JSON, or write each one as key=value; key:='{"a":1}' gives one as JSON.`,
    });
  }
  const at = word.indexOf('=');
  const isJson = at > 1 && word.charAt(at - 1) === ':';
  const key = word.slice(0, isJson ? at - 1 : at);
  if (at < 1 || key === '') {
    throw new PlugboardError('INVALID_ARGUMENTS', `Cannot parse "${word}": expected key=value`, {
      hint: FORMS,
    });
  }
  const text = word.slice(at + 1);
  if (isJson) parseValue(key, text);
  else if (text.startsWith('@'))
    return { key, text: contentOf(key, text.slice(1), from), isJson, isFlag: false };
  return { key, text, isJson, isFlag: false };
}

function contentOf(key: string, file: string, { cwd, piped }: Sources): string {
  if (file === '-' && piped !== undefined) return piped;
  try {
    return readFileSync(resolve(cwd, file), 'utf8');
  } catch (cause) {
    const why = errorCode(cause) ?? 'unknown reason';
    throw new PlugboardError(
      'INVALID_ARGUMENTS',
      `${key}=@${file} takes a file that cannot be read (${why})`,
      {
        hint: `For a text that begins with @ write ${key}:='${JSON.stringify(`@${file}`)}'.`,
        cause,
      },
    );
  }
}

function parseValue(key: string, text: string): unknown {
  const value = parseJsonArgument(text, {
    what: `The value of ${key}`,
    hint: `:= takes JSON; for plain text write ${key}=text.`,
    code: 'INVALID_ARGUMENTS',
  });
  refuseInexact(text);
  return value;
}

/** Flags of `call` itself: without this list a misspelt one would be sent as an argument. */
const OWN_FLAGS: readonly string[] = ['timeout', 'yes', 'limit', 'output', 'save-images', 'json', 'verbose'];

/**
 * Builds the arguments with the types of the tool's schema: text for a number property becomes a number, a string stays
 * a string, and a repeated key makes a list. `note` is called for arguments that the schema does not name; `taker` is the
 * noun of messages for the owner of the schema.
 */
export function toArguments(
  input: CallInput,
  inputSchema: Schema,
  note: (message: string) => void,
  taker = 'tool',
): Arguments {
  if ('json' in input) return input.json;
  const properties = isRecord(inputSchema['properties']) ? inputSchema['properties'] : {};
  const settled = input.assignments.flatMap((one) => settleFlag(one, properties));
  const given = groupBy(settled, ({ key }) => key);
  const args = [...given].map(([key, all]): [string, unknown] => {
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    // An argument written as JSON is sent unchanged, whether its key is known or not.
    const isPlain = all.some(({ isJson }) => !isJson);
    const isFlag = all.some((each) => each.isFlag);
    if (schema === undefined && isPlain) checkKnown(key, { properties, given, isFlag, note, taker });
    return [key, givenValue(key, all, schema)];
  });
  // fromEntries treats a key called __proto__ as an ordinary key.
  return Object.fromEntries(args);
}

/** Maps a flag to its property; a boolean is true, or false as `--no-…`, and does not consume the next argument. */
function settleFlag(each: Assignment, properties: Schema): Assignment[] {
  if (!each.isFlag) return [each];
  const isSwitch = (key: string): boolean =>
    Object.hasOwn(properties, key) && typesOf(properties[key]).has('boolean');
  const key = propertyOf(each.key, properties);
  const off = /^no-(.+)$/.exec(each.key)?.[1];
  const denied = off === undefined ? undefined : propertyOf(off, properties);
  const takesNext = each.isBare !== true && each.spare === undefined;
  if (!takesNext && !Object.hasOwn(properties, key) && denied !== undefined && isSwitch(denied)) {
    return [{ ...each, key: denied, text: 'false' }, ...(each.spare === undefined ? [] : [each.spare])];
  }
  if (each.spare !== undefined && isSwitch(key)) return [{ ...each, key, text: 'true' }, each.spare];
  if (each.isBare === true && Object.hasOwn(properties, key) && !isSwitch(key)) {
    throw new PlugboardError('INVALID_ARGUMENTS', `--${each.key} needs a value`, {
      hint: `Write --${each.key} and the value after it, or ${key}=value.`,
    });
  }
  return [{ ...each, key }];
}

/** Matches `--max-results` to a property `max_results` or `maxResults`. */
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
  readonly taker: string;
}

/** Rejects an unknown key that resembles a known one; any other unknown key is sent, with a note. */
function checkKnown(key: string, { properties, given, isFlag, note, taker }: Unknown): void {
  const names = Object.keys(properties);
  if (names.length === 0 && !isFlag) return;
  const unused = names.filter((name) => !given.has(name));
  const [meant] = nearest(key, [...unused, ...(isFlag ? OWN_FLAGS : [])], 1);
  if (meant !== undefined) {
    const shown = isFlag ? `--${meant}` : `${meant}=…`;
    throw new PlugboardError('INVALID_ARGUMENTS', `The ${taker} has no argument "${key}"`, {
      hint: `Did you mean ${shown}? ${key}:=json sends it anyway.`,
    });
  }
  if (isFlag) {
    throw new PlugboardError('INVALID_ARGUMENTS', `The ${taker} has no argument "${key}"`, {
      hint: names.length === 0 ? 'It takes none.' : `It takes: ${names.join(', ')}.`,
    });
  }
  note(`note: the ${taker} does not declare an argument "${key}"; it is sent anyway`);
}

function givenValue(key: string, all: readonly Assignment[], schema: unknown): unknown {
  const [only, ...more] = all;
  const read = (each: Assignment, wanted: unknown, inList = false): unknown =>
    each.isJson
      ? parseValue(key, each.text)
      : each.isBare === true
        ? each.text === 'true'
        : coerce(key, each.text, wanted, inList);
  const isList = typesOf(schema).has('array');
  if (only !== undefined && more.length === 0 && (only.isJson || !isList)) return read(only, schema);
  if (only !== undefined && more.length === 0) {
    const whole = listFrom(only.text);
    if (whole !== undefined) return whole;
  }
  if (!isList && schema !== undefined) {
    throw new PlugboardError('INVALID_ARGUMENTS', `${key} is given ${all.length} times but takes one value`, {
      hint: `Give ${key} once.`,
    });
  }
  const items = isRecord(schema) ? schema['items'] : undefined;
  return all.map((each) => read(each, items, true));
}
