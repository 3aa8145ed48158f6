/**
 * `plugboard __complete -- <words>`: what the completion of shells asks, answered from files alone. A bundle of its own,
 * because somebody waits with a finger on the key: neither commander nor any command is loaded.
 */

import { readFileSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import { knownTools } from '../../catalog/known-tools.ts';
import type { ServerSpec } from '../../config/entry.ts';
import { findHome } from '../../config/home.ts';
import { clean } from '../../policy/clean.ts';
import { type Candidate, type Completion, complete, type Names } from './candidates.ts';
import type { Vocabulary } from './vocabulary.ts';

const STDOUT = 1;
/** Where the build has put the words of all commands. */
const WORDS_FILE = '../../bin/command-words.json';
/** One line for each candidate, `value<TAB>about`; or one line that says what the shell should complete itself. */
export async function runComplete(argv: readonly string[]): Promise<void> {
  const words = argv[0] === '--' ? argv.slice(1) : argv;
  const vocabulary = JSON.parse(readFileSync(new URL(WORDS_FILE, import.meta.url), 'utf8')) as Vocabulary;
  // Nobody can read an error in the middle of a line that is being typed.
  const found = await complete(words, vocabulary, namesFromFiles()).catch((): Completion => []);
  writeSync(STDOUT, typeof found === 'string' ? `:${found}\n` : found.flatMap(lineOf).join(''));
}

function lineOf({ value, about = '', open }: Candidate): string[] {
  // A name that would break the line, or hides something, is left out: changed it would name nothing.
  if (value === '' || clean(value, { multiline: false }) !== value) return [];
  return [`${value}\t${clean(about, { multiline: false })}${open ? '\topen' : ''}\n`];
}

function namesFromFiles(): Names {
  const home = findHome(process.env);
  const specs = async (cwd = '.'): Promise<readonly ServerSpec[]> => {
    // Commands and flags are completed without it.
    const { loadEffective } = await import('../../policy/effective.ts');
    return (await loadEffective({ cwd: resolve(cwd), home, env: process.env })).servers;
  };
  const toolsOf = async (cwd: string | undefined, server: string) => {
    const spec = (await specs(cwd)).find(({ name }) => name === server);
    return spec === undefined ? [] : knownTools(home, spec);
  };
  return {
    servers: async (cwd) =>
      (await specs(cwd)).map(({ name, scope }) => ({ value: name, about: `${scope} scope` })),
    tools: async (cwd, server) => (await toolsOf(cwd, server)).map(({ name }) => ({ value: name })),
    parameters: async (cwd, server, tool) => {
      const known = (await toolsOf(cwd, server)).find(({ name }) => name === tool);
      return (known?.parameters ?? []).map((value) => ({ value }));
    },
  };
}
