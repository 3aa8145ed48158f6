/** The command on a real pseudo-terminal, which Debian's `script` provides, with answers typed into it. */

import { spawn } from 'node:child_process';
import { joinArgv } from '../../src/lib/argv.ts';
import { COMMAND, type Place } from './command.ts';

interface Answer {
  /** What must be on the screen first. */
  readonly after: string;
  readonly type: string;
}

export interface TerminalOptions {
  readonly answers?: readonly Answer[];
  readonly env?: Readonly<Record<string, string>>;
  /** 100 unless given. */
  readonly columns?: number;
}

export function onTerminal(
  place: Pick<Place, 'project' | 'home' | 'placeless'>,
  args: readonly string[],
  options: TerminalOptions = {},
): Promise<{ status: number | null; screen: string }> {
  const { NO_COLOR: _, CI: __, ...inherited } = process.env;
  const line = `stty cols ${options.columns ?? 100} rows 40; exec ${joinArgv([process.execPath, COMMAND, ...args])}`;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: place.project,
    env: { ...inherited, TERM: 'xterm-256color', PLUGBOARD_HOME: place.home, ...options.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = [...(options.answers ?? [])];
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    const next = waiting[0];
    if (next === undefined || !screen.includes(next.after)) return;
    waiting.shift();
    child.stdin.write(next.type);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, screen: place.placeless(screen) }));
  });
}
