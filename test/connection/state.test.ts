import { describe, expect, it } from 'vitest';
import { type ConnectionEvent, type ConnectionState, transition } from '../../src/connection/state.ts';
import { PlugboardError } from '../../src/errors.ts';
import { BREAKER_COOL_DOWN_MS, BREAKER_FAILURES, backoffMs, STABLE_MS } from '../../src/lib/retry.ts';

const lost = new PlugboardError('CONNECTION_LOST', 'gone');
const broke = (
  error = lost,
  more: Partial<Extract<ConnectionEvent, { type: 'broke' }>> = {},
): ConnectionEvent => ({
  type: 'broke',
  at: 5_000,
  error,
  retry: true,
  jitter: 1,
  ...more,
});

const STATES: Record<ConnectionState['status'], ConnectionState> = {
  disabled: { status: 'disabled' },
  blocked: { status: 'blocked', error: lost },
  untrusted: { status: 'untrusted', error: lost },
  idle: { status: 'idle' },
  connecting: { status: 'connecting', since: 1_000, failures: 1 },
  connected: { status: 'connected', since: 1_000, failures: 1, connectMs: 7 },
  disconnected: { status: 'disconnected' },
  needs_auth: { status: 'needs_auth', error: lost },
  needs_client_registration: { status: 'needs_client_registration', error: lost },
  failed: { status: 'failed', error: lost, failures: 2, retryAt: 9_000 },
};

const EVENTS: Record<ConnectionEvent['type'], ConnectionEvent> = {
  connect: { type: 'connect', at: 4_000 },
  opened: { type: 'opened', at: 4_000 },
  broke: broke(),
  renew: { type: 'renew', at: 4_000 },
  rest: { type: 'rest' },
  disconnect: { type: 'disconnect' },
};

/** Where each event leads from each state; a dash: it stays exactly as it was. */
const TABLE: Record<ConnectionState['status'], Record<ConnectionEvent['type'], string>> = {
  disabled: row('-', '-', '-', '-', '-', '-'),
  blocked: row('-', '-', '-', '-', '-', '-'),
  untrusted: row('-', '-', '-', '-', '-', '-'),
  idle: row('connecting', '-', '-', '-', '-', 'disconnected'),
  connecting: row('-', 'connected', 'failed', '-', '-', 'disconnected'),
  connected: row('-', '-', 'failed', 'connecting', 'idle', 'disconnected'),
  disconnected: row('connecting', '-', '-', '-', '-', 'disconnected'),
  needs_auth: row('connecting', '-', '-', '-', '-', 'disconnected'),
  needs_client_registration: row('connecting', '-', '-', '-', '-', 'disconnected'),
  failed: row('connecting', '-', '-', '-', '-', 'disconnected'),
};

function row(
  ...[connect, opened, broke, renew, rest, disconnect]: string[]
): Record<ConnectionEvent['type'], string> {
  return { connect, opened, broke, renew, rest, disconnect } as Record<ConnectionEvent['type'], string>;
}

describe('states of a connection (CON-7)', () => {
  for (const [status, state] of Object.entries(STATES)) {
    for (const [type, event] of Object.entries(EVENTS)) {
      const expected = TABLE[status as ConnectionState['status']][type as ConnectionEvent['type']];
      it(`${status} + ${type} → ${expected === '-' ? 'unchanged' : expected}`, () => {
        const next = transition(state, event);
        if (expected === '-') expect(next).toBe(state);
        else expect(next.status).toBe(expected);
      });
    }
  }

  it('carries the number of failures and their reason through a retry and reports how long connecting took', () => {
    const connecting = transition(STATES.failed, { type: 'connect', at: 100 });
    expect(connecting).toEqual({ status: 'connecting', since: 100, failures: 2, last: lost });
    expect(transition(connecting, { type: 'opened', at: 130 })).toEqual({
      status: 'connected',
      since: 130,
      failures: 2,
      connectMs: 30,
    });
  });

  it.each([
    ['NEEDS_AUTH', 'needs_auth'],
    ['AUTH_FAILED', 'needs_auth'],
    ['NEEDS_CLIENT_REGISTRATION', 'needs_client_registration'],
  ] as const)('%s leads to %s and is not retried', (code, status) => {
    const error = new PlugboardError(code, 'log in');
    expect(transition(STATES.connecting, broke(error))).toEqual({ status, error });
  });

  // Protocol: 26-stdio-14
  it('F20: a lost server is tried again after a jittered, doubling wait of 250 ms to 30 s', () => {
    expect(transition(STATES.connecting, broke())).toEqual({
      status: 'failed',
      error: lost,
      failures: 2,
      retryAt: 5_000 + 500,
    });
    expect([1, 2, 3, 7, 8, 40].map((failures) => backoffMs(failures, 1))).toEqual([
      250, 500, 1_000, 16_000, 30_000, 30_000,
    ]);
    expect(backoffMs(3, 0)).toBe(500);
  });

  it('a connection that was stable resets the count', () => {
    const next = transition(
      { status: 'connected', since: 0, failures: 4, connectMs: 1 },
      broke(lost, { at: STABLE_MS }),
    );
    expect(next).toMatchObject({ status: 'failed', failures: 1 });
  });

  it('F18: a permanent failure is not retried', () => {
    const permanent = new PlugboardError('START_FAILED', 'no such command', { detail: { permanent: true } });
    expect(transition(STATES.connecting, broke(permanent))).toEqual({
      status: 'failed',
      error: permanent,
      failures: 2,
    });
    expect(transition(STATES.connecting, broke(lost, { retry: false }))).toEqual({
      status: 'failed',
      error: lost,
      failures: 2,
    });
  });

  it('F21: a crash loop opens the breaker, and the state shows it', () => {
    let state: ConnectionState = { status: 'connected', since: 0, failures: 0, connectMs: 1 };
    for (let crash = 1; crash < BREAKER_FAILURES; crash += 1) {
      state = transition(state, broke(lost, { at: 10 }));
      expect(state).not.toHaveProperty('breaker');
      state = transition(state, { type: 'connect', at: 10 });
      state = transition(state, { type: 'opened', at: 10 });
    }
    state = transition(state, broke(lost, { at: 10 }));
    expect(state).toMatchObject({
      status: 'failed',
      failures: BREAKER_FAILURES,
      breaker: true,
      retryAt: 10 + BREAKER_COOL_DOWN_MS,
      error: { message: 'gone (failed 5 times in a row)' },
    });
  });
});
