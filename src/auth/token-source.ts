/** What both kinds of tokens have in common: a person's login, and grants that a machine gets by itself. */

import { PlugboardError } from '../errors.ts';
import type { Wanted } from './challenge.ts';
import type { StoredTokens } from './stored-login.ts';

/** A token is renewed this long before it ends. */
const REFRESH_AHEAD_MS = 30_000;
/** Tokens that live shorter than a few of those are renewed in the last part of their life. */
const REFRESH_AHEAD_SHARE = 0.25;

export interface TokenSource {
  /** The token to send now. Synchronous while it is valid; undefined when there is none to send. */
  token(signal?: AbortSignal): StoredTokens | undefined | Promise<StoredTokens | undefined>;
  /** The server refused this access token (or that there was none). Resolves when another try makes sense. */
  refused(access: string | undefined, wanted: Wanted, signal?: AbortSignal): Promise<void>;
  /** The server wants more rights. Resolves when another try makes sense. */
  widen(access: string | undefined, wanted: Wanted, signal?: AbortSignal): Promise<void>;
}

/** True when a token is over, or so close to it that a call could find it so. */
export function isDue(tokens: StoredTokens, now: number): boolean {
  if (tokens.expiresAt === undefined) return false;
  const ahead = Math.min(REFRESH_AHEAD_MS, (tokens.expiresAt - tokens.obtainedAt) * REFRESH_AHEAD_SHARE);
  return now >= tokens.expiresAt - ahead;
}

export function isOver(tokens: StoredTokens, now: number): boolean {
  return tokens.expiresAt !== undefined && now >= tokens.expiresAt;
}

/** Waits for shared work no longer than this one caller wants to; the work itself goes on for the others. */
export async function waitFor<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void => reject(new PlugboardError('CANCELLED', 'Cancelled while waiting for a token.'));
    signal.addEventListener('abort', abort, { once: true });
    stop = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) abort();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop();
  }
}
