import { afterAll, describe, expect, it } from 'vitest';
import { DIFFERENCES, type DifferenceId, used } from './differences.ts';
import { differential } from './differential.ts';

const SERVERS = 200;
/** Servers of one gateway at once. */
const TOGETHER = 20;

const seen = new Set<DifferenceId>();
const batches = Array.from({ length: SERVERS / TOGETHER }, (_, at) => at * TOGETHER);

describe('SRV-1: 200 generated servers, directly and through the gateway', () => {
  it.each(batches)(
    'clients of SDK v1 and v2, in both eras, see the same of twenty servers from %i on, but for the deliberate differences',
    async (first) => {
      const seeds = Array.from({ length: TOGETHER }, (_, at) => first + at);
      expect(await differential(seeds)).toEqual([]);
      for (const id of used.keys()) seen.add(id);
    },
    600_000,
  );

  afterAll(() => {
    // Pins are switched to warnings, so that nothing is held.
    const expected = Object.keys(DIFFERENCES).filter((id) => id !== 'pins');
    expect([...seen].sort(), 'each deliberate difference was met').toEqual(expected.sort());
  });
});
