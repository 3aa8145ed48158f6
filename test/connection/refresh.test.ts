import { describe, expect, it } from 'vitest';
import { REFRESH_GAP_MAX_MS, Refresher } from '../../src/connection/refresh.ts';
import { fakeClock } from '../../src/testing/index.ts';

describe('refresher (F29)', () => {
  it('makes one listing of a storm, and one to follow what came during it', async () => {
    const clock = fakeClock();
    let runs = 0;
    let finish: (changed: boolean) => void = () => {};
    const refresher = new Refresher({
      clock,
      run: () => {
        runs += 1;
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    for (let n = 0; n < 1_000; n += 1) refresher.request();
    await clock.advance(0);
    expect(runs).toBe(1);
    for (let n = 0; n < 1_000; n += 1) refresher.request();
    await clock.advance(10_000);
    expect(runs).toBe(1);
    finish(true);
    await clock.advance(49);
    expect(runs).toBe(1);
    await clock.advance(1);
    expect(runs).toBe(2);
    finish(true);
    await clock.advance(REFRESH_GAP_MAX_MS);
    expect(runs).toBe(2);
  });

  it('grows patient with a server that cries wolf, and is quick again after a long quiet', async () => {
    const clock = fakeClock();
    const ranAt: number[] = [];
    const begin = clock.now();
    let noisy = true;
    const refresher: Refresher = new Refresher({
      clock,
      run: async () => {
        ranAt.push(clock.now() - begin);
        if (noisy) refresher.request();
        return false;
      },
    });
    refresher.request();
    await clock.advance(1_000);
    expect(ranAt).toEqual([0, 50, 150, 350, 750]);
    noisy = false;
    await clock.advance(10 * REFRESH_GAP_MAX_MS);
    ranAt.length = 0;
    const asked = clock.now() - begin;
    refresher.request();
    await clock.advance(0);
    expect(ranAt).toEqual([asked]);
  });

  it('does nothing after it was stopped', async () => {
    const clock = fakeClock();
    let runs = 0;
    const refresher = new Refresher({
      clock,
      run: async () => {
        runs += 1;
        return true;
      },
    });
    refresher.request();
    refresher.stop();
    refresher.request();
    await clock.advance(1_000);
    expect([runs, clock.pending]).toEqual([0, 0]);
  });
});
