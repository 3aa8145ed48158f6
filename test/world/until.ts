/** Waiting in tests: for a condition that no event announces, within a bound that only a fault reaches. */

import { setTimeout as pause } from 'node:timers/promises';

/** Far more than any step needs while both cores are busy, and less than the ceiling of a test. */
export const PATIENCE_MS = 120_000;
const POLL_MS = 10;

export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await condition()); await pause(POLL_MS)) {
    if (Date.now() > end) throw new Error(`It did not happen within ${PATIENCE_MS} ms: ${what}`);
  }
}
