/** SRV-7: the outcome of every call while replicas are killed for 10 minutes. */

import { expect, it } from 'vitest';
import { faultsOf, NO_FAULTS } from './load.ts';
import { worlds } from './replicas.ts';
import { soak } from './soak.ts';

const world = worlds();
const TOTAL_MS = 600_000;

it('SRV-7, F68: 10 minutes of SIGKILL lose no session, double no write and mix no answers', {
  timeout: 5 * TOTAL_MS,
}, async () => {
  const { outcomes, kills, mostFailed } = await soak(await world(), TOTAL_MS);
  console.log(`${kills} kills, ${outcomes.ok.length} calls answered, ${outcomes.failed.length} failed`);
  expect(faultsOf(outcomes)).toEqual(NO_FAULTS);
  expect(outcomes.failed.length).toBeLessThanOrEqual(mostFailed);
});
