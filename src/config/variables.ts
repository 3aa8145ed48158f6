/** Finds environment variables that entries refer to, and replaces them with references to stored values. */

import { isRecord, type JsonObject } from '../lib/json.ts';
import { PROJECT_REFERENCE } from './expand.ts';
import { partsIn, partsOf, REFERENCE_KEYS } from './reference.ts';

/**
 * Returns the names of all variables that an entry takes from the environment, each once.
 *
 * @example
 * variablesOf({ url: 'https://x.test/${TENANT}', bearerTokenEnvVar: 'TOKEN' }); // ['TENANT', 'TOKEN']
 */
export function variablesOf(raw: JsonObject): readonly string[] {
  const { envVars, headersFromEnv, bearerTokenEnvVar } = raw;
  const named = [
    ...(Array.isArray(envVars) ? envVars : []),
    ...(isRecord(headersFromEnv) ? Object.values(headersFromEnv) : []),
    bearerTokenEnvVar,
  ].filter((name) => typeof name === 'string');
  const parts = REFERENCE_KEYS.flatMap((key) => partsIn(raw[key]));
  const names = new Set([
    ...parts.flatMap((part) => (part.kind === 'variable' ? [part.name] : [])),
    ...named,
  ]);
  // Always the project root, regardless of the environment.
  names.delete(PROJECT_REFERENCE);
  return [...names];
}

/**
 * Returns the entry with `${input:NAME}` in place of these environment variables.
 *
 * @example
 * withStoredValues({ url: 'https://x.test', bearerTokenEnvVar: 'T' }, new Set(['T']));
 * // { url: 'https://x.test', headers: { Authorization: 'Bearer ${input:T}' } }
 */
export function withStoredValues(raw: JsonObject, names: ReadonlySet<string>): Record<string, unknown> {
  const entry: Record<string, unknown> = { ...raw };
  for (const key of REFERENCE_KEYS) {
    if (entry[key] !== undefined) entry[key] = replaceReferences(entry[key], names);
  }
  const { envVars, headersFromEnv, bearerTokenEnvVar } = raw;
  if (Array.isArray(envVars)) {
    const [stored, left] = split(envVars, (name) => names.has(String(name)));
    addPairs(
      entry,
      'env',
      stored.map((name) => [String(name), reference(String(name))]),
    );
    setOrDelete(entry, 'envVars', left.length === 0 ? undefined : left);
  }
  if (isRecord(headersFromEnv)) {
    const [stored, left] = split(Object.entries(headersFromEnv), ([, name]) => names.has(String(name)));
    addPairs(
      entry,
      'headers',
      stored.map(([header, name]) => [header, reference(String(name))]),
    );
    setOrDelete(entry, 'headersFromEnv', left.length === 0 ? undefined : Object.fromEntries(left));
  }
  if (typeof bearerTokenEnvVar === 'string' && names.has(bearerTokenEnvVar)) {
    addPairs(entry, 'headers', [['Authorization', `Bearer ${reference(bearerTokenEnvVar)}`]]);
    delete entry['bearerTokenEnvVar'];
  }
  return entry;
}

function replaceReferences(value: unknown, names: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return replaceInText(value, names);
  if (Array.isArray(value)) return value.map((item) => replaceReferences(item, names));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, replaceReferences(member, names)]),
  );
}

function replaceInText(text: string, names: ReadonlySet<string>): string {
  return partsOf(text)
    .map((part) => {
      switch (part.kind) {
        case 'literal':
          return part.text;
        case 'escape':
          return '$${';
        case 'variable':
          if (names.has(part.name)) return reference(part.name);
          return part.fallback === undefined ? `\${${part.name}}` : `\${${part.name}:-${part.fallback}}`;
        case 'foreign':
          return `\${${part.scheme}:${part.id}}`;
        default:
          return part satisfies never;
      }
    })
    .join('');
}

function reference(name: string): string {
  return `\${input:${name}}`;
}

function split<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function addPairs(
  entry: Record<string, unknown>,
  key: 'env' | 'headers',
  pairs: readonly (readonly [string, string])[],
): void {
  if (pairs.length === 0) return;
  entry[key] = { ...(isRecord(entry[key]) ? entry[key] : {}), ...Object.fromEntries(pairs) };
}

function setOrDelete(entry: Record<string, unknown>, key: string, value: unknown): void {
  if (value === undefined) delete entry[key];
  else entry[key] = value;
}
