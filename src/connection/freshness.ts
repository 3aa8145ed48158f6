/** How long a list may be used before its server is asked again, by era, hints and announcements. */

import type { Era } from './eras.ts';

/** Shortest time between two refreshes of one list without an announced change. */
export const STALE_REFRESH_GAP_MS = 1_000;

export interface ListHints {
  readonly era: Era;
  /** How long the server says that the list is fresh. */
  readonly ttlMs: number | undefined;
  /** Whether the server announces changes of the list. */
  readonly announced: boolean;
}

/**
 * Milliseconds for which a list is fresh. In the modern era a list without a time, or with 0, is stale at once, unless
 * its server announces changes: then the announcement is what makes it stale. A legacy list has no such hints.
 *
 * @param unhintedMs for legacy lists of which no changes are announced
 */
export function freshForMs({ era, ttlMs = 0, announced }: ListHints, unhintedMs: number): number {
  if (era === 'legacy') return announced ? Number.POSITIVE_INFINITY : unhintedMs;
  if (ttlMs > 0) return ttlMs;
  return announced ? Number.POSITIVE_INFINITY : 0;
}
