/** Runs without loading the command line: `serve --stdio` as a relay, and commands that the daemon can run. */

import { statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import { findHome, type Home } from '../../config/home.ts';
import { EXIT_STATUS } from '../../errors.ts';
import { LineCutter } from '../../lib/lines.ts';
import { questionPlace } from '../../lib/question-place.ts';
import { isReaderGone, isTerminal, outputFailed, Sink } from '../../lib/sink.ts';
import { allowsDaemon, placeOf, wantsDaemon } from '../protocol/daemon-place.ts';
import { type CommandAnswer, type CommandFrame, DAEMON_COMMANDS, type Screen } from '../protocol/hello.ts';
import { attach } from './attach.ts';

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
  const { relayServe } = await import('./relay.ts');
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

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;

/** Arguments with which a command needs its own host or its own stdin. */
const LOCAL: ReadonlySet<string> = new Set(['--verbose', '--server', '--no-connect', '-h', '--help', '-']);

const LOST = {
  code: 'CONNECTION_LOST',
  message: 'The daemon ended while it ran this command; the command may or may not have been completed',
  hint: 'Check the result, then try again. `plugboard daemon status` shows the daemon, run/daemon.log in the home its log.',
};

/** Asks the person a server's question; loaded only then. */
type AskPerson = (question: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** Returns undefined if no daemon runs or the command has to run locally: then nothing was done. */
async function runInDaemon(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  ask: AskPerson,
): Promise<number | undefined> {
  if (words.some((word) => LOCAL.has(word) || word.startsWith('--server=') || word.endsWith('=@-')))
    return undefined;
  const home = findHome(env);
  const place = placeOf(home);
  if (place === undefined) return undefined;
  let onGone = (_error: Error): void => {};
  const stdout = new Sink(STDOUT, (error) => onGone(error));
  const stderr = new Sink(STDERR, () => {});
  const screen = screenOf(stdout, stderr, words);
  const hello = { kind: 'command', cwd: process.cwd(), env, words, screen, workspace: 'any' } as const;
  if (wantsDaemon(env)) await startFirst(home, env);
  const attached = await attach(place, hello).catch(() => undefined);
  if (attached === undefined) return undefined;
  const { socket, welcome } = attached;
  if (!welcome.ok) {
    socket.destroy();
    return undefined;
  }
  // A reader that closes the pipe has read enough: not an error.
  let status: number | 'local' | undefined;
  onGone = (error) => {
    status = 0;
    if (!isReaderGone(error)) {
      const { code, message, hint } = outputFailed(error);
      stderr.write(`error: ${message}\nhint:  ${hint}\n`);
      status = EXIT_STATUS[code];
    }
    socket.destroy();
  };
  const lines = new LineCutter((line) => {
    // Written by our own daemon, on a socket of this user.
    const frame = JSON.parse(line.toString('utf8')) as CommandFrame;
    if ('out' in frame) stdout.write(frame.out);
    else if ('err' in frame) stderr.write(frame.err);
    else if ('ask' in frame) void answer(socket, ask(frame.ask));
    // A status that this process set itself takes precedence.
    else status ??= 'local' in frame ? 'local' : frame.exit;
  });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => socket.end());
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => lines.push(chunk));
    socket.once('end', () => socket.end());
    socket.once('close', () => resolve());
    socket.resume();
  });
  if (status === 'local') return undefined;
  if (status === undefined) {
    const { message, hint } = LOST;
    if (words.includes('--json')) stdout.write(`${JSON.stringify({ error: LOST }, null, 2)}\n`);
    else stderr.write(`error: ${message}\nhint:  ${hint}\n`);
  }
  await Promise.all([stdout.flushed(), stderr.flushed()]);
  return status ?? EXIT_STATUS.CONNECTION_LOST;
}

/** Loaded only if a daemon has to be started. */
async function startFirst(home: Home, env: NodeJS.ProcessEnv): Promise<void> {
  const { startDaemon } = await import('./control.ts');
  await startDaemon(home, env).catch(() => {});
}

async function answer(socket: Socket, asked: Promise<unknown>): Promise<void> {
  const given: CommandAnswer = { answer: await asked.catch(() => ({ action: 'cancel' })) };
  if (socket.writable) socket.write(`${JSON.stringify(given)}\n`);
}

function screenOf(stdout: Sink, stderr: Sink, words: readonly string[]): Screen {
  const place = questionPlace({
    stdin: isTerminal(STDIN),
    stdout: stdout.isTerminal,
    stderr: stderr.isTerminal,
    json: words.includes('--json'),
  });
  return {
    stdout: sizeOf(stdout),
    stderr: sizeOf(stderr),
    canAsk: 'on' in place,
    canAnswer: 'on' in place,
    ...('why' in place ? { notAsked: place.why } : {}),
  };
}

function sizeOf({ isTerminal: terminal, columns, rows }: Sink): Screen['stdout'] {
  return {
    isTerminal: terminal,
    ...(columns === undefined ? {} : { columns }),
    ...(rows === undefined ? {} : { rows }),
  };
}
