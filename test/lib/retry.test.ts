import { describe, expect, it } from 'vitest';
import { type ErrorCode, type ErrorDetail, PlugboardError } from '../../src/errors.ts';
import { backoffMs, decideRetry, listDelayMs, REATTACH, type RetriedRequest } from '../../src/lib/retry.ts';

const REQUESTS: readonly RetriedRequest[] = [
  'request',
  'list',
  'tool',
  'poll',
  'start',
  'probe',
  'era',
  'stream',
  'subscription',
  'renewal',
];

/** The decisions that differ from the usual ones: subscriptions and renewals are repeated, everything else fails. */
type Expected = Partial<Record<RetriedRequest, string>>;

const CASES: readonly (readonly [ErrorCode, ErrorDetail, Expected])[] = [
  [
    'CONNECTION_LOST',
    { httpStatus: 404, sessionExpired: true, notSent: true },
    { request: 'renew', poll: 'repeat', start: 'repeat', probe: 'repeat' },
  ],
  [
    'CONNECT_FAILED',
    { notSent: true },
    { request: 'reconnect', poll: 'repeat', start: 'repeat', stream: 'repeat' },
  ],
  ['CONNECT_FAILED', {}, { poll: 'repeat', start: 'repeat', stream: 'repeat' }],
  ['CONNECT_FAILED', { httpStatus: 503 }, { poll: 'repeat', start: 'repeat', stream: 'repeat' }],
  [
    'CONNECT_FAILED',
    { httpStatus: 429, retryAfterMs: 1_000 },
    { list: 'repeat', poll: 'repeat', start: 'repeat', stream: 'repeat' },
  ],
  ['CONNECT_FAILED', { httpStatus: 422 }, { poll: 'repeat', start: 'repeat' }],
  ['CONNECT_FAILED', { httpStatus: 400 }, { poll: 'repeat', start: 'repeat', era: 'repeat' }],
  [
    'CONNECTION_LOST',
    {},
    { request: 'check', poll: 'repeat', start: 'repeat', probe: 'repeat', stream: 'repeat' },
  ],
  ['TIMEOUT', {}, { start: 'repeat', stream: 'repeat' }],
  ['STORE_FAILED', {}, { start: 'repeat', renewal: 'repeat at once' }],
  ['NEEDS_AUTH', { httpStatus: 401 }, { request: 'disconnect', renewal: 'fail' }],
  ['NEEDS_AUTH', { httpStatus: 403 }, { renewal: 'fail' }],
  ['AUTH_FAILED', {}, { request: 'disconnect' }],
  ['NEEDS_CLIENT_REGISTRATION', {}, { request: 'disconnect' }],
  ['CANCELLED', {}, { renewal: 'fail' }],
  ['START_FAILED', {}, { probe: 'repeat' }],
  ['START_FAILED', { permanent: true }, {}],
  ['PROTOCOL_ERROR', {}, { era: 'repeat' }],
  ['PROTOCOL_ERROR', { rpcCode: -32601 }, { era: 'repeat', subscription: 'fail' }],
  ['PROTOCOL_ERROR', { rpcCode: -32020 }, { era: 'repeat', tool: 'reread tools' }],
  ['PROTOCOL_ERROR', { rpcCode: -32042 }, { era: 'repeat', tool: 'open urls' }],
  ['NOT_MCP', { httpStatus: 404 }, { era: 'repeat' }],
  ['BLOCKED_BY_POLICY', {}, {}],
];

describe('a failure of a request', () => {
  it.each(CASES)('CON-8: is decided by its code and facts: %s %j', (code, detail, expected) => {
    const error = new PlugboardError(code, 'failed', { detail });
    expect(Object.fromEntries(REQUESTS.map((request) => [request, decideRetry(request, error)]))).toEqual({
      ...Object.fromEntries(REQUESTS.map((request) => [request, 'fail'])),
      subscription: 'repeat',
      renewal: 'repeat',
      ...expected,
    });
  });

  it('CON-8: a start that timed out is repeated, a poll is not: its limit is the time that the caller accepted', () => {
    const error = new PlugboardError('TIMEOUT', 'tasks/get timed out');
    expect([decideRetry('start', error), decideRetry('poll', error)]).toEqual(['repeat', 'fail']);
  });
});

describe('delays', () => {
  it('CON-8: grow to their maximum, and never follow a server beyond a limit', () => {
    expect([1, 2, 3, 9, 40].map((failures) => backoffMs(failures, 1, REATTACH))).toEqual([
      50, 100, 200, 3_200, 3_200,
    ]);
    expect([listDelayMs(2_000, 0), listDelayMs(2_000, 1), listDelayMs(600_000, 0)]).toEqual([
      2_000, 2_500, 10_000,
    ]);
  });
});
