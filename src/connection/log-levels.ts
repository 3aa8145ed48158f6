/** The eight levels of log messages, and which of two lets more through. */

/** Least severe first. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

const RANKS: ReadonlyMap<unknown, number> = new Map(LOG_LEVELS.map((level, rank) => [level, rank]));

export function isLogLevel(value: unknown): value is LogLevel {
  return RANKS.has(value);
}

/** Whether a message of this level reaches a reader that wants `least` and everything more severe. */
export function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return rankOf(level) >= rankOf(least);
}

/** The one that lets more messages through. */
export function moreVerbose(one: LogLevel, other: LogLevel | undefined): LogLevel {
  return other === undefined || isAtLeast(other, one) ? one : other;
}

function rankOf(level: LogLevel): number {
  return RANKS.get(level) ?? 0;
}
