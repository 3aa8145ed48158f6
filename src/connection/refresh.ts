/**
 * Coalesces "the list changed" and "the list is stale" into few listings: one in flight, one to follow (F29).
 *
 * Some servers send list_changed whenever they are asked for the list. A follow-up that brought nothing
 * new therefore waits longer each time; one that did brings the patience back.
 */

import type { Clock } from '../lib/clock.ts';
import { STALE_REFRESH_GAP_MS } from './freshness.ts';

export const REFRESH_GAP_MIN_MS = 50;
export const REFRESH_GAP_MAX_MS = 60_000;

export interface RefreshOptions {
  readonly clock: Clock;
  /** Reads the list again; true when it differs from the one before. Never rejects. */
  readonly run: () => Promise<boolean>;
  /** When the list was read that there is before the first run; default: now. */
  readonly readAt?: number | undefined;
}

export class Refresher {
  readonly #options: RefreshOptions;
  #running = false;
  #again = false;
  #gapMs = 0;
  /** Until the first run, the time of the list that there was before it. */
  #ranAt: number;
  #cancelTimer: (() => void) | undefined;
  /** The timer that runs is for a list that is stale, not for one that changed. */
  #forExpiry = false;
  #stopped = false;

  constructor(options: RefreshOptions) {
    this.#options = options;
    this.#ranAt = options.readAt ?? options.clock.now();
  }

  /** Something changed. Cheap to call ten thousand times a second. */
  request(): void {
    if (this.#stopped) return;
    if (this.#forExpiry) this.#cancelTimer?.();
    else if (this.#running || this.#cancelTimer !== undefined) {
      this.#again ||= this.#running;
      return;
    }
    this.#schedule();
  }

  /** The list was used after its time. A listing that runs or is due is enough. */
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
    // After a long quiet a change is news again, whatever the server did before.
    if (quietMs > REFRESH_GAP_MAX_MS) this.#gapMs = 0;
    this.#forExpiry = false;
    this.#after(this.#gapMs - quietMs);
  }

  /** @param gapMs the gap after it, if its outcome says nothing about the server's announcements */
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
