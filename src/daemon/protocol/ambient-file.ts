/** Stores the variables of the person's shell that the daemon remembers: see `server/ambient-environment.ts`. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../config/home.ts';
import { isRecord } from '../../lib/json.ts';

export function ambientFile({ run }: Home): string {
  return join(run, 'environment.json');
}

/** Returns an empty object if there is no file, or it is invalid. */
export function readAmbient(home: Home): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(readFileSync(ambientFile(home), 'utf8'));
    const entries = isRecord(value) ? Object.entries(value) : [];
    return Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return {};
  }
}
