/** Faults inside a document: path, message, and whether the value is still used. */

import { defined } from '../lib/defined.ts';
import { nearest } from '../lib/nearest.ts';

/** Deeper than any entry; keeps recursion over values safe. */
export const MAX_CONFIG_DEPTH = 64;

export type JsonPath = readonly (string | number)[];

export type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

/** A problem at a path inside a document. */
export interface Fault {
  readonly path: JsonPath;
  /** Whether to point at the key or at its value. */
  readonly at: 'key' | 'value';
  readonly message: string;
  readonly hint?: string;
  /** False: a warning; the value is still used. */
  readonly fatal: boolean;
  /** The position inside a string value, in its characters. */
  readonly offset?: number;
  /** A key that looks like a misspelling of another. */
  readonly typo?: true;
}

export type Report = (fault: Fault) => void;

/** Reports an unknown key only if it looks like a misspelling: other unknown keys may belong to another program. */
export function reportTypo(name: string, path: JsonPath, known: Iterable<string>, report: Report): void {
  if (name.startsWith('x-')) return;
  const meant = nearest(name, known, 1)[0];
  if (meant === undefined) return;
  const message = `${showPath([...path, name])} is not a known key and has no effect`;
  report({
    path: [...path, name],
    at: 'key',
    message,
    hint: `Did you mean "${meant}"?`,
    fatal: false,
    typo: true,
  });
}

/** Returns the fault of a known key that has no effect at its path. */
export function noEffect(path: JsonPath, where: string, hint: string): Fault {
  return { path, at: 'key', message: `${showPath(path)} has no effect ${where}`, hint, fatal: false };
}

/** Returns the fault of a value of the wrong kind. Names only its type: the value may be a misplaced secret. */
export function wrong(
  value: unknown,
  path: JsonPath,
  { expected, types }: { readonly expected: string; readonly types: readonly JsonType[] },
  hint?: string,
): Fault {
  const found = jsonType(value);
  const name = found === undefined ? `a ${typeof value}` : TYPE_NAMES[found];
  const contrast = found !== undefined && types.includes(found) ? '' : `, not ${name}`;
  const message = `${showPath(path)} must be ${expected}${contrast}`;
  return fatalFault(path, message, hint);
}

const TYPE_NAMES: Readonly<Record<JsonType, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
  array: 'a list',
  object: 'an object',
};

/** Returns undefined for values outside of JSON; entries given in code can contain anything. */
function jsonType(value: unknown): JsonType | undefined {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' || type === 'object' ? type : undefined;
}

/** A fault that makes the entry, or the file, unusable. */
export function fatalFault(path: JsonPath, message: string, hint?: string, at: Fault['at'] = 'value'): Fault {
  return { path, at, message, ...defined({ hint }), fatal: true };
}

/** Formats a path inside an entry: `"oauth.scopes[1]"`. */
export function showPath(path: JsonPath): string {
  let shown = '';
  for (const segment of path) {
    if (typeof segment === 'number') shown += `[${segment}]`;
    else shown += shown === '' ? segment : `.${segment}`;
  }
  return JSON.stringify(shown);
}
