#!/usr/bin/env node
/** Entry point of the command `plugboard`, and the only place that ends the process. */

import { writeSync } from 'node:fs';
import { DAEMON_COMMANDS } from '../daemon/protocol/daemon-messages.ts';
import { readVersion } from '../lib/version.ts';

const STDOUT = 1;

const [, , ...words] = process.argv;
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  // Scripts ask for the version often, so it is printed before anything is loaded, streams included.
  writeSync(STDOUT, `${readVersion()}\n`);
} else if (words[0] === '__complete') {
  void completeWords();
} else {
  void main();
}

async function completeWords(): Promise<void> {
  const { runComplete } = await import('./completion/run-complete.ts');
  await runComplete(words.slice(1));
}

async function main(): Promise<void> {
  const command = words.find((word) => word !== '--json') ?? '';
  // A relay, or a command that a running daemon can run. Commands that only read files need no daemon.
  if ((command === 'serve' || DAEMON_COMMANDS.has(command)) && !words.includes('--no-connect')) {
    const { runQuickly } = await import('../daemon/client/run-in-daemon.ts');
    const status = await runQuickly(words, process.env, async (question) => {
      const { askForDaemon } = await import('./elicit-form.ts');
      return askForDaemon(question, words.includes('--json'));
    });
    if (status === 'alone') words.push('--no-daemon');
    else if (status !== undefined) process.exit(status);
  }
  if (words[0] === 'workspace') {
    const { runWorkspaceQuickly } = await import('./workspace-program.ts');
    const status = await runWorkspaceQuickly(words.slice(1), process.env, (code) => process.exit(code));
    if (status !== undefined) process.exit(status);
  }
  const { runCommand } = await import('./command-table.ts');
  process.exit(await runCommand(words, (status) => process.exit(status)));
}
