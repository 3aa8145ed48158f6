/** Parses `minAge`: how long a version must have been published before it is locked. */

import type { ServerEntry, Settings } from './entry.ts';
import { isStdio } from './entry.ts';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The format, for the table of keys. */
export const AGE_PATTERN = '^\\d{1,5}[mhdw]$';

/** Returns the least age of a version in milliseconds; 0 if neither the entry nor the settings have one. */
export function minAgeMs(entry: ServerEntry, settings: Settings): number {
  const written = (isStdio(entry) ? entry.minAge : undefined) ?? settings.minAge;
  const [, digits = '0', unit = ''] = /^(\d{1,5})([mhdw])$/.exec(written ?? '') ?? [];
  return Number(digits) * (UNIT_MS[unit] ?? 0);
}
