/** A replica killed with SIGKILL every ten seconds, under the load of clients of both eras. */

import { balance, killInTurn } from './balanced.ts';
import { CALLERS, loadDuring, type Outcomes, progressOf } from './load.ts';
import type { World } from './replicas.ts';

const KILL_EVERY_MS = 10_000;

export interface Soaked {
  readonly outcomes: Outcomes;
  readonly kills: number;
  /** The most calls that may fail: those of each client that ran, or were forwarded before the end was noticed. */
  readonly mostFailed: number;
}

export async function soak(made: World, totalMs: number): Promise<Soaked> {
  const balanced = await balance(made, 'nginx');
  const from = performance.now();
  const progressed = progressOf(made);
  let kills = 0;
  const outcomes = await loadDuring(made, balanced.url, async () => {
    kills = await killInTurn(
      balanced,
      () => performance.now() - from >= totalMs,
      async () => {
        await progressed();
        // Half of the time is before the kill, half after it.
        await new Promise((resolve) => setTimeout(resolve, KILL_EVERY_MS / 2));
      },
    );
  });
  return { outcomes, kills, mostFailed: 2 * kills * CALLERS };
}
