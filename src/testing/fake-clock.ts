/** A clock for tests that only advances when a test moves it. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';

/** Limit that detects a timer that re-arms itself forever. */
const MAX_TIMERS_PER_ADVANCE = 10_000;

/** 2026-01-01T00:00:00Z: a fixed, round time that is easy to read in a failure. */
const DEFAULT_START_MS = Date.UTC(2026, 0, 1);

export interface FakeClock extends Clock {
  /**
   * Advances the time by `ms`. Due timers run in order of their time, each at its own `now()`; after each one, promises
   * settle before the next, so a timer armed as a consequence still runs in the same call.
   */
  advance(ms: number): Promise<void>;
  /** Changes the system time: `now()` jumps by `ms`, while `ticks()` and timers are not affected. */
  jump(ms: number): void;
  /** Resolves once at least `count` timers are armed, to wait for code that is about to wait. */
  armed(count?: number): Promise<void>;
  /** Number of armed timers. */
  readonly pending: number;
}

interface Timer {
  readonly at: number;
  readonly fn: () => void;
}

/**
 * Creates a clock for tests.
 *
 * @param startMs - The time at which it begins, in milliseconds since 1970.
 * @returns The clock, for the option `clock`.
 * @example
 * const clock = fakeClock();
 * const fired = [];
 * clock.after(200, () => fired.push('late'));
 * clock.after(100, () => fired.push('early'));
 * await clock.advance(150);
 * fired; // → ['early']
 */
export function fakeClock(startMs: number = DEFAULT_START_MS): FakeClock {
  const timers = new Set<Timer>();
  const watchers = new Set<{ readonly count: number; readonly resolve: () => void }>();
  let now = startMs;
  /** Sum of all jumps of `now()`. */
  let set = 0;
  let tail: Promise<void> = Promise.resolve();

  /** Returns the timer that is due first; timers with equal times run in the order of arming, which a Set keeps. */
  function nextDue(limit: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) if (timer.at <= limit && (!first || timer.at < first.at)) first = timer;
    return first;
  }

  async function run(ms: number): Promise<void> {
    const target = now + Math.max(ms, 0);
    await nextTurn();
    for (let ran = 0; ; ran += 1) {
      const timer = nextDue(target);
      if (!timer) break;
      if (ran === MAX_TIMERS_PER_ADVANCE) {
        throw new Error(`More than ${MAX_TIMERS_PER_ADVANCE} timers ran in one advance(${ms}).`);
      }
      timers.delete(timer);
      now = Math.max(now, timer.at);
      timer.fn();
      await nextTurn();
    }
    now = target;
  }

  return {
    now: () => now + set,
    ticks: () => now,
    jump(ms) {
      set += ms;
    },
    after(ms, fn) {
      const timer: Timer = { at: now + Math.max(ms, 0), fn };
      timers.add(timer);
      for (const watcher of watchers) {
        if (timers.size < watcher.count) continue;
        watchers.delete(watcher);
        watcher.resolve();
      }
      return () => void timers.delete(timer);
    },
    advance(ms) {
      // Concurrent calls run one after the other; a failed one does not affect the next.
      const mine = tail.then(() => run(ms));
      tail = mine.catch(() => undefined);
      return mine;
    },
    async armed(count = 1) {
      if (timers.size >= count) return;
      await new Promise<void>((resolve) => watchers.add({ count, resolve }));
    },
    get pending() {
      return timers.size;
    },
  };
}
