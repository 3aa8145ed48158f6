/** The processes that tools start: each in a group of its own, bounded in time and output, and ended with its call. */

import { type ChildProcess, spawn } from 'node:child_process';
import { PlugboardError } from '../errors.ts';
import { type Clock, systemClock } from '../lib/clock.ts';

/** What a process may leave behind itself in its group gets this long to end by itself. */
const DRAIN_MS = 200;

export interface Run {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Written to its stdin, which is then closed; or an open file that is its stdin. */
  readonly input?: string | number;
  /** More output than this is dropped; for stdout and stderr each. */
  readonly maxBytes: number;
  /** Takes stdout as it comes instead of keeping it; `false` has seen enough, and ends the process. */
  readonly onOutput?: (chunk: Buffer) => boolean;
}

export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Bytes that were dropped. */
  readonly dropped: { readonly stdout: number; readonly stderr: number };
  readonly timedOut: boolean;
}

export class Children {
  readonly #running = new Set<ChildProcess>();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Runs a program to its end. Rejects when it cannot be started, and when the call is cancelled. */
  run(options: Run): Promise<Ended> {
    const { signal, input } = options;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const child = spawn(options.program, [...options.args], {
        cwd: options.cwd,
        env: options.env,
        stdio: [typeof input === 'string' ? 'pipe' : (input ?? 'ignore'), 'pipe', 'pipe'],
        // A group of its own: what it starts is ended with it.
        detached: process.platform !== 'win32',
        windowsHide: true,
      });
      this.#running.add(child);
      const stdout = new Kept(options.maxBytes);
      const stderr = new Kept(options.maxBytes);
      let timedOut = false;
      child.stdout?.on('data', (chunk: Buffer) => {
        if (options.onOutput === undefined) stdout.take(chunk);
        else if (!options.onOutput(chunk)) endGroup(child);
      });
      child.stderr?.on('data', (chunk: Buffer) => stderr.take(chunk));
      child.stdin?.on('error', () => {}); // It need not read what it is given.
      if (typeof input === 'string') child.stdin?.end(input);
      const onAbort = (): void => endGroup(child);
      signal.addEventListener('abort', onAbort, { once: true });
      const stopTimer = this.#clock.after(options.timeoutMs, () => {
        timedOut = true;
        endGroup(child);
      });
      let stopDraining = (): void => {};
      const leave = (): void => {
        stopTimer();
        stopDraining();
        signal.removeEventListener('abort', onAbort);
        this.#running.delete(child);
      };
      child.once('error', (cause) => {
        leave();
        reject(new PlugboardError('START_FAILED', `${options.program} cannot be started.`, { cause }));
      });
      // Something in the background may hold its pipes open for ever.
      child.once('exit', () => {
        stopDraining = this.#clock.after(DRAIN_MS, () => endGroup(child));
      });
      child.once('close', (code, ended) => {
        leave();
        endGroup(child);
        if (signal.aborted) return reject(signal.reason);
        const dropped = { stdout: stdout.dropped, stderr: stderr.dropped };
        resolve({ code, signal: ended, stdout: stdout.bytes(), stderr: stderr.bytes(), dropped, timedOut });
      });
    });
  }

  /** Ends everything that still runs. */
  close(): void {
    for (const child of this.#running) endGroup(child);
  }
}

/** The group outlives its first process; nobody else can have its number while one of it lives. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

/** The first bytes of a stream. */
class Kept {
  readonly #chunks: Buffer[] = [];
  readonly #max: number;
  #size = 0;
  dropped = 0;

  constructor(max: number) {
    this.#max = max;
  }

  take(chunk: Buffer): void {
    const part = chunk.subarray(0, this.#max - this.#size);
    this.dropped += chunk.length - part.length;
    this.#size += part.length;
    if (part.length > 0) this.#chunks.push(part);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
