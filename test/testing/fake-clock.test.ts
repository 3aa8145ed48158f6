import { expect, it } from 'vitest';
import { fakeClock } from '../../src/testing/index.ts';

it('KIT-3: timers run in order of their time, each at its own moment', async () => {
  const clock = fakeClock(1_000);
  const fired: [string, number][] = [];
  clock.after(200, () => fired.push(['late', clock.now()]));
  clock.after(100, () => fired.push(['early', clock.now()]));
  clock.after(100, () => fired.push(['early, armed second', clock.now()]));
  await clock.advance(150);
  expect({ fired, now: clock.now(), pending: clock.pending }).toEqual({
    fired: [
      ['early', 1_100],
      ['early, armed second', 1_100],
    ],
    now: 1_150,
    pending: 1,
  });
  await clock.advance(50);
  expect(fired.at(-1)).toEqual(['late', 1_200]);
});

it('KIT-3: promises that a timer resolves are settled before the next timer runs', async () => {
  const clock = fakeClock(0);
  const order: string[] = [];
  const sleep = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const loop = (async () => {
    for (let turn = 1; turn <= 3; turn += 1) {
      await sleep(10);
      await Promise.resolve();
      order.push(`turn ${turn} at ${clock.now()}`);
    }
  })();
  clock.after(25, () => order.push('timer at 25'));
  await clock.advance(30);
  await loop;
  expect(order).toEqual(['turn 1 at 10', 'turn 2 at 20', 'timer at 25', 'turn 3 at 30']);
});

it('KIT-3: a timer that was taken back does not run, also when it falls due in the same advance', async () => {
  const clock = fakeClock();
  const fired: string[] = [];
  const cancelSecond = () => second();
  clock.after(1, () => {
    fired.push('first');
    cancelSecond();
  });
  const second = clock.after(2, () => fired.push('second'));
  await clock.advance(10);
  expect(fired).toEqual(['first']);
});

it('KIT-3: armed() resolves when the code under test has begun to wait', async () => {
  const clock = fakeClock();
  const outcome = (async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return new Promise<string>((resolve) => clock.after(5_000, () => resolve('waited')));
  })();
  await clock.armed();
  await clock.advance(5_000);
  expect(await outcome).toBe('waited');
});

it('KIT-3: two advances at once are one after the other', async () => {
  const clock = fakeClock(0);
  await Promise.all([clock.advance(10), clock.advance(5)]);
  expect(clock.now()).toBe(15);
});

it('KIT-3: a timer that re-arms itself without end is an error, not a hang', async () => {
  const clock = fakeClock();
  let runs = 0;
  const again = () => {
    runs += 1;
    clock.after(0, again);
  };
  clock.after(0, again);
  await expect(clock.advance(1)).rejects.toThrow('More than 10000 timers ran in one advance(1).');
  expect(runs).toBe(10_000);
});

it('KIT-3: a timer that throws fails its advance; the next one goes on', async () => {
  const clock = fakeClock(0);
  clock.after(1, () => {
    throw new Error('boom');
  });
  const fired: number[] = [];
  clock.after(2, () => fired.push(clock.now()));
  await expect(clock.advance(5)).rejects.toThrow('boom');
  await clock.advance(5);
  expect(fired).toEqual([2]);
});
