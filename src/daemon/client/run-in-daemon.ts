/** Runs without loading the command line: `serve --stdio` as a relay, and commands that the daemon can run. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import { findHome, type Home } from '../../config/home.ts';
import { EXIT_STATUS } from '../../errors.ts';
import { attempt } from '../../lib/attempt.ts';
import { defined } from '../../lib/defined.ts';
import { isRecord, parseJson } from '../../lib/json.ts';
import { LineCutter } from '../../lib/lines.ts';
import { questionPlace } from '../../lib/question-place.ts';
import { isReaderGone, isTerminal, outputFailed, Sink } from '../../lib/sink.ts';
import {
  type Approvals,
  type CommandAnswer,
  type CommandFrame,
  DAEMON_COMMANDS,
  isApprovals,
  isBackground,
  type Screen,
} from '../protocol/daemon-messages.ts';
import { placeOf } from '../protocol/daemon-place.ts';
import { allowsDaemon, commandsStartDaemon } from '../protocol/daemon-use.ts';
import { attach, attachOrStart } from './attach.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Resolves to the exit status. Undefined: nothing was done, and the command line must be loaded, which parses every
 * flag and reports errors. `alone`: the same, and no daemon can be used.
 */
export async function runThroughDaemon(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  ask: AskPerson,
): Promise<number | 'alone' | undefined> {
  if (!allowsDaemon(env)) return undefined;
  if (argv[0] === 'serve') return serveThroughDaemon(argv.slice(1), env);
  const command = argv.find((word) => word !== '--json') ?? '';
  return DAEMON_COMMANDS.has(command) ? runInDaemon(argv, env, ask) : undefined;
}

async function serveThroughDaemon(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number | 'alone' | undefined> {
  const flags = parseServeFlags(argv);
  if (flags === undefined) return undefined;
  const { cwd, approvals } = flags;
  const home = findHome(env);
  // The command line reports it.
  if (!(await isReadable(home.config))) return undefined;
  const { relayServe } = await import('./relay.ts');
  const stop = new AbortController();
  const stopped = (): void => {
    if (stop.signal.aborted) process.exit(EXIT_STATUS.CANCELLED);
    stop.abort();
  };
  for (const name of SIGNALS) process.on(name, stopped);
  const done = await relayServe({
    home,
    env,
    request: { kind: 'mcp', cwd, env, approvals },
    signal: stop.signal,
  });
  for (const name of SIGNALS) process.off(name, stopped);
  return done ? 0 : 'alone';
}

/** False if `config.json` is empty or not valid, so that the user's servers would be missing without a reason. */
async function isReadable(file: string): Promise<boolean> {
  const text = attempt(() => readFileSync(file, 'utf8'), undefined);
  if (text === undefined) return !existsSync(file);
  if (isRecord(parseJson(text))) return true;
  const { parseDocument } = await import('../../config/document.ts');
  const { isEmpty, problems } = await parseDocument(file, text);
  return isEmpty !== true && problems.length === 0;
}

interface ServeFlags {
  readonly cwd: string;
  readonly approvals: Approvals;
}

/** Returns undefined for flags that a relay does not support: then `serve-command.ts` parses all of them. */
function parseServeFlags(argv: readonly string[]): ServeFlags | undefined {
  let cwd = currentFolder();
  let approvals: Approvals = 'client';
  for (let at = 0; at < argv.length; at++) {
    const [flag, given = argv[at + 1]] = splitFlag(argv[at] ?? '');
    if (flag === '--stdio') continue;
    if (flag === '--cwd' && given !== undefined) cwd = existingFolder(given);
    else if (flag === '--approvals' && isApprovals(given)) approvals = given;
    else return undefined;
    if (!(argv[at] ?? '').includes('=')) at++;
  }
  return cwd === undefined ? undefined : { cwd, approvals };
}

function splitFlag(word: string): [string, string | undefined] {
  const equals = word.indexOf('=');
  return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

function existingFolder(given: string): string | undefined {
  const folder = resolve(given);
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? folder : undefined;
}

/** Returns undefined in a folder that was deleted. */
function currentFolder(): string | undefined {
  return attempt(() => process.cwd(), undefined);
}

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;

/** Arguments with which a command needs its own host or its own stdin. */
const LOCAL: ReadonlySet<string> = new Set(['--verbose', '--server', '--no-connect', '-h', '--help', '-']);

const LOST = {
  code: 'CONNECTION_LOST',
  message: 'The daemon ended while it ran this command, which may or may not have finished',
  hint: 'Check the result before you try again. The reason is in run/daemon.log of the configuration folder.',
};

/** Asks the person a server's question; loaded only then. */
type AskPerson = (question: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** Returns undefined if no daemon runs or the command has to run locally: then nothing was done. */
async function runInDaemon(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  ask: AskPerson,
): Promise<number | undefined> {
  if (argv.some((word) => LOCAL.has(word) || word.startsWith('--server=') || word.endsWith('=@-')))
    return undefined;
  const home = findHome(env);
  const place = placeOf(home);
  const cwd = currentFolder();
  if (place === undefined || cwd === undefined) return undefined;
  let onReaderGone = (_error: Error): void => {};
  const stdout = new Sink(STDOUT, (error) => onReaderGone(error));
  const stderr = new Sink(STDERR, () => {});
  const screen = screenOf(stdout, stderr, argv);
  const request = {
    kind: 'command',
    cwd,
    env,
    words: argv,
    screen,
    workspace: 'any',
  } as const;
  if (commandsStartDaemon(env)) await startFirst(home, env);
  // A call in the background outlives its command.
  const attaching = isBackground(argv) ? attachOrStart(home, place, env, request) : attach(place, request);
  const attached = await attaching.catch(() => undefined);
  if (attached === undefined) return undefined;
  const { socket, response } = attached;
  if (!response.ok) {
    socket.destroy();
    return undefined;
  }
  // A reader that closes the pipe has read enough: not an error.
  let status: number | 'local' | undefined;
  onReaderGone = (error) => {
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
    if (argv.includes('--json')) stdout.write(`${JSON.stringify({ error: LOST }, null, 2)}\n`);
    else stderr.write(`error: ${message}\nhint:  ${hint}\n`);
  }
  await Promise.all([stdout.flushed(), stderr.flushed()]);
  return status ?? EXIT_STATUS.CONNECTION_LOST;
}

/** Loaded only if a daemon must be started. */
async function startFirst(home: Home, env: NodeJS.ProcessEnv): Promise<void> {
  const { startDaemon } = await import('./control.ts');
  await startDaemon(home, env).catch(() => {});
}

async function answer(socket: Socket, asked: Promise<unknown>): Promise<void> {
  const given: CommandAnswer = { answer: await asked.catch(() => ({ action: 'cancel' })) };
  if (socket.writable) socket.write(`${JSON.stringify(given)}\n`);
}

function screenOf(stdout: Sink, stderr: Sink, argv: readonly string[]): Screen {
  const place = questionPlace({
    stdin: isTerminal(STDIN),
    stdout: stdout.isTerminal,
    stderr: stderr.isTerminal,
    json: argv.includes('--json'),
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
    ...defined({ columns, rows }),
  };
}
