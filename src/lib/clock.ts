/** An injectable clock, so that tests control time. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since an arbitrary moment, for durations: not affected by changes of the system time. */
  ticks?(): number;
  /** Runs `fn` once after `ms`; the returned function cancels it. Never keeps the process alive by itself. */
  after(ms: number, fn: () => void): () => void;
}

/** The longest delay that `setTimeout` supports; longer ones fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  ticks: () => Math.floor(performance.now()),
  after(ms, fn) {
    const timer = setTimeout(fn, Math.min(Math.max(ms, 0), MAX_TIMER_MS));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Returns the time for measuring durations; a clock without `ticks` is assumed to be never set. */
export function ticksOf(clock: Clock): number {
  return clock.ticks === undefined ? clock.now() : clock.ticks();
}
