#!/usr/bin/env node
/** Entry point of the bundled command: prints the version, or loads `main.ts` through the code cache. */

import { writeSync } from 'node:fs';
import { findHome } from '../config/home.ts';
import { readVersion } from '../lib/version.ts';
import { CodeCache } from './code-cache.ts';

const STDOUT = 1;

const [, , ...argv] = process.argv;
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  // Scripts ask for the version often, so it is printed before anything is loaded, streams included.
  writeSync(STDOUT, `${readVersion()}\n`);
} else {
  const cache = new CodeCache(
    {
      program: __dirname,
      home: findHome(process.env).dir,
      command: commandOf(argv),
      require,
      import: (id) => import(id),
    },
    process.env,
  );
  process.once('exit', (status) => {
    if (status === 0) cache.store();
  });
  cache.load('./main.cjs');
}

/** Returns the command's name; with other global flags before it, a name that has no code stored. */
function commandOf(words: readonly string[]): string {
  const word = words.find((each) => each !== '--json') ?? 'overview';
  return word === '--help' || word === '-h' ? 'help' : word;
}
