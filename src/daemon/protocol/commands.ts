/** The commands that a running daemon can run for a shell: they ask its hosts something and change nothing else. */

export const DAEMON_COMMANDS: ReadonlySet<string> = new Set([
  'call',
  'list',
  'status',
  'tools',
  'tool',
  'search',
  'resources',
  'read',
  'prompts',
  'prompt',
]);
