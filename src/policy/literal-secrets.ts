/** Finds literal secrets in an entry with their paths, so that references can replace them. */

import { ENTRY_KEYS } from '../config/config-keys.ts';
import { partsOf } from '../config/reference.ts';
import { hideSecretsInText, isSecretName, looksLikeToken } from '../config/secret-shapes.ts';
import { isRecord } from '../lib/json.ts';
import { filling, HOLE, inArguments, inHeader, inUrl, inVariable } from './secret-values.ts';

type Raw = Readonly<Record<string, unknown>>;

export interface LiteralSecret {
  /** Path of the string: `['env', 'API_KEY']`, `['args', 2]`. */
  readonly path: readonly (string | number)[];
  /** The secret inside that string. */
  readonly value: string;
  /** A readable name: the variable or header, otherwise the key. */
  readonly name: string;
  /** False if references are not expanded there, so that none can replace it. */
  readonly replaceable: boolean;
}

/** Keys whose strings support references; `oauth.clientSecret` is removed before an entry is written. */
const READ: ReadonlySet<string> = new Set(['env', 'headers', 'args', 'url', 'command']);
/** A default in a reference is written to the file too; a shorter one is a setting. */
const MIN_FALLBACK_CHARS = 8;

/**
 * Returns the literal secrets of an entry as it would be written.
 *
 * @example
 * literalSecrets({ command: 'x', env: { API_KEY: 'sk-1234567890' } });
 * // [{ path: ['env', 'API_KEY'], value: 'sk-1234567890', name: 'API_KEY', replaceable: true }]
 */
export function literalSecrets(raw: Raw): LiteralSecret[] {
  const { env, headers, args, url, command } = raw;
  const words = Array.isArray(args) ? args.map(String) : [];
  return [
    ...members(env).flatMap(([name, value]) => found(['env', name], value, inVariable(name, value), name)),
    ...members(headers).flatMap(([name, value]) => {
      const [whole, credential] = inHeader(name, value);
      return found(['headers', name], value, [credential ?? whole ?? ''], name);
    }),
    ...inArguments(words).flatMap((secrets, at) =>
      found(['args', at], words[at] ?? '', secrets, flagBefore(words, at)),
    ),
    ...(typeof url === 'string' ? found(['url'], url, inUrl(url), 'url') : []),
    ...(typeof command === 'string'
      ? found(['command'], command, filling(command, hideSecretsInText(command, HOLE)), 'command')
      : []),
    ...others(raw),
  ];
}

/** Returns the entry with one of its secrets replaced. */
export function withReplaced(raw: Raw, { path, value }: LiteralSecret, reference: string): Raw {
  const [key = '', inner] = path;
  const member = raw[key];
  // A function, because `$` is special in a replacement text.
  const replaced = (text: unknown): string => String(text).replace(value, () => reference);
  if (inner === undefined) return { ...raw, [key]: replaced(member) };
  if (Array.isArray(member)) {
    return { ...raw, [key]: member.map((item: unknown, at) => (at === inner ? replaced(item) : item)) };
  }
  return isRecord(member) ? { ...raw, [key]: { ...member, [inner]: replaced(member[inner]) } } : raw;
}

/** Returns the first candidate that is a secret and not a reference. */
function found(
  path: LiteralSecret['path'],
  text: string,
  candidates: readonly string[],
  name: string,
): LiteralSecret[] {
  const value = candidates.find((each) => each.trim() !== '' && !each.includes('${'));
  if (value !== undefined) return [{ path, value, name, replaceable: READ.has(String(path[0])) }];
  const parts = partsOf(text);
  const written = parts.find(
    (part) =>
      part.kind === 'variable' &&
      part.fallback !== undefined &&
      (looksLikeToken(part.fallback) ||
        (part.fallback.length >= MIN_FALLBACK_CHARS && (isSecretName(part.name) || isSecretName(name)))),
  );
  if (written?.kind !== 'variable' || written.fallback === undefined) return [];
  return [{ path, value: `\${${written.name}:-${written.fallback}}`, name, replaceable: true }];
}

/** Searches unknown keys, which may contain secrets too; their strings do not support references. */
function others(raw: Raw): LiteralSecret[] {
  const look = (path: readonly (string | number)[], value: unknown): LiteralSecret[] => {
    const name = String(path.at(-1));
    if (typeof value === 'string') {
      const isSecret = (isSecretName(name) && value !== '') || looksLikeToken(value);
      return isSecret && !value.includes('${') ? [{ path, value, name, replaceable: false }] : [];
    }
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, member]) => look([...path, key], member));
  };
  return Object.entries(raw).flatMap(([key, value]) => (ENTRY_KEYS.has(key) ? [] : look([key], value)));
}

function members(value: unknown): [string, string][] {
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, text]): [string, string][] =>
    typeof text === 'string' ? [[name, text]] : [],
  );
}

/** Returns the option name for `--api-key abc` and `--api-key=abc`. */
function flagBefore(words: readonly string[], at: number): string {
  const own = /^-{1,2}([A-Za-z][\w.-]*)=/.exec(words[at] ?? '')?.[1];
  const before = /^-{1,2}([A-Za-z][\w.-]*)$/.exec(words[at - 1] ?? '')?.[1];
  return own ?? before ?? `args[${at}]`;
}
