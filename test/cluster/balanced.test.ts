import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { balance, CLIENTS, callDuring, killInTurn } from './balanced.ts';
import { until, type World, worlds } from './replicas.ts';

const world = worlds();
const SLOW_MS = 120_000;
/** Calls between two events. */
const PROGRESS = 60;

/** Resolves when servers ran more calls than now. */
function progressOf(made: World): () => Promise<void> {
  const count = (): number =>
    existsSync(made.calls) ? readFileSync(made.calls, 'utf8').split('\n').length : 0;
  return async () => {
    const before = count();
    await until(() => count() >= before + PROGRESS, 'progress');
  };
}

describe('three replicas behind round robin', { timeout: SLOW_MS }, () => {
  it.each(['nginx', 'haproxy'] as const)(
    'SRV-7, F68: behind %s, every call has its own result',
    async (balancer) => {
      const made = await world();
      const balanced = await balance(made, balancer);
      const { ok, ran, ...others } = await callDuring(made, balanced, progressOf(made));
      expect(others).toEqual({ failed: [], lostSessions: [], foreign: [] });
      expect(ran.toSorted()).toEqual(ok.toSorted());
    },
  );

  it.each(['nginx', 'haproxy'] as const)(
    'SRV-7, F68: behind %s, SIGKILL of replicas loses no session, doubles no write and mixes no answers',
    async (balancer) => {
      const made = await world();
      const balanced = await balance(made, balancer);
      const { ok, failed, lostSessions, foreign, ran } = await callDuring(made, balanced, () =>
        killInTurn(made, balanced, 3, progressOf(made)),
      );
      const answered = new Set(ok);
      expect({
        lostSessions,
        foreign,
        doubled: ran.filter((id, at) => ran.indexOf(id) !== at),
        missing: ok.filter((id) => !ran.includes(id)),
        unknown: ran.filter((id) => !answered.has(id) && !failed.includes(id)),
      }).toEqual({ lostSessions: [], foreign: [], doubled: [], missing: [], unknown: [] });
      // The running call of each client, and one that is forwarded before the end of the replica is noticed.
      expect(failed.length).toBeLessThanOrEqual(2 * 3 * CLIENTS);
    },
  );
});
