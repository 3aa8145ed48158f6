/** Decides whether a process may use or start the daemon. Small, because every command that connects loads it first. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../config/home.ts';

/** Returns the file by which clients find the running daemon. */
export function recordFile(home: Home): string {
  return join(home.run, 'daemon.json');
}

/** Returns false if no daemon can run a command: none has left its record, and none may be started. */
export function mayHaveDaemon(home: Home, env: NodeJS.ProcessEnv): boolean {
  return allowsDaemon(env) && (commandsStartDaemon(env) || existsSync(recordFile(home)));
}

/** Returns false if PLUGBOARD_DAEMON disables the daemon. */
export function allowsDaemon(env: NodeJS.ProcessEnv): boolean {
  return !['0', 'false', 'off', 'no'].includes(daemonSetting(env));
}

/** Returns true if PLUGBOARD_DAEMON lets commands start the daemon, too. */
export function commandsStartDaemon(env: NodeJS.ProcessEnv): boolean {
  return ['1', 'true', 'on', 'yes'].includes(daemonSetting(env));
}

function daemonSetting(env: NodeJS.ProcessEnv): string {
  return (env['PLUGBOARD_DAEMON'] ?? '').toLowerCase();
}
