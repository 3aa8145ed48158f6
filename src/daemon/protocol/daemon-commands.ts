/** The commands that a running daemon can run for a shell: they use its hosts and change no files. */

export const DAEMON_COMMANDS: ReadonlySet<string> = new Set([
  'call',
  'list',
  'status',
  'tools',
  'tool',
  'info',
  'search',
  'resources',
  'read',
  'prompts',
  'prompt',
  'reconnect',
]);
