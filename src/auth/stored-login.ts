/** The stored form of a login: issuer, server url, client and tokens. */

import { createHash, type JsonWebKey } from 'node:crypto';
import { isRecord, parseRecord } from '../lib/json.ts';

export interface StoredClient {
  readonly id: string;
  readonly secret?: string;
  /** Authentication method at the token endpoint, if the registration defines one. */
  readonly authMethod?: string;
  /** `configured`: by the user; `document`: a client id that is a url; `registered`: by dynamic registration. */
  readonly from: 'configured' | 'document' | 'registered';
  /** The redirect address of the registration: some servers require the same port. */
  readonly redirectUri?: string;
}

export interface StoredTokens {
  readonly access: string;
  readonly type: 'Bearer' | 'DPoP';
  readonly refresh?: string;
  readonly scope?: string;
  /** By the local clock, in milliseconds since the epoch. */
  readonly obtainedAt: number;
  readonly expiresAt?: number;
  /** Set if it replaced a token that the server had refused. */
  readonly replacesRefused?: true;
}

/** The part of the authorization server's metadata that is needed after a login. */
export interface IssuerEndpoints {
  readonly token: string;
  readonly revocation?: string;
  readonly authMethods?: readonly string[];
}

/** A login belongs to one server url and one issuer; no part of it is ever sent to another. */
export interface StoredLogin {
  readonly version: 1;
  /** Differs for each login and survives renewals. */
  readonly id?: string;
  readonly url: string;
  readonly issuer: string;
  readonly endpoints: IssuerEndpoints;
  readonly resource?: string;
  readonly client?: StoredClient;
  readonly tokens?: StoredTokens;
  /** Every scope requested so far, granted or not. */
  readonly asked?: string;
  /** How often more scopes were requested since the first login. */
  readonly stepUps?: number;
  /** The private key that the tokens are bound to. */
  readonly dpopKey?: JsonWebKey;
}

/** Returns the url without its fragment, in normalized form, so that a changed url is another key. */
export function canonicalUrl(url: string | URL): string {
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}

/** Returns the resource indicator of a server that does not publish one: its url without parts that may be secret. */
export function resourceIndicator(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return pathname === '/' ? origin : `${origin}${pathname}`;
}

/** Returns the file and keyring key of one server. It is a hash because a url may contain secrets and any character. */
export function urlKey(url: string | URL): string {
  return createHash('sha256').update(canonicalUrl(url)).digest('hex').slice(0, 32);
}

export function serializeLogin(login: StoredLogin): string {
  return JSON.stringify(login);
}

/** Parses a login of this url; undefined for a damaged record or one of another url. */
export function parseLogin(text: string | undefined, url: string): StoredLogin | undefined {
  const value = parseRecord(text ?? '');
  if (value?.['version'] !== 1 || value['url'] !== canonicalUrl(url)) return undefined;
  const { issuer, endpoints, client, tokens } = value;
  if (typeof issuer !== 'string' || !isRecord(endpoints) || typeof endpoints['token'] !== 'string')
    return undefined;
  if (client !== undefined && (!isRecord(client) || typeof client['id'] !== 'string')) return undefined;
  if (tokens !== undefined && (!isRecord(tokens) || typeof tokens['access'] !== 'string')) return undefined;
  // Our writer guarantees the members checked above; the rest is optional.
  return value as unknown as StoredLogin;
}
