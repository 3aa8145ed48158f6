#!/usr/bin/env node
/** Entry point of the bundled command: prints the version, or loads the parts of the command through the code cache. */

import { writeSync } from 'node:fs';
import { findHome } from '../config/home.ts';
import { readVersion } from '../lib/version.ts';
import { CodeCache } from './code-cache.ts';
import { type CommandModules, runMain } from './run-main.ts';

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
  // The build gives each file the exports of its module (scripts/bundle.mjs).
  const part =
    <Name extends keyof CommandModules>(file: string) =>
    async (): Promise<CommandModules[Name]> =>
      cache.load(file) as CommandModules[Name];
  runMain(argv, {
    commands: part<'commands'>('./commands.cjs'),
    completion: part<'completion'>('./complete.cjs'),
    daemon: part<'daemon'>('./remote.cjs'),
    questions: part<'questions'>('./other-commands.cjs'),
    workspace: part<'workspace'>('./workspace.cjs'),
  });
}

/** Returns the command's name; with other global flags before it, a name that has no code stored. */
function commandOf(words: readonly string[]): string {
  const word = words.find((each) => each !== '--json') ?? 'overview';
  return word === '--help' || word === '-h' ? 'help' : word;
}
