/** SRV-7: the outcome of every call while replicas are killed, for one minute and for ten. */

import { expect, it } from 'vitest';
import { faultsOf, NO_FAULTS } from './load.ts';
import { worlds } from './replicas.ts';
import { soak } from './soak.ts';

const world = worlds();
const MINUTE_MS = 60_000;

it.each([1, 10])(
  'SRV-7, F68: SIGKILL for %i minutes loses no session, doubles no write and mixes no answers',
  { timeout: 50 * MINUTE_MS },
  async (minutes) => {
    const { outcomes, kills, mostFailed } = await soak(await world(), minutes * MINUTE_MS);
    console.log(`${kills} kills, ${outcomes.ok.length} calls answered, ${outcomes.failed.length} failed`);
    expect(faultsOf(outcomes)).toEqual(NO_FAULTS);
    expect(outcomes.failed.length).toBeLessThanOrEqual(mostFailed);
  },
);
