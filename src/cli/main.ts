#!/usr/bin/env node
/** The command `plugboard`: where it begins, and the only place that ends the process. */

import { writeSync } from 'node:fs';
import { readVersion } from '../lib/version.ts';

const STDOUT = 1;
/** Relays, and commands that a running daemon may know the answer to: they need none of the rest. */
const QUICK = /^(?:serve|call|list|status|tools|search|resources|read|prompts|prompt)$/;

const [, , ...words] = process.argv;
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  // Answered before anything is loaded, streams included: scripts ask this all the time.
  writeSync(STDOUT, `${readVersion()}\n`);
} else if (words[0] === '__complete') {
  void completeWords();
} else {
  void main();
}

async function completeWords(): Promise<void> {
  const { runComplete } = await import('./completion/complete.ts');
  await runComplete(words.slice(1));
}

async function main(): Promise<void> {
  const command = words.find((word) => word !== '--json') ?? '';
  // What is answered from files needs no daemon, nor what it takes to look for one.
  if (QUICK.test(command) && !words.includes('--no-connect')) {
    const { runQuickly } = await import('../remote/quick.ts');
    const status = await runQuickly(words, process.env);
    if (status === 'alone') words.push('--no-daemon');
    else if (status !== undefined) process.exit(status);
  }
  if (words[0] === 'workspace') {
    const { runWorkspaceQuickly } = await import('./workspace-program.ts');
    const status = await runWorkspaceQuickly(words.slice(1), process.env, (code) => process.exit(code));
    if (status !== undefined) process.exit(status);
  }
  const { runCommand } = await import('./commands.ts');
  process.exit(await runCommand(words, (status) => process.exit(status)));
}
