/** The eight log levels of the protocol, and their order. */

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

/** Whether a message of this level passes the minimum level `least`. */
export function isAtLeast(level: LogLevel, least: LogLevel): boolean {
  return rankOf(level) >= rankOf(least);
}

/** Returns the level that passes more messages. */
export function moreVerbose(one: LogLevel, other: LogLevel | undefined): LogLevel {
  return other === undefined || isAtLeast(other, one) ? one : other;
}

function rankOf(level: LogLevel): number {
  return RANKS.get(level) ?? 0;
}
