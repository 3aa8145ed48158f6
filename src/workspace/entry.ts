/** The workspace server as an entry of the configuration: a process of our own command. */

import { fileURLToPath } from 'node:url';
import type { ServerEntry, Settings } from '../config/entry.ts';

/** What it is called where the person has not called it otherwise. */
const WORKSPACE_NAME = 'workspace';

const COMMAND: string = fileURLToPath(new URL('../bin/plugboard.cjs', import.meta.url));

/** The entry for the project that a host is made in, which is its working folder; none when the person wants none. */
export function workspaceEntries({ workspace = true }: Settings): Readonly<Record<string, ServerEntry>> {
  if (workspace === false) return {};
  const shell = workspace !== true && workspace.shell === true;
  const entry: ServerEntry = {
    command: process.execPath,
    args: [COMMAND, 'workspace', '.', ...(shell ? ['--shell'] : [])],
    // Who commits, and what signs for them.
    envVars: [
      'GIT_AUTHOR_NAME',
      'GIT_AUTHOR_EMAIL',
      'GIT_COMMITTER_NAME',
      'GIT_COMMITTER_EMAIL',
      'GIT_CONFIG_GLOBAL',
      'GNUPGHOME',
      'SSH_AUTH_SOCK',
    ],
    // Its annotations are ours.
    trusted: true,
    // It changes with Plugboard itself, and with nothing else.
    pins: 'off',
    ...(shell ? { tools: { shell: { approval: 'prompt' } } } : {}),
  };
  return { [WORKSPACE_NAME]: entry };
}
