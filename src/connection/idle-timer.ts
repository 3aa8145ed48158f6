/** Detects that a server is idle, so that it can be stopped until it is needed again. */

import type { Clock } from '../lib/clock.ts';

export class IdleTimer {
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

  /** Reschedules one timer instead of moving a timer on every call. */
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
