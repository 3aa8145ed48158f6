/** Why a connection is not there, in words that a person can act on; and what its failures mean for trying again. */

import { PlugboardError } from '../errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import type { ConnectionState } from './state.ts';

export function gone(): PlugboardError {
  return new PlugboardError('CONNECTION_LOST', 'the server ended the connection');
}

export function startTimeout(server: string, ms: number): PlugboardError {
  return new PlugboardError('TIMEOUT', `${server} did not finish starting within ${ms / 1000} s`, {
    server,
    hint: 'Raise startupTimeoutMs if it only needs longer (a first npx download does).',
  });
}

/** What a person can do about a request that was given up; `timeoutMs`: what its caller gave in place of `toolTimeoutMs`. */
export function patienceHint({ code }: PlugboardError, timeoutMs?: number): string | undefined {
  if (code !== 'TIMEOUT') return undefined;
  return timeoutMs === undefined
    ? 'Raise toolTimeoutMs for servers that work long without progress.'
    : 'Raise the timeoutMs of the call for tools that work long without progress.';
}

/** Somebody ended it on purpose. */
export function byRequest(server: string, what: string): PlugboardError {
  return new PlugboardError('CANCELLED', `${server} ${what}`, { server });
}

/** What keeps a server from being started at all. */
export function refusalOf(
  server: string,
  state: ConnectionState,
  closed: boolean,
): PlugboardError | undefined {
  if (closed) return new PlugboardError('CONNECTION_LOST', `${server} was closed`, { server });
  if (state.status === 'disabled') {
    return new PlugboardError('BLOCKED_BY_POLICY', `${server} is disabled`, {
      server,
      hint: {
        commands: `Enable it with: plugboard enable ${shellWord(server)}`,
        library: 'Its entry has "enabled": false, or the person switched it off.',
      },
    });
  }
  return state.status === 'blocked' || state.status === 'untrusted' ? state.error : undefined;
}

/** What keeps a call from bringing a server back; a person can. */
export function absenceOf(server: string, state: ConnectionState): PlugboardError | undefined {
  if (state.status === 'failed' && state.breaker) return state.error;
  if (state.status !== 'disconnected') return undefined;
  return new PlugboardError('CONNECTION_LOST', `${server} is disconnected`, {
    server,
    hint: 'Connect it again first.',
  });
}

/** Failures that time may mend; what a server refuses for good is not among them. */
export function isOutage({ code }: PlugboardError): boolean {
  return ['CONNECT_FAILED', 'TIMEOUT', 'CONNECTION_LOST', 'STORE_FAILED'].includes(code);
}

/** Nobody listens at that address any more, and the request never left. */
export function isUnreachable({ code, detail }: PlugboardError): boolean {
  return code === 'CONNECT_FAILED' && detail.notSent === true;
}

/** The server no longer knows who we are. A 403 is not meant: it may be about this one tool. */
export function isSignedOut({ code, detail }: PlugboardError): boolean {
  const auth = code === 'NEEDS_AUTH' || code === 'AUTH_FAILED' || code === 'NEEDS_CLIENT_REGISTRATION';
  return auth && detail.httpStatus !== 403;
}
