/** Three replicas behind round robin, without affinity, under the load of clients of both eras. */

import { describe, expect, it } from 'vitest';
import { balance, killInTurn } from './balanced.ts';
import { CALLERS, faultsOf, loadDuring, NO_FAULTS, progressOf } from './load.ts';
import { end, until, worlds } from './replicas.ts';

const world = worlds();
const SLOW_MS = 240_000;
const KILLS = 3;

describe('three replicas behind round robin', { timeout: SLOW_MS }, () => {
  // Behind nginx: soak.test.ts.
  it('SRV-7, F68: behind HAProxy, SIGKILL of replicas loses no session, doubles no write and mixes no answers', async () => {
    const made = await world();
    const balanced = await balance(made, 'haproxy');
    const outcomes = await loadDuring(made, balanced.url, async () => {
      await killInTurn(balanced, (round) => round === KILLS, progressOf(made));
    });
    expect(faultsOf(outcomes)).toEqual(NO_FAULTS);
    // The running call of each client, and one that is forwarded before the end of the replica is noticed.
    expect(outcomes.failed.length).toBeLessThanOrEqual(2 * KILLS * CALLERS);
  });

  it('SRV-7, F68: Redis that is frozen, killed and restarted empty fails no call', async () => {
    const made = await world();
    const balanced = await balance(made, 'nginx');
    const progressed = progressOf(made);
    const isAway = async (): Promise<boolean> => {
      const texts = balanced.ports.map(async (port) =>
        (await fetch(`http://127.0.0.1:${port}/readyz`)).text(),
      );
      return (await Promise.all(texts)).every((text) => text.includes('redis: away'));
    };
    const outcomes = await loadDuring(made, balanced.url, async () => {
      await progressed();
      made.redis.kill('SIGSTOP');
      await until(isAway, 'the loss of Redis');
      await progressed();
      made.redis.kill('SIGCONT');
      await until(async () => !(await isAway()), 'the recovery');
      await end(made.redis);
      await until(isAway, 'the loss of Redis');
      await progressed();
      await made.startRedis();
      await until(async () => !(await isAway()), 'the recovery');
      await progressed();
    });
    expect({ ...faultsOf(outcomes), reasons: outcomes.reasons }).toEqual({ ...NO_FAULTS, reasons: [] });
  });

  it('SRV-7: a rolling upgrade with SIGTERM fails no call', async () => {
    const made = await world();
    const balanced = await balance(made, 'haproxy');
    const progressed = progressOf(made);
    const outcomes = await loadDuring(made, balanced.url, async () => {
      for (const [at, { process: old }] of [...balanced.replicas].entries()) {
        await progressed();
        await end(old, 'SIGTERM');
        await balanced.restart(at);
      }
      await progressed();
    });
    // A question that is open for longer than a replica drains is lost with its call.
    const failed = outcomes.failed.filter((id) => !id.includes('ask'));
    expect({ ...faultsOf(outcomes), failed }).toEqual({ ...NO_FAULTS, failed: [] });
  });
});
