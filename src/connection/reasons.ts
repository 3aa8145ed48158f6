/** Errors for connections that are unavailable. */

import { PlugboardError } from '../errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import type { ConnectionState } from './state.ts';

export function gone(): PlugboardError {
  return new PlugboardError('CONNECTION_LOST', 'The server ended the connection');
}

export function startTimeout(server: string, ms: number, isProgram: boolean): PlugboardError {
  const example = isProgram ? ' (a first npx download does)' : '';
  return new PlugboardError('TIMEOUT', `${server} did not finish starting within ${ms / 1000} s`, {
    server,
    hint: `Raise startupTimeoutMs if it only needs longer${example}.`,
  });
}

/** Nothing is begun after a host was closed. */
export function hostClosed(server?: string): PlugboardError {
  return new PlugboardError('CANCELLED', 'The host was closed', {
    server,
    hint: { commands: 'Run the command again.', library: 'Make another one with createHost().' },
  });
}

/** Returns the hint for a request that timed out; `timeoutMs`: the caller's value that replaced `toolTimeoutMs`. */
export function timeoutHint({ code }: PlugboardError, timeoutMs?: number): string | undefined {
  if (code !== 'TIMEOUT') return undefined;
  return timeoutMs === undefined
    ? 'Raise toolTimeoutMs for servers that work long without progress.'
    : 'Raise the timeoutMs of the call for tools that work long without progress.';
}

/** The error for a connection that was closed on request. */
export function byRequest(server: string, what: string): PlugboardError {
  return new PlugboardError('CANCELLED', `${server} ${what}`, { server });
}

/** Returns the error that prevents a server from being started. */
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

/** Returns the error that prevents a call from reconnecting a server; a person can reconnect it. */
export function absenceOf(server: string, state: ConnectionState): PlugboardError | undefined {
  if (state.status === 'failed' && state.breaker) return state.error;
  if (state.status !== 'disconnected') return undefined;
  return new PlugboardError('CONNECTION_LOST', `${server} is disconnected`, {
    server,
    hint: 'Connect it again first.',
  });
}
