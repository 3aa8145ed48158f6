/** Time as something that is handed in, so that tests decide when it passes. */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since an arbitrary moment, for durations: setting the system's time does not change it. */
  ticks?(): number;
  /** Runs `fn` once after `ms`; the returned function takes it back. Never keeps the process alive by itself. */
  after(ms: number, fn: () => void): () => void;
}

/** The longest delay that `setTimeout` takes; above it, it fires at once. */
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

/** The time to measure durations by; a clock without ticks is taken for one that is never set. */
export function ticksOf(clock: Clock): number {
  return clock.ticks === undefined ? clock.now() : clock.ticks();
}
