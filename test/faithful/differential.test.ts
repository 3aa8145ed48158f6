import { expect, it } from 'vitest';
import { differential } from './differential.ts';

/** Of the 200 that `npm run test:long` uses: both eras, over stdio and HTTP, with every kind of block, question and error. */
const SEEDS = [0, 1, 2, 3, 4, 5, 7, 26];

it('SRV-1: clients of both SDKs see the same directly and through the gateway, but for the deliberate differences', async () => {
  expect(await differential(SEEDS)).toEqual([]);
});
