/** Runs without loading the command line: `serve --stdio` as a relay, and commands that the daemon can run. */

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { findHome } from '../../config/home.ts';
import { EXIT_STATUS } from '../../errors.ts';
import { DAEMON_COMMANDS } from '../protocol/daemon-commands.ts';
import { type AskPerson, runInDaemon } from './run-in-daemon.ts';
import { allowsDaemon } from './wanted.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Resolves to the exit status. Undefined: nothing was done, and the command line has to be loaded, which parses every
 * flag and reports errors. `alone`: the same, and no daemon can be used.
 */
export async function runQuickly(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  ask: AskPerson,
): Promise<number | 'alone' | undefined> {
  if (!allowsDaemon(env)) return undefined;
  if (words[0] === 'serve') return serveQuickly(words.slice(1), env);
  const command = words.find((word) => word !== '--json') ?? '';
  return DAEMON_COMMANDS.has(command) ? runInDaemon(words, env, ask) : undefined;
}

async function serveQuickly(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number | 'alone' | undefined> {
  const wanted = readServe(words);
  if (wanted === undefined) return undefined;
  const { cwd, approvals } = wanted;
  const { relayServe } = await import('./relay-serve.ts');
  const stop = new AbortController();
  const stopped = (): void => {
    if (stop.signal.aborted) process.exit(EXIT_STATUS.CANCELLED);
    stop.abort();
  };
  for (const name of SIGNALS) process.on(name, stopped);
  const done = await relayServe({
    home: findHome(env),
    env,
    hello: { kind: 'mcp', cwd, env, approvals },
    signal: stop.signal,
  });
  for (const name of SIGNALS) process.off(name, stopped);
  return done ? 0 : 'alone';
}

interface Wanted {
  readonly cwd: string;
  readonly approvals: 'client' | 'enforce';
}

function readServe(words: readonly string[]): Wanted | undefined {
  let cwd = currentFolder();
  let approvals: Wanted['approvals'] = 'client';
  for (let at = 0; at < words.length; at++) {
    const [flag, given = words[at + 1]] = split(words[at] ?? '');
    if (flag === '--stdio') continue;
    if (flag === '--cwd' && given !== undefined) cwd = existingFolder(given);
    else if (flag === '--approvals' && (given === 'client' || given === 'enforce')) approvals = given;
    else return undefined;
    if (!(words[at] ?? '').includes('=')) at++;
  }
  return cwd === undefined ? undefined : { cwd, approvals };
}

function split(word: string): [string, string | undefined] {
  const equals = word.indexOf('=');
  return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

function existingFolder(given: string): string | undefined {
  const folder = resolve(given);
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? folder : undefined;
}

function currentFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
