/** A login as it is kept: who issued it, for which server, to which client, and the tokens it gave. */

import { createHash, type JsonWebKey } from 'node:crypto';
import { isRecord } from '../lib/json-rpc.ts';

export interface StoredClient {
  readonly id: string;
  readonly secret?: string;
  /** How it proves itself at the token endpoint, when its registration says so. */
  readonly authMethod?: string;
  /** `configured`: by the person; `document`: a client id that is a url; `registered`: by ourselves. */
  readonly from: 'configured' | 'document' | 'registered';
  /** The redirect address it was registered with: some servers insist on its port. */
  readonly redirectUri?: string;
}

export interface StoredTokens {
  readonly access: string;
  readonly type: 'Bearer' | 'DPoP';
  readonly refresh?: string;
  readonly scope?: string;
  /** By our own clock, in milliseconds since the epoch. */
  readonly obtainedAt: number;
  readonly expiresAt?: number;
  /** Came in place of one that the server had refused. */
  readonly replacesRefused?: true;
}

/** What is needed of an authorization server's metadata after a login. */
export interface IssuerEndpoints {
  readonly token: string;
  readonly revocation?: string;
  readonly authMethods?: readonly string[];
}

/** Everything here belongs to one server url and one issuer; nothing of it is ever sent to another. */
export interface StoredLogin {
  readonly version: 1;
  /** Another one for each login, the same over renewals. */
  readonly id?: string;
  readonly url: string;
  readonly issuer: string;
  readonly endpoints: IssuerEndpoints;
  readonly resource?: string;
  readonly client?: StoredClient;
  readonly tokens?: StoredTokens;
  /** Every scope that was asked for so far, granted or not. */
  readonly asked?: string;
  /** How often more rights were asked for since the first login. */
  readonly stepUps?: number;
  /** The private key that the tokens are bound to. */
  readonly dpopKey?: JsonWebKey;
}

/** One spelling of a server's url, so that a changed url is another key and a fragment is not. */
export function canonicalUrl(url: string | URL): string {
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}

/** The resource indicator of a server that publishes none: its url without what may be secret in it. */
export function resourceIndicator(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return pathname === '/' ? origin : `${origin}${pathname}`;
}

/** Names files and keyring entries of one server: a url may hold secrets and any character. */
export function urlKey(url: string | URL): string {
  return createHash('sha256').update(canonicalUrl(url)).digest('hex').slice(0, 32);
}

export function serializeLogin(login: StoredLogin): string {
  return JSON.stringify(login);
}

/** Undefined for what is not a login of this very url: a foreign or damaged record counts as none. */
export function parseLogin(text: string | undefined, url: string): StoredLogin | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || value['version'] !== 1 || value['url'] !== canonicalUrl(url)) return undefined;
  const { issuer, endpoints, client, tokens } = value;
  if (typeof issuer !== 'string' || !isRecord(endpoints) || typeof endpoints['token'] !== 'string')
    return undefined;
  if (client !== undefined && (!isRecord(client) || typeof client['id'] !== 'string')) return undefined;
  if (tokens !== undefined && (!isRecord(tokens) || typeof tokens['access'] !== 'string')) return undefined;
  // The checks above are what our own writer guarantees; the rest is optional and read as it was written.
  return value as unknown as StoredLogin;
}

/** The login without some of its parts; parts are left out, never set to undefined. */
export function without<K extends 'tokens' | 'client' | 'dpopKey'>(
  login: StoredLogin,
  ...parts: readonly K[]
): StoredLogin {
  const copy: Partial<Record<keyof StoredLogin, unknown>> = { ...login };
  for (const part of parts) delete copy[part];
  return copy as StoredLogin;
}
