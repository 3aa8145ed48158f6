/** The states of a connection and the pure function that computes transitions (CON-7, CON-8). */

import { PlugboardError } from '../errors.ts';
import { BREAKER_COOL_DOWN_MS, BREAKER_FAILURES, backoffMs, STABLE_MS } from '../lib/retry.ts';

export type ConnectionState =
  | { readonly status: 'disabled' }
  | { readonly status: 'blocked'; readonly error: PlugboardError }
  | { readonly status: 'untrusted'; readonly error: PlugboardError }
  | { readonly status: 'idle' }
  | {
      readonly status: 'connecting';
      readonly since: number;
      readonly failures: number;
      /** The error of the previous attempt. */
      readonly last?: PlugboardError;
    }
  | {
      readonly status: 'connected';
      readonly since: number;
      readonly failures: number;
      readonly connectMs: number;
    }
  | { readonly status: 'disconnected' }
  | { readonly status: 'needs_auth'; readonly error: PlugboardError }
  | { readonly status: 'needs_client_registration'; readonly error: PlugboardError }
  | {
      readonly status: 'failed';
      readonly error: PlugboardError;
      readonly failures: number;
      /** Time of the automatic retry; absent: retried only on request. */
      readonly retryAt?: number;
      /** The circuit breaker is open: too many consecutive failures. */
      readonly breaker?: true;
    };

export type Status = ConnectionState['status'];

export type ConnectionEvent =
  | { readonly type: 'connect'; readonly at: number }
  /** `aheadMs`: how long the process had been running when it was opened. */
  | { readonly type: 'opened'; readonly at: number; readonly aheadMs?: number }
  | {
      readonly type: 'broke';
      readonly at: number;
      readonly error: PlugboardError;
      /** Whether an automatic retry makes sense for this failure. */
      readonly retry: boolean;
      /** 0 to 1: the position within the jitter. */
      readonly jitter: number;
    }
  /** The server forgot our session: reopens the same connection. */
  | { readonly type: 'renew'; readonly at: number }
  /** The server was idle: stopped until it is needed. */
  | { readonly type: 'rest' }
  | { readonly type: 'disconnect' };

export function transition(state: ConnectionState, event: ConnectionEvent): ConnectionState {
  // No connection event overrides the decision of a person or a policy.
  if (state.status === 'disabled' || state.status === 'blocked' || state.status === 'untrusted') return state;
  switch (event.type) {
    case 'connect':
      if (state.status === 'connected' || state.status === 'connecting') return state;
      return {
        status: 'connecting',
        since: event.at,
        ...(state.status === 'failed' ? { failures: state.failures, last: state.error } : { failures: 0 }),
      };
    case 'opened':
      if (state.status !== 'connecting') return state;
      return {
        status: 'connected',
        since: event.at,
        failures: state.failures,
        connectMs: event.at - state.since + (event.aheadMs ?? 0),
      };
    case 'broke':
      if (state.status !== 'connecting' && state.status !== 'connected') return state;
      return broken(state, event);
    case 'renew':
      if (state.status !== 'connected') return state;
      return { status: 'connecting', since: event.at, failures: state.failures };
    case 'rest':
      return state.status === 'connected' ? { status: 'idle' } : state;
    case 'disconnect':
      return { status: 'disconnected' };
    default:
      return event satisfies never;
  }
}

function broken(
  state: Extract<ConnectionState, { status: 'connecting' | 'connected' }>,
  event: Extract<ConnectionEvent, { type: 'broke' }>,
): ConnectionState {
  const { error } = event;
  if (error.code === 'UNTRUSTED') return { status: 'untrusted', error };
  if (error.code === 'BLOCKED_BY_POLICY') return { status: 'blocked', error };
  if (error.code === 'NEEDS_AUTH' || error.code === 'AUTH_FAILED') return { status: 'needs_auth', error };
  if (error.code === 'NEEDS_CLIENT_REGISTRATION') return { status: 'needs_client_registration', error };
  const stable = state.status === 'connected' && event.at - state.since >= STABLE_MS;
  const failures = stable ? 1 : state.failures + 1;
  if (!event.retry || error.detail.permanent) return { status: 'failed', error, failures };
  if (failures < BREAKER_FAILURES) {
    return { status: 'failed', error, failures, retryAt: event.at + backoffMs(failures, event.jitter) };
  }
  const seconds = BREAKER_COOL_DOWN_MS / 1000;
  return {
    status: 'failed',
    error: new PlugboardError(error.code, `${error.message} (failed ${failures} times in a row)`, {
      server: error.server,
      hint: error.hint ?? `It is left alone for ${seconds} s; fix the cause, then connect it again.`,
      cause: error.cause,
      detail: error.detail,
    }),
    failures,
    retryAt: event.at + BREAKER_COOL_DOWN_MS,
    breaker: true,
  };
}
