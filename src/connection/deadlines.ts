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
  readonly #waiting: () => Iterable<T>;
  readonly #expire: (deadline: T) => void;
  #firesAt = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  /** `waiting` returns everything that has not ended; it is read when the timer fires, not for each call. */
  constructor(clock: Clock, waiting: () => Iterable<T>, expire: (deadline: T) => void) {
    this.#clock = clock;
    this.#waiting = waiting;
    this.#expire = expire;
  }

  /** Sets the timer for a new deadline. When one ends, the timer is kept: a sweep that finds nothing due costs less. */
  add({ at }: T): void {
    if (at < this.#firesAt) this.#arm(at);
  }

  /** Stops the timer; `resume` starts it again. */
  pause(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#firesAt = Number.POSITIVE_INFINITY;
  }

  resume(): void {
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of this.#waiting()) next = Math.min(next, at);
    if (next < this.#firesAt) this.#arm(next);
  }

  #arm(at: number): void {
    this.pause();
    this.#firesAt = at;
    this.#cancelTimer = this.#clock.after(at - ticksOf(this.#clock), () => this.#sweep());
  }

  #sweep(): void {
    const now = ticksOf(this.#clock);
    this.pause();
    for (const deadline of [...this.#waiting()].filter(({ at }) => at <= now)) this.#expire(deadline);
    this.resume();
  }
}
