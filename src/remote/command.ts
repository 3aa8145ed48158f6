/** A command that runs in the daemon, where its servers are: what it prints comes back, and its exit status. */

import { findHome, type Home } from '../config/home.ts';
import { EXIT_STATUS } from '../errors.ts';
import { isTerminal, Sink } from '../lib/sink.ts';
import { attach } from './attach.ts';
import type { CommandFrame, Screen } from './hello.ts';
import { LineCutter } from './lines.ts';
import { placeOf } from './place.ts';
import { wantsDaemon } from './wanted.ts';

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;

/** Words after which a command needs a host, or a stdin, of its own. */
const AT_HOME: ReadonlySet<string> = new Set(['--verbose', '--server', '--no-connect', '-h', '--help', '-']);

const LOST = {
  code: 'CONNECTION_LOST',
  message: 'The daemon was lost while it ran this command, and whether it was done is not known.',
  hint: 'plugboard daemon status shows the daemon, and run/daemon.log in the home says what happened.',
};

/** Undefined when no daemon runs, or it says that the command is better run at home: then nothing was done. */
export async function runThere(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number | undefined> {
  if (words.some((word) => AT_HOME.has(word) || word.startsWith('--server='))) return undefined;
  const home = findHome(env);
  const place = placeOf(home, env);
  if (place === undefined) return undefined;
  let onGone = (): void => {};
  const stdout = new Sink(STDOUT, () => onGone());
  const stderr = new Sink(STDERR, () => {});
  const screen = screenOf(stdout, stderr);
  const hello = { kind: 'command', cwd: process.cwd(), env, words, screen } as const;
  if (wantsDaemon(env)) await startFirst(home, env);
  const attached = await attach(place.record, hello).catch(() => undefined);
  if (attached === undefined) return undefined;
  const { socket, welcome } = attached;
  if (!welcome.ok) {
    socket.destroy();
    return undefined;
  }
  // Whoever closed the pipe has seen enough: that is no failure.
  let status: number | 'home' | undefined;
  onGone = () => {
    status = 0;
    socket.destroy();
  };
  const lines = new LineCutter((line) => {
    // Of the daemon of our own build, on our own socket.
    const frame = JSON.parse(line.toString('utf8')) as CommandFrame;
    if ('out' in frame) stdout.write(frame.out);
    else if ('err' in frame) stderr.write(frame.err);
    else status = 'home' in frame ? 'home' : frame.exit;
  });
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => socket.end());
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => lines.push(chunk));
    socket.once('end', () => socket.end());
    socket.once('close', () => resolve());
    socket.resume();
  });
  if (status === 'home') return undefined;
  if (status === undefined) {
    const { message, hint } = LOST;
    if (words.includes('--json')) stdout.write(`${JSON.stringify({ error: LOST }, null, 2)}\n`);
    else stderr.write(`error: ${message}\nhint:  ${hint}\n`);
  }
  await Promise.all([stdout.flushed(), stderr.flushed()]);
  return status ?? EXIT_STATUS.CONNECTION_LOST;
}

/** What starts processes is loaded by whoever has to. */
async function startFirst(home: Home, env: NodeJS.ProcessEnv): Promise<void> {
  const { startDaemon } = await import('./control.ts');
  await startDaemon(home, env).catch(() => {});
}

function screenOf(stdout: Sink, stderr: Sink): Screen {
  return {
    stdout: sizeOf(stdout),
    stderr: sizeOf(stderr),
    canAsk: stdout.isTerminal && isTerminal(STDIN),
  };
}

function sizeOf({ isTerminal: terminal, columns, rows }: Sink): Screen['stdout'] {
  return {
    isTerminal: terminal,
    ...(columns === undefined ? {} : { columns }),
    ...(rows === undefined ? {} : { rows }),
  };
}
