/** What is wrong inside a document: where, in one sentence, and whether the value still counts. */

import { nearest } from '../lib/nearest.ts';

/** Deeper than any entry can be; keeps recursion over values safe. */
export const MAX_CONFIG_DEPTH = 64;

export type JsonPath = readonly (string | number)[];

export type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

/** Something that is not as it has to be, at a place inside a document. */
export interface Fault {
  readonly path: JsonPath;
  /** Whether the key or its value is to be pointed at. */
  readonly at: 'key' | 'value';
  readonly message: string;
  readonly hint?: string;
  /** False: worth telling, and the value still counts. */
  readonly fatal: boolean;
  /** A key that looks like a slip of another. */
  readonly typo?: true;
}

export type Report = (fault: Fault) => void;

/** Unknown keys may be another program's; only one that looks like a slip is worth a word. */
export function reportTypo(name: string, path: JsonPath, known: Iterable<string>, report: Report): void {
  if (name.startsWith('x-')) return;
  const meant = nearest(name, known, 1)[0];
  if (meant === undefined) return;
  const message = `${showPath([...path, name])} is not a known key and has no effect.`;
  report({
    path: [...path, name],
    at: 'key',
    message,
    hint: `Did you mean "${meant}"?`,
    fatal: false,
    typo: true,
  });
}

/** A key that is known and means nothing where it stands. */
export function noEffect(path: JsonPath, where: string, hint: string): Fault {
  return { path, at: 'key', message: `${showPath(path)} has no effect ${where}.`, hint, fatal: false };
}

/** A value of the wrong kind. Tells it by its type only: it may be a secret in the wrong place. */
export function wrong(
  value: unknown,
  path: JsonPath,
  { expected, types }: { readonly expected: string; readonly types: readonly JsonType[] },
  hint?: string,
): Fault {
  const found = jsonType(value);
  const name = found === undefined ? `a ${typeof value}` : TYPE_NAMES[found];
  const contrast = found !== undefined && types.includes(found) ? '' : `, not ${name}`;
  const message = `${showPath(path)} must be ${expected}${contrast}.`;
  return { path, at: 'value', message, ...(hint === undefined ? {} : { hint }), fatal: true };
}

const TYPE_NAMES: Readonly<Record<JsonType, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
  array: 'a list',
  object: 'an object',
};

/** Undefined for what JSON does not have; entries given in code can hold anything. */
function jsonType(value: unknown): JsonType | undefined {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' || type === 'object' ? type : undefined;
}

/** A place inside an entry as a person would write it: `"oauth.scopes[1]"`. */
export function showPath(path: JsonPath): string {
  let shown = '';
  for (const segment of path) {
    if (typeof segment === 'number') shown += `[${segment}]`;
    else shown += shown === '' ? segment : `.${segment}`;
  }
  return JSON.stringify(shown);
}
