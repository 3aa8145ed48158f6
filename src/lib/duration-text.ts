/** Formats a time to wait for people and models, rounded up so that it is never too short. */

const MINUTE_S = 60;
const HOUR_MIN = 60;
/** Below this, seconds are exact. */
const EXACT_S = 120;

export function durationText(seconds: number): string {
  if (seconds < EXACT_S) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / MINUTE_S);
  if (minutes < 2 * HOUR_MIN) return `${minutes} min`;
  const rest = minutes % HOUR_MIN;
  return `${Math.floor(minutes / HOUR_MIN)} h${rest === 0 ? '' : ` ${rest} min`}`;
}
