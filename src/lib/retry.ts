/**
 * Decides after a failure: repeat, reconnect or give up. One table of failures and requests, and every delay and limit
 * of a retry.
 */

import type { PlugboardError } from '../errors.ts';
import {
  RPC_HEADER_MISMATCH,
  RPC_INVALID_PARAMS,
  RPC_INVALID_REQUEST,
  RPC_METHOD_NOT_FOUND,
  RPC_URL_ELICITATION_REQUIRED,
} from './json-rpc.ts';

/**
 * Kinds of requests, with the decisions that each can get:
 *
 * - `repeat`: send it again after a pause; `repeat at once`: without a pause;
 * - `renew`: open a new session now, and send it again there;
 * - `reconnect`: open a new connection after the backoff, and send it again there;
 * - `disconnect`: fail, and end the connection; `check`: fail, and check whether the connection still works;
 * - `reread tools`, `open urls`: do that first, then send it again;
 * - `fail`: give up.
 */
interface Decisions {
  /** Any request over a connection. */
  readonly request: 'renew' | 'reconnect' | 'disconnect' | 'check' | 'fail';
  /** A page of a list over one connection: safe to repeat. */
  readonly list: 'repeat' | 'fail';
  /** `tools/call`: repeated only if the server has certainly not run the tool. */
  readonly tool: 'reread tools' | 'open urls' | 'fail';
  /** `tasks/get`: safe to repeat. */
  readonly poll: 'repeat' | 'fail';
  /** The start of a remote server that was never connected. */
  readonly start: 'repeat' | 'fail';
  /** `server/discover` to a server of an unknown era, repeated as `initialize` to a new process. */
  readonly probe: 'repeat' | 'fail';
  /** A start in the remembered era, repeated with a negotiation. */
  readonly era: 'repeat' | 'fail';
  /** An event stream of the HTTP transport, resumed where it broke. */
  readonly stream: 'repeat' | 'fail';
  /** `subscriptions/listen`. */
  readonly subscription: 'repeat' | 'fail';
  /** A renewal of tokens before they expire. */
  readonly renewal: 'repeat' | 'repeat at once' | 'fail';
}

export type RetriedRequest = keyof Decisions;

interface Row {
  readonly failure: string;
  readonly applies: (error: PlugboardError) => boolean;
  /** A request that is missing here is decided by a later row. */
  readonly decisions: Partial<Decisions>;
}

const isUndelivered = (status: number | undefined): boolean =>
  status === undefined || status === 429 || status >= 500;

const AUTH_CODES: readonly string[] = ['NEEDS_AUTH', 'AUTH_FAILED', 'NEEDS_CLIENT_REGISTRATION'];

const REFUSAL_RPC_CODES: readonly (number | undefined)[] = [
  RPC_METHOD_NOT_FOUND,
  RPC_INVALID_PARAMS,
  RPC_INVALID_REQUEST,
];

/** The first row that applies and contains the request decides. */
const TABLE: readonly Row[] = [
  {
    failure: 'the server forgot our session',
    applies: ({ detail }) => detail.sessionExpired === true,
    // A stream belongs to its session, so it cannot be resumed in a new one.
    decisions: { request: 'renew', poll: 'repeat', start: 'repeat', probe: 'repeat', stream: 'fail' },
  },
  {
    failure: 'the server is busy and named a delay',
    applies: ({ detail }) => detail.retryAfterMs !== undefined,
    decisions: { list: 'repeat' },
  },
  {
    failure: 'the server cannot be reached, and the request was not sent',
    applies: ({ code, detail }) => code === 'CONNECT_FAILED' && detail.notSent === true,
    decisions: { request: 'reconnect' },
  },
  {
    failure: 'no connection, 429 or a server error',
    applies: ({ code, detail }) => code === 'CONNECT_FAILED' && isUndelivered(detail.httpStatus),
    decisions: { poll: 'repeat', start: 'repeat', stream: 'repeat' },
  },
  {
    failure: 'a request that is invalid for the server',
    applies: ({ detail }) => detail.httpStatus === 400,
    decisions: { era: 'repeat' },
  },
  {
    failure: 'another HTTP status',
    applies: ({ code }) => code === 'CONNECT_FAILED',
    decisions: { poll: 'repeat', start: 'repeat' },
  },
  {
    failure: 'the connection broke',
    applies: ({ code }) => code === 'CONNECTION_LOST',
    // The transport may not notice that a server ended for good: reading the list again does.
    decisions: { request: 'check', poll: 'repeat', start: 'repeat', probe: 'repeat', stream: 'repeat' },
  },
  {
    failure: 'no response in time',
    applies: ({ code }) => code === 'TIMEOUT',
    // A start or a stream has a limit of our own. The limit of a poll is the caller's `toolTimeoutMs`: repeating it
    // would multiply the time that the caller accepted.
    decisions: { poll: 'fail', start: 'repeat', stream: 'repeat' },
  },
  {
    failure: 'the credential store failed',
    applies: ({ code }) => code === 'STORE_FAILED',
    // A store does not limit attempts.
    decisions: { start: 'repeat', renewal: 'repeat at once' },
  },
  {
    failure: 'the server no longer accepts our credentials',
    // Not 403, which may concern a single tool.
    applies: ({ code, detail }) => AUTH_CODES.includes(code) && detail.httpStatus !== 403,
    decisions: { request: 'disconnect' },
  },
  {
    failure: 'a person has to log in, or cancelled it',
    applies: ({ code }) => code === 'NEEDS_AUTH' || code === 'CANCELLED',
    decisions: { renewal: 'fail' },
  },
  {
    failure: 'the process exited before its first message',
    applies: ({ code, detail }) => code === 'START_FAILED' && detail.permanent !== true,
    decisions: { probe: 'repeat' },
  },
  {
    failure: 'the definition of the tool changed on the server',
    applies: ({ detail }) => detail.rpcCode === RPC_HEADER_MISMATCH,
    decisions: { tool: 'reread tools' },
  },
  {
    failure: 'a person has to open a URL first',
    applies: ({ detail }) => detail.rpcCode === RPC_URL_ELICITATION_REQUIRED,
    decisions: { tool: 'open urls' },
  },
  {
    failure: 'the server refuses the method',
    applies: ({ detail }) => REFUSAL_RPC_CODES.includes(detail.rpcCode),
    decisions: { subscription: 'fail' },
  },
  {
    failure: 'a response that does not match the era',
    applies: ({ code }) => code === 'PROTOCOL_ERROR' || code === 'NOT_MCP',
    decisions: { era: 'repeat' },
  },
];

/** Decisions for every other failure. */
const OTHERWISE: Decisions = {
  request: 'fail',
  list: 'fail',
  tool: 'fail',
  poll: 'fail',
  start: 'fail',
  probe: 'fail',
  era: 'fail',
  stream: 'fail',
  // Calls work without a subscription, and a valid token is used until it expires: neither is ever given up.
  subscription: 'repeat',
  renewal: 'repeat',
};

/** Returns what follows from a failure of this kind of request. */
export function decideRetry<R extends RetriedRequest>(request: R, error: PlugboardError): Decisions[R] {
  for (const { applies, decisions } of TABLE) {
    const decision = decisions[request];
    if (decision !== undefined && applies(error)) return decision;
  }
  return OTHERWISE[request];
}

/** True if the server no longer accepts our credentials; false for 403, which may concern a single tool. */
export function isSignedOut(error: PlugboardError): boolean {
  return decideRetry('request', error) === 'disconnect';
}

// Delays: each grows from `firstMs` to `maxMs`.

export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Reconnects, and new subscriptions. */
export const RECONNECT: Backoff = { firstMs: 250, maxMs: 30_000 };
/** Resumed streams, unless the server names a delay. */
export const RESUME: Backoff = { firstMs: 500, maxMs: 30_000 };
/** Sessions with another daemon. */
export const REATTACH: Backoff = { firstMs: 50, maxMs: 3_200 };

/**
 * Returns the delay after so many consecutive failures. Half fixed, half random (`jitter`, 0 to 1), so that servers or
 * clients that failed together do not retry together.
 */
export function backoffMs(failures: number, jitter: number, { firstMs, maxMs }: Backoff = RECONNECT): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, 20));
  return Math.round(full * (0.5 + jitter / 2));
}

/** Returns the delay before a list is read again, from the server's Retry-After; `jitter`: 0 to 1. */
export function listDelayMs(retryAfterMs: number, jitter: number): number {
  return Math.min(retryAfterMs, MAX_LIST_DELAY_MS) * (1 + jitter / 4);
}

/** The longest delay that a server can request with `retry:` or Retry-After. */
export const MAX_ASKED_DELAY_MS: number = 15 * 60_000;
const MAX_LIST_DELAY_MS = 10_000;
/** Delay before the next attempt after a renewal of tokens without an answer. */
export const RENEWAL_DELAY_MS = 5_000;

// Limits.

/** Consecutive failures that open the circuit breaker of a connection. */
export const BREAKER_FAILURES = 5;
/** With the breaker open, one retry after this time. */
export const BREAKER_COOL_DOWN_MS = 60_000;
/** A connection that lasted this long was stable: its loss resets the failure count. */
export const STABLE_MS = 10_000;
/** Attempts to read a list from a busy server. */
export const MAX_LIST_TRIES = 4;
/** Consecutive attempts to poll a task while the connection is down. */
export const MAX_POLL_TRIES = 5;
/** Consecutive attempts to resume a stream without a new event. */
export const MAX_RESUMES = 5;
/** Attempts to attach to a daemon. */
export const MAX_REATTACH_TRIES = 6;
