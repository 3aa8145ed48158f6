/** Reads PLUGBOARD_DAEMON: disables the daemon, enables it for commands too, or leaves the default. */

/** Returns false if the daemon is disabled. */
export function allowsDaemon(env: NodeJS.ProcessEnv): boolean {
  return !['0', 'false', 'off', 'no'].includes(asked(env));
}

/** Returns true if commands should start the daemon, too. */
export function wantsDaemon(env: NodeJS.ProcessEnv): boolean {
  return ['1', 'true', 'on', 'yes'].includes(asked(env));
}

function asked(env: NodeJS.ProcessEnv): string {
  return (env['PLUGBOARD_DAEMON'] ?? '').toLowerCase();
}
