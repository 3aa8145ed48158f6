/** Entries in code: with `undefined` for missing values, and with headers from a function. */

import { isRecord, type JsonObject } from '../lib/json.ts';
import type { OAuthDetails, ServerEntry } from './entry.ts';

/** The request for which the headers of an entry are needed. */
export interface HeadersRequest {
  readonly server: string;
  readonly url: string;
  /** The server responded with 401 to this function's last headers: a cached token must be renewed. */
  readonly refused: boolean;
}

/**
 * Returns the headers of each request to a remote server. Called before every request and once more after a 401.
 *
 * @example
 * const headers = async ({ refused }) => ({ Authorization: `Bearer ${await token({ renew: refused })}` });
 */
export type HeadersFunction = (
  request: HeadersRequest,
) => Readonly<Record<string, string | undefined>> | Promise<Readonly<Record<string, string | undefined>>>;

type Values = Readonly<Record<string, string | undefined>>;

/** Allows `undefined` for optional members, which `exactOptionalPropertyTypes` otherwise rejects. */
type Missable<T> = {
  readonly [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K];
};

type Member<K, V> = K extends 'env'
  ? Values
  : K extends 'headers'
    ? Values | HeadersFunction
    : K extends 'oauth'
      ? boolean | Missable<OAuthDetails>
      : V;

type Given<T> = T extends unknown
  ? Missable<{ readonly [K in keyof T as K extends 'headersFrom' ? never : K]: Member<K, T[K]> }>
  : never;

/** A server in code: the keys of a file, where `undefined` means that a key is absent. */
export type GivenEntry = Given<ServerEntry>;

const OBJECTS: ReadonlySet<string> = new Set(['env', 'headers', 'oauth']);

/**
 * Converts the entry to the form of a file, and separates the function for its headers. Values of `env` that equal
 * those of this process are used literally.
 */
export function readGiven(value: JsonObject): {
  readonly value: JsonObject;
  readonly headersFrom: HeadersFunction | undefined;
} {
  const given: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined || (key === 'headers' && typeof member === 'function')) continue;
    given[key] = OBJECTS.has(key) && isRecord(member) ? present(member) : member;
    if (key === 'env' && isRecord(member)) given[key] = literal(present(member));
  }
  const { headers } = value;
  // The result is validated at each call.
  return {
    value: given,
    headersFrom: typeof headers === 'function' ? (headers as HeadersFunction) : undefined,
  };
}

function present(members: JsonObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
}

/** Values of `process.env` are not references: a `${…}` in them is escaped. */
function literal(env: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(env)) {
    if (typeof value === 'string' && value.includes('${') && process.env[name] === value)
      env[name] = value.replaceAll('${', '$${');
  }
  return env;
}
