#!/usr/bin/env node
/** The command `plugboard`: where it begins, and the only place that ends the process. */

import { writeSync } from 'node:fs';
import { readVersion } from '../lib/version.ts';

const STDOUT = 1;

const [, , ...words] = process.argv;
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  // Answered before anything is loaded, streams included: scripts ask this all the time.
  writeSync(STDOUT, `${readVersion()}\n`);
} else {
  void main();
}

async function main(): Promise<void> {
  const { runCommand } = await import('./commands.ts');
  process.exit(await runCommand(words, (status) => process.exit(status)));
}
