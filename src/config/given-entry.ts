/** Entries as programs write them: with `undefined` where a value is missing, and with headers from a function. */

import { isRecord } from '../lib/json-rpc.ts';
import type { OAuthDetails, ServerEntry } from './entry.ts';

/** For which request the headers of an entry are wanted. */
export interface HeadersRequest {
  readonly server: string;
  readonly url: string;
  /** The server answered 401 to the headers that this function gave last: a cached token has to be renewed. */
  readonly refused: boolean;
}

/**
 * Gives the headers of each request to a remote server. It is called before every request and once more after a 401.
 *
 * @example
 * const headers = async ({ refused }) => ({ Authorization: `Bearer ${await token({ renew: refused })}` });
 */
export type HeadersFunction = (
  request: HeadersRequest,
) => Readonly<Record<string, string | undefined>> | Promise<Readonly<Record<string, string | undefined>>>;

type Values = Readonly<Record<string, string | undefined>>;

/** `undefined` in place of a missing value, as `exactOptionalPropertyTypes` tells them apart. */
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
 * The same entry as a file would have it, with the function for its headers apart. Values of `env` that are those
 * of this process are taken as they are, whatever they look like.
 */
export function readGiven(value: Readonly<Record<string, unknown>>): {
  readonly value: Readonly<Record<string, unknown>>;
  readonly headersFrom: HeadersFunction | undefined;
} {
  const given: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined || (key === 'headers' && typeof member === 'function')) continue;
    given[key] = OBJECTS.has(key) && isRecord(member) ? present(member) : member;
    if (key === 'env' && isRecord(member)) given[key] = literal(present(member));
  }
  const { headers } = value;
  // What it returns is checked at each call.
  return {
    value: given,
    headersFrom: typeof headers === 'function' ? (headers as HeadersFunction) : undefined,
  };
}

function present(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== undefined));
}

/** Values of `process.env` are not references: a `${…}` in them is kept as it is. */
function literal(env: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(env)) {
    if (typeof value === 'string' && value.includes('${') && process.env[name] === value)
      env[name] = value.replaceAll('${', '$${');
  }
  return env;
}
