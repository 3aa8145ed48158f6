/** Adapts V8 to a process that serves requests for a long time. */

import { setFlagsFromString } from 'node:v8';
import { attempt } from './attempt.ts';

/** Later versions may not know the flag, and would print that. */
const LAST_KNOWN_NODE = 24;

/**
 * Stops V8 from creating objects in the old generation because earlier ones from the same line of code survived. Objects
 * of a request are linked to each other, so one of them in the old generation keeps all of them alive until a full
 * collection: that was a third of the CPU of a gateway (docs/numbers.md).
 */
export function tuneForServing(): void {
  const [major = ''] = process.versions.node.split('.');
  if (Number(major) > LAST_KNOWN_NODE) return;
  attempt(() => setFlagsFromString('--no-allocation-site-pretenuring'), undefined);
}
