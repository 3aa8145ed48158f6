/** Parses durations that people write. */

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
/** Longer than any useful time, and within the range of a date. */
const MAX_DURATION_MS = 100 * 365 * 86_400_000;

/** Returns the milliseconds of 30d, 12h, 45m, 90s or 2w; undefined for another text. */
export function durationMs(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNIT_MS[unit] ?? 0);
  return ms > 0 && ms <= MAX_DURATION_MS ? ms : undefined;
}
