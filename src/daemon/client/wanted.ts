/** Whether the environment wants a daemon: PLUGBOARD_DAEMON says no, or yes for commands too, or nothing. */

/** False: no one looks for one. */
export function allowsDaemon(env: NodeJS.ProcessEnv): boolean {
  return !['0', 'false', 'off', 'no'].includes(asked(env));
}

/** True: commands start one, too. */
export function wantsDaemon(env: NodeJS.ProcessEnv): boolean {
  return ['1', 'true', 'on', 'yes'].includes(asked(env));
}

function asked(env: NodeJS.ProcessEnv): string {
  return (env['PLUGBOARD_DAEMON'] ?? '').toLowerCase();
}
