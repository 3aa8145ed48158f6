/**
 * Coalesces "the list changed" into few listings: one in flight, one to follow (F29).
 *
 * Some servers send list_changed whenever they are asked for the list. A follow-up that brought nothing
 * new therefore waits longer each time; one that did brings the patience back.
 */

import type { Clock } from '../lib/clock.ts';

export const REFRESH_GAP_MIN_MS = 50;
export const REFRESH_GAP_MAX_MS = 60_000;

export interface RefreshOptions {
  readonly clock: Clock;
  /** Reads the list again; true when it differs from the one before. Never rejects. */
  readonly run: () => Promise<boolean>;
}

export class Refresher {
  readonly #options: RefreshOptions;
  #running = false;
  #again = false;
  #gapMs = 0;
  #ranAt = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #stopped = false;

  constructor(options: RefreshOptions) {
    this.#options = options;
  }

  /** Something changed. Cheap to call ten thousand times a second. */
  request(): void {
    if (this.#stopped) return;
    if (this.#running || this.#cancelTimer !== undefined) {
      this.#again = this.#running;
      return;
    }
    this.#schedule();
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
    this.#cancelTimer = this.#options.clock.after(Math.max(0, this.#gapMs - quietMs), () => {
      this.#cancelTimer = undefined;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#again = false;
    const changed = await this.#options.run();
    this.#running = false;
    this.#ranAt = this.#options.clock.now();
    this.#gapMs = changed
      ? REFRESH_GAP_MIN_MS
      : Math.min(REFRESH_GAP_MAX_MS, Math.max(REFRESH_GAP_MIN_MS, this.#gapMs * 2));
    if (this.#again && !this.#stopped) this.#schedule();
  }
}
