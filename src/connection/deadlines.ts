/**
 * Handles the deadlines of many requests with one timer.
 *
 * One timer per call costs more than the rest of a call's bookkeeping. Requests to one server mostly share one limit,
 * so the earliest deadline is nearly always that of the oldest request: one timer is set for the earliest known
 * deadline, and moved only when it fires or when an earlier deadline is added.
 */

import { type Clock, ticksOf } from '../lib/clock.ts';

export interface Deadline {
  /** Clock time at which it expires. May be moved to a later time without a call to `Deadlines`. */
  at: number;
}

export class Deadlines<T extends Deadline> {
  readonly #clock: Clock;
  readonly #expire: (deadline: T) => void;
  readonly #waiting = new Set<T>();
  #firesAt = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock, expire: (deadline: T) => void) {
    this.#clock = clock;
    this.#expire = expire;
  }

  add(deadline: T): void {
    this.#waiting.add(deadline);
    if (deadline.at < this.#firesAt) this.#arm(deadline.at);
  }

  remove(deadline: T): void {
    // The timer is kept: setting a timer per call costs more than a sweep that finds nothing due.
    this.#waiting.delete(deadline);
  }

  clear(): void {
    this.#waiting.clear();
    this.#disarm();
  }

  #arm(at: number): void {
    this.#disarm();
    if (!Number.isFinite(at)) return;
    this.#firesAt = at;
    this.#cancelTimer = this.#clock.after(at - ticksOf(this.#clock), () => this.#sweep());
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#firesAt = Number.POSITIVE_INFINITY;
  }

  #sweep(): void {
    const now = ticksOf(this.#clock);
    this.#disarm();
    const due: T[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const deadline of this.#waiting) {
      if (deadline.at <= now) due.push(deadline);
      else if (deadline.at < next) next = deadline.at;
    }
    for (const deadline of due) {
      this.#waiting.delete(deadline);
      this.#expire(deadline);
    }
    if (next < this.#firesAt) this.#arm(next);
  }
}
