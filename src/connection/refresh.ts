/**
 * Decides how long a list stays fresh, and when it is read again.
 *
 * Coalesces "the list changed" and "the list is stale" into few listings: one in progress, one queued (F29).
 *
 * Some servers send list_changed whenever the list is requested. A refresh without a change therefore doubles the delay
 * of the next one; a refresh with a change resets it.
 */

import type { Clock } from '../lib/clock.ts';
import type { Era } from './eras.ts';

export const REFRESH_GAP_MIN_MS = 50;
export const REFRESH_GAP_MAX_MS = 60_000;

export interface RefreshOptions {
  readonly clock: Clock;
  /** Reads the list again; true if it differs from the previous one. Never rejects. */
  readonly run: () => Promise<boolean>;
  /** When the list that exists before the first run was read; default: now. */
  readonly readAt?: number | undefined;
}

export class Refresher {
  readonly #options: RefreshOptions;
  #running = false;
  #again = false;
  #gapMs = 0;
  /** Until the first run, the time at which the existing list was read. */
  #ranAt: number;
  #cancelTimer: (() => void) | undefined;
  /** The pending timer is for a stale list, not for a changed one. */
  #forExpiry = false;
  #stopped = false;

  constructor(options: RefreshOptions) {
    this.#options = options;
    this.#ranAt = options.readAt ?? options.clock.now();
  }

  /** Reports a change. Cheap enough for ten thousand calls a second. */
  request(): void {
    if (this.#stopped) return;
    if (this.#forExpiry) this.#cancelTimer?.();
    else if (this.#running || this.#cancelTimer !== undefined) {
      this.#again ||= this.#running;
      return;
    }
    this.#schedule();
  }

  /** The list was used after it expired. Does nothing if a listing is running or scheduled. */
  expired(): void {
    if (this.#stopped || this.#running || this.#cancelTimer !== undefined) return;
    this.#forExpiry = true;
    this.#after(STALE_REFRESH_GAP_MS - (this.#options.clock.now() - this.#ranAt), this.#gapMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #schedule(): void {
    const quietMs = this.#options.clock.now() - this.#ranAt;
    // After a long quiet period, earlier notifications without a change no longer delay the refresh.
    if (quietMs > REFRESH_GAP_MAX_MS) this.#gapMs = 0;
    this.#forExpiry = false;
    this.#after(this.#gapMs - quietMs);
  }

  /** @param gapMs the delay after this run, if its result is unrelated to the server's notifications */
  #after(ms: number, gapMs?: number): void {
    this.#cancelTimer = this.#options.clock.after(Math.max(0, ms), () => {
      this.#cancelTimer = undefined;
      this.#forExpiry = false;
      void this.#run(gapMs);
    });
  }

  async #run(gapMs?: number): Promise<void> {
    this.#running = true;
    this.#again = false;
    const changed = await this.#options.run();
    this.#running = false;
    this.#ranAt = this.#options.clock.now();
    const next = changed
      ? REFRESH_GAP_MIN_MS
      : Math.min(REFRESH_GAP_MAX_MS, Math.max(REFRESH_GAP_MIN_MS, this.#gapMs * 2));
    this.#gapMs = gapMs ?? next;
    if (this.#again && !this.#stopped) this.#schedule();
  }
}

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
