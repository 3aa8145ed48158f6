/** Returns the held-back items of one server for a person to review, and accepts them as shown (POL-3). */

import { createHash } from 'node:crypto';
import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { pinKey } from '../policy/pins.ts';
import { acceptPins, type HeldTool, reviewPins } from '../policy/pins-review.ts';

export interface HeldBack {
  readonly held: readonly HeldTool[];
  /** Identifies exactly this response: an acceptance must repeat it. */
  readonly digest: string;
}

export async function heldBackOf(home: Home, spec: ServerSpec): Promise<HeldBack> {
  const held = await reviewPins(home, [pinKey(spec)]);
  return { held, digest: createHash('sha256').update(JSON.stringify(held)).digest('hex') };
}

/** Accepts the items that were shown; rejects if the server has changed something since then. */
export async function acceptHeldBack(home: Home, spec: ServerSpec, digest: string): Promise<HeldBack> {
  const shown = await heldBackOf(home, spec);
  if (shown.digest !== digest) {
    throw new PlugboardError('INVALID_ARGUMENTS', `${spec.name} has changed again since this was shown`, {
      server: spec.name,
      hint: 'Look at what is held back now, and accept that.',
    });
  }
  await acceptPins(home, [pinKey(spec)]);
  return shown;
}
