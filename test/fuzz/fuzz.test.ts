import { describe, expect, it } from 'vitest';
import { foundInputs, fuzz, tried } from './edge.ts';
import { EDGES } from './edges.ts';

/** The same inputs in every run; `npm run fuzz` tries others, for as long as it is given. */
const SEED = 20_261_115;

describe.each(EDGES)('the edge $name', (edge) => {
  it('F14: takes damaged inputs without a fault, and those that once were one', async () => {
    const probe = await edge.open();
    try {
      for (const { input } of foundInputs(edge)) await tried(probe, input);
      const { failure } = await fuzz(probe, { seed: SEED, runs: edge.runs });
      expect(failure && { why: failure.why, input: failure.input.toString('latin1') }).toBeUndefined();
    } finally {
      await probe.close?.();
    }
  });
});
