/** A thousand durable programs are killed with SIGKILL at random points and continued by another process. */

import { expect, it } from 'vitest';
import { survive } from './killed.ts';

const PROGRAMS = Number(process.env['PROGRAMS'] ?? 1_000);

it('CAL-9: of a thousand killed programs, none is lost and no write is repeated', {
  timeout: 7_200_000,
}, async () => {
  const { continued, lost, repeated, inFlight } = await survive(PROGRAMS, Math.random);
  console.log(
    `${continued} of ${PROGRAMS} were continued; ${inFlight} calls were in flight and reported as failed`,
  );
  expect({ lost, repeated }).toEqual({ lost: 0, repeated: 0 });
  expect(continued).toBeGreaterThan(PROGRAMS / 2);
});
