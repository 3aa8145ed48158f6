/** A durable program survives SIGKILL; `killed.long.ts` repeats it a thousand times. */

import { expect, it } from 'vitest';
import { survive } from './killed.ts';

const PROGRAMS = 2;

it('CAL-9: a durable program that is killed is continued, and no call is made twice', async () => {
  let seed = 1;
  // Spread over the program, the same in every run.
  const random = (): number => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const { inFlight: _inFlight, ...survived } = await survive(PROGRAMS, random);
  expect(survived).toEqual({ continued: PROGRAMS, lost: 0, repeated: 0 });
});
