/**
 * Deadlines of many requests behind one timer.
 *
 * A timer per call costs more than the rest of a call's bookkeeping. Requests to one server mostly share
 * one limit, so the earliest deadline is nearly always the oldest request's: one timer, set for the
 * earliest deadline known and moved only when it fires or when an earlier one arrives.
 */

import type { Clock } from '../lib/clock.ts';

export interface Deadline {
  /** Clock time at which `expire` runs. May be moved later at any time without telling anybody. */
  at: number;
  readonly expire: () => void;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #waiting = new Set<Deadline>();
  #firesAt = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(deadline: Deadline): void {
    this.#waiting.add(deadline);
    if (deadline.at < this.#firesAt) this.#arm(deadline.at);
  }

  remove(deadline: Deadline): void {
    this.#waiting.delete(deadline);
    // An idle peer must not keep a timer alive for hours.
    if (this.#waiting.size === 0) this.#disarm();
  }

  /** A deadline that was moved earlier. */
  advance(deadline: Deadline): void {
    if (this.#waiting.has(deadline) && deadline.at < this.#firesAt) this.#arm(deadline.at);
  }

  clear(): void {
    this.#waiting.clear();
    this.#disarm();
  }

  #arm(at: number): void {
    this.#disarm();
    if (!Number.isFinite(at)) return;
    this.#firesAt = at;
    this.#cancelTimer = this.#clock.after(at - this.#clock.now(), () => this.#sweep());
  }

  #disarm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#firesAt = Number.POSITIVE_INFINITY;
  }

  #sweep(): void {
    const now = this.#clock.now();
    this.#disarm();
    const due: Deadline[] = [];
    let next = Number.POSITIVE_INFINITY;
    for (const deadline of this.#waiting) {
      if (deadline.at <= now) due.push(deadline);
      else if (deadline.at < next) next = deadline.at;
    }
    for (const deadline of due) {
      this.#waiting.delete(deadline);
      deadline.expire();
    }
    if (next < this.#firesAt) this.#arm(next);
  }
}
