/** Notices that a server has had nothing to do for a while, so that it can be ended until it is needed again. */

import type { Clock } from '../lib/clock.ts';

export class Rest {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #rest: () => void;
  #busy = 0;
  #usedAt: number;
  #cancelTimer: () => void;

  constructor(clock: Clock, afterMs: number, rest: () => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#rest = rest;
    this.#usedAt = clock.now();
    this.#cancelTimer = clock.after(afterMs, () => this.#check());
  }

  begin(): void {
    this.#busy += 1;
  }

  end(): void {
    this.#busy -= 1;
    this.#usedAt = this.#clock.now();
  }

  stop(): void {
    this.#cancelTimer();
  }

  /** One timer that looks again later, instead of one that every call moves. */
  #check(): void {
    const idleFor = this.#clock.now() - this.#usedAt;
    if (this.#busy === 0 && idleFor >= this.#afterMs) {
      this.#rest();
      return;
    }
    const wait = this.#busy > 0 ? this.#afterMs : this.#afterMs - idleFor;
    this.#cancelTimer = this.#clock.after(wait, () => this.#check());
  }
}
