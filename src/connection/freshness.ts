/** Computes how long a list stays fresh, from the era, the server's TTL hint and its change notifications. */

import type { Era } from './eras.ts';

/** Shortest time between two refreshes of one list without a change notification. */
export const STALE_REFRESH_GAP_MS = 1_000;

export interface ListHints {
  readonly era: Era;
  /** The TTL that the server sent with the list. */
  readonly ttlMs: number | undefined;
  /** Whether the server sends notifications when the list changes. */
  readonly announced: boolean;
}

/**
 * Returns the milliseconds for which a list is fresh. A modern list without a TTL, or with 0, is stale at once, unless
 * its server announces changes: then only a notification makes it stale. Legacy lists have no TTL.
 *
 * @param unhintedMs for legacy lists whose changes are not announced
 */
export function freshForMs({ era, ttlMs = 0, announced }: ListHints, unhintedMs: number): number {
  if (era === 'legacy') return announced ? Number.POSITIVE_INFINITY : unhintedMs;
  if (ttlMs > 0) return ttlMs;
  return announced ? Number.POSITIVE_INFINITY : 0;
}
