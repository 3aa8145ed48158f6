/** Checks whether Plugboard's home is writable and its secrets are readable by the owner only. */

import { accessSync, constants, existsSync, type StatsFs, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Home } from '../config/home.ts';
import type { Check } from './check.ts';

/** Permission bits for group and others. */
const OTHERS = 0o077;
/** Minimum free space in bytes, enough for a configuration or a token file. */
const SMALL_FILE_BYTES = 16 * 1024;

export function checkHome({ dir, credentials }: Home): Check {
  const bad = (message: string, hint: string): Check => ({ id: 'home', ok: false, message, hint });
  if (!mayWrite(dir)) {
    return bad(`${dir} cannot be written`, 'Make it yours (chown), or set PLUGBOARD_HOME to another folder.');
  }
  if (isFull(statfsSync(nearestOf(dir)))) {
    return bad(
      `No space is left on the disk of ${dir}`,
      'Free some space, or set PLUGBOARD_HOME to another folder.',
    );
  }
  const mode = statSync(credentials, { throwIfNoEntry: false })?.mode ?? 0;
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
    return bad(`${credentials} can be read by others`, `Take that away: chmod 600 ${credentials}`);
  }
  return {
    id: 'home',
    ok: true,
    message: `${dir} ${existsSync(dir) ? 'is yours' : 'will be made when it is needed'}`,
  };
}

/** Returns the folder, or its nearest existing parent. */
function nearestOf(folder: string): string {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  return nearest;
}

/** True if not even a small file fits. File systems that report 0 blocks do not report their free space. */
export function isFull({ bavail, bsize, blocks }: Pick<StatsFs, 'bavail' | 'bsize' | 'blocks'>): boolean {
  return blocks > 0 && bavail * bsize < SMALL_FILE_BYTES;
}

function mayWrite(folder: string): boolean {
  const nearest = nearestOf(folder);
  try {
    accessSync(nearest, constants.W_OK);
    return statSync(nearest).isDirectory();
  } catch {
    return false;
  }
}
