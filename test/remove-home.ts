/** Removes a folder of a test after the daemon of each home in it has ended: a running one writes into its home. */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const COMMAND = fileURLToPath(new URL('../dist/bin/plugboard.cjs', import.meta.url));
/** Homes are at most this deep in a test's folder. */
const MAX_DEPTH = 5;

export function removeHome(folder: string): void {
  for (const home of homesIn(folder, MAX_DEPTH)) {
    const env = { ...process.env, PLUGBOARD_HOME: home };
    execFileSync(process.execPath, [COMMAND, 'daemon', 'stop'], { env, stdio: 'ignore' });
  }
  rmSync(folder, { recursive: true, force: true });
}

function homesIn(folder: string, depth: number): string[] {
  if (!existsSync(folder)) return [];
  const own = existsSync(join(folder, 'run', 'daemon.json')) ? [folder] : [];
  if (depth === 0) return own;
  const folders = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'node_modules',
  );
  return [...own, ...folders.flatMap(({ name }) => homesIn(join(folder, name), depth - 1))];
}
