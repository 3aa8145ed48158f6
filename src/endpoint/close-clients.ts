/** Closes the clients of an endpoint: running calls may finish within a time limit. */

import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Front } from './client-connection.ts';
import type { Held } from './client-rounds.ts';

/** How long running calls may continue after serving was asked to end. */
const CLOSE_GRACE_MS = 5_000;

export async function partFrom(
  fronts: readonly Front[],
  held: Held,
  clock: Clock,
  why: string,
): Promise<void> {
  const reason = new PlugboardError('CANCELLED', why);
  held.close(reason);
  for (const front of fronts) front.stopListening();
  let stopTimer = (): void => {};
  const late = new Promise<void>((resolve) => {
    stopTimer = clock.after(CLOSE_GRACE_MS, resolve);
  });
  await Promise.race([Promise.all(fronts.map((front) => front.idle())), late]);
  stopTimer();
  for (const front of fronts) front.dismiss(reason);
}
