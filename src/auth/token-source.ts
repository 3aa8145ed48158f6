/** The interface of both token kinds: interactive logins and machine grants. */

import { PlugboardError } from '../errors.ts';
import { unlessAborted } from '../lib/waits.ts';
import type { RequiredAccess } from './challenge.ts';
import type { StoredTokens } from './stored-login.ts';

/** A token is renewed this long before it expires. */
const REFRESH_AHEAD_MS = 30_000;
/** Short-lived tokens are renewed in this last part of their lifetime. */
const REFRESH_AHEAD_SHARE = 0.25;

export interface TokenSource {
  /** The token to send now; undefined if there is none. Synchronous while it is valid. */
  token(signal?: AbortSignal): StoredTokens | undefined | Promise<StoredTokens | undefined>;
  /** Handles a refused (or missing) access token. Resolves if the request should be repeated. */
  refused(access: string | undefined, wanted: RequiredAccess, signal?: AbortSignal): Promise<void>;
  /** Handles a request for more scopes. Resolves if the request should be repeated. */
  widen(access: string | undefined, wanted: RequiredAccess, signal?: AbortSignal): Promise<void>;
}

/** True if a token has expired or expires so soon that a call in flight could be refused. */
export function isDue(tokens: StoredTokens, now: number): boolean {
  if (tokens.expiresAt === undefined) return false;
  const ahead = Math.min(REFRESH_AHEAD_MS, (tokens.expiresAt - tokens.obtainedAt) * REFRESH_AHEAD_SHARE);
  return now >= tokens.expiresAt - ahead;
}

export function isOver(tokens: StoredTokens, now: number): boolean {
  return tokens.expiresAt !== undefined && now >= tokens.expiresAt;
}

/** Waits for shared work until this caller aborts; the work continues for other callers. */
export function waitFor<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const error = (): Error => new PlugboardError('CANCELLED', 'Cancelled while waiting for a token');
  return unlessAborted(work, signal, error);
}
