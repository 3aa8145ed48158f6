/** Finds the secret values of an entry, which are redacted in all output about its server (POL-7). */

import { isRemote, isStdio, type RemoteEntry, type ServerEntry, type StdioEntry } from '../config/entry.ts';
import type { Environment } from '../config/expand.ts';
import {
  hideSecretsInArgs,
  hideSecretsInUrl,
  isSecretName,
  looksLikeToken,
} from '../config/secret-shapes.ts';
import { attempt } from '../lib/attempt.ts';

/** Placeholder for a secret; arguments cannot contain it. */
export const HOLE = '\u0000';
/** An unexpanded variable, which only names the source of a value. */
const REFERENCE = /^\$\{[^}]*\}$/;
/** Minimum length of a value without a revealing name to be treated as a secret instead of a setting. */
const MIN_UNNAMED_CHARS = 8;

/**
 * Returns the secrets in an expanded entry.
 *
 * @example
 * secretValues({ command: 'x', env: { API_KEY: 'abcd1234', LEVEL: 'debug' } }, process.env); // ['abcd1234']
 */
export function secretValues(entry: ServerEntry, env: Environment): string[] {
  const values = isStdio(entry) ? ofProcess(entry, env) : isRemote(entry) ? ofRemote(entry, env) : [];
  return [...new Set(values.filter((value) => value.trim() !== ''))];
}

function ofProcess(entry: StdioEntry, env: Environment): string[] {
  const passed = entry.inheritEnv === true ? Object.keys(env) : (entry.envVars ?? []);
  const pairs = [
    ...Object.entries(entry.env ?? {}),
    ...passed.map((name): [string, string] => [name, env[name] ?? '']),
  ];
  return [
    ...pairs.flatMap(([name, value]) => inVariable(name, value)),
    ...inArguments(entry.args ?? []).flat(),
  ];
}

function ofRemote(entry: RemoteEntry, env: Environment): string[] {
  const named = [...Object.values(entry.headersFromEnv ?? {}), entry.bearerTokenEnvVar ?? ''];
  const { oauth } = entry;
  return [
    ...Object.entries(entry.headers ?? {}).flatMap(([name, value]) => inHeader(name, value)),
    ...named.map((name) => env[name] ?? ''),
    ...(typeof oauth === 'object' && oauth.clientSecret !== undefined ? [oauth.clientSecret] : []),
    ...inUrl(entry.url),
  ];
}

/** Returns the secrets of a header; for `Bearer abc` also the credential alone. */
export function inHeader(name: string, value: string): string[] {
  const credential = /^(?:bearer|basic|token|dpop)\s+(\S.*)$/i.exec(value)?.[1];
  if (credential !== undefined) return [value, credential];
  return isSecretName(name) || isUnlikelySetting(value) ? [value, ...passwordsIn(value)] : passwordsIn(value);
}

export function inVariable(name: string, value: string): string[] {
  if (isSecretName(name)) return [value, ...passwordsIn(value)];
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return inUrl(value);
  return isUnlikelySetting(value) ? [value, ...passwordsIn(value)] : passwordsIn(value);
}

/**
 * True unless it is a word, number, path or list of these: `debug`, `8080`, `/usr/bin:/bin`, `eu-west-1` may be shown.
 */
function isUnlikelySetting(value: string): boolean {
  if (looksLikeToken(value)) return true;
  if (value.length < MIN_UNNAMED_CHARS || /[/\\]/.test(value)) return false;
  return (
    !/^[\w.@-]*$/.test(value) ||
    (/\d/.test(value) && /[A-Za-z]/.test(value) && !/^[a-z0-9.]+(?:[-_.][a-z0-9.]+)*$/.test(value))
  );
}

/** Returns the secrets of each argument. */
export function inArguments(args: readonly string[]): string[][] {
  return hideSecretsInArgs(args, HOLE).map((hidden, at) => {
    const word = args[at] ?? '';
    return [...filling(word, hidden), ...passwordsIn(word)];
  });
}

export function inUrl(url: string): string[] {
  const found = filling(url, hideSecretsInUrl(url, HOLE));
  return [...found.flatMap((value) => [value, decoded(value)]), ...passwordsIn(url)];
}

/**
 * Returns the second half of `user:password@` in every url of a text, because programs print it alone. The first half
 * is a name, and names such as `postgres` or `admin` occur in ordinary sentences too. Without a colon the whole is the
 * secret, a token.
 */
export function passwordsIn(text: string): string[] {
  const authorities = text.split('://').slice(1);
  return authorities.flatMap((rest) => {
    const [word = ''] = rest.split(/[\s"'<>]/, 1);
    const [plain = ''] = word.split(/[/?#]/, 1);
    // Up to the last `@`: a password may contain one, and users often do not encode it.
    const userinfo = [plain, word].map((part) => part.slice(0, Math.max(part.lastIndexOf('@'), 0)));
    return userinfo.flatMap((part) => {
      const at = part.indexOf(':');
      const password = part.slice(at + 1);
      const isHost =
        part !== userinfo[0] && (at === -1 || /[/?#]/.test(part.slice(0, at)) || /^\d+[/?#]/.test(password));
      return isHost || REFERENCE.test(password) ? [] : [password, decoded(password)];
    });
  });
}

/** Returns the texts that the placeholders replaced. */
export function filling(text: string, hidden: string): string[] {
  if (text === hidden) return [];
  const parts = hidden.split(HOLE);
  const found: string[] = [];
  let at = parts[0]?.length ?? 0;
  for (const [index, part] of parts.slice(1).entries()) {
    const isLast = index === parts.length - 2;
    const end = isLast ? text.length - part.length : text.indexOf(part, at);
    // Two adjacent placeholders cannot be separated: the rest is returned as one.
    if (end < at || (part === '' && !isLast)) return [text.slice(parts[0]?.length ?? 0)];
    found.push(text.slice(at, end));
    at = end + part.length;
  }
  return found;
}

function decoded(text: string): string {
  return attempt(() => decodeURIComponent(text), text);
}
