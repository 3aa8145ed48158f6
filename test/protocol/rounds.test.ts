/** Requests that wait for their client between two rounds. */

import { expect, it } from 'vitest';
import { NAMELESS } from '../../src/endpoint/eras.ts';
import { Held, Rounds } from '../../src/endpoint/rounds.ts';
import { Work } from '../../src/endpoint/work.ts';
import { fakeClock } from '../../src/testing/index.ts';

const TEN_MINUTES_MS = 10 * 60 * 1000;

// Protocol: 26-mrtr-10, 26-mrtr-15
it('a client that does not come back ends its request after ten minutes, and its state with it', async () => {
  const clock = fakeClock();
  const held = new Held(clock);
  const exchange = { send: () => true, onGone: undefined };
  const work = new Work(1, NAMELESS, exchange, () => Promise.reject(new Error('unused')));
  const state = held.put(new Rounds(work), 'ada', 'print');
  await clock.advance(TEN_MINUTES_MS - 1);
  expect(work.isCancelled).toBe(false);
  await clock.advance(1);
  expect(work.isCancelled).toBe(true);
  expect(() => held.take(state, 'ada', 'print')).toThrow('This requestState is not known here');
});
