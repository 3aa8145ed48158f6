/** Runs the processes of tools: each in its own group, limited in time and output, and ended with its call. */

import { type ChildProcess, spawn } from 'node:child_process';
import { PlugboardError } from '../errors.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { killGroup } from '../lib/process-group.ts';

/** How long background processes in the group may continue after the process exits. */
const DRAIN_MS = 200;

export interface Run {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Text that is written to its stdin, which is then closed; or an open file to use as its stdin. */
  readonly input?: string | number;
  /** Further output is dropped; for stdout and stderr each. */
  readonly maxBytes: number;
  /** Receives stdout instead of keeping it; returning false ends the process. */
  readonly onOutput?: (chunk: Buffer) => boolean;
}

export interface Ended {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Number of dropped bytes. */
  readonly dropped: { readonly stdout: number; readonly stderr: number };
  readonly timedOut: boolean;
}

export class Children {
  readonly #running = new Set<ChildProcess>();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Runs a program to its end. Rejects if it cannot be started, or if the call is cancelled. */
  run(options: Run): Promise<Ended> {
    const { signal, input } = options;
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const child = spawn(options.program, [...options.args], {
        cwd: options.cwd,
        env: options.env,
        stdio: [typeof input === 'string' ? 'pipe' : (input ?? 'ignore'), 'pipe', 'pipe'],
        // An own group, so that its descendants are ended with it.
        detached: process.platform !== 'win32',
        windowsHide: true,
      });
      this.#running.add(child);
      const stdout = new Kept(options.maxBytes);
      const stderr = new Kept(options.maxBytes);
      let timedOut = false;
      child.stdout?.on('data', (chunk: Buffer) => {
        if (options.onOutput === undefined) stdout.take(chunk);
        else if (!options.onOutput(chunk)) killGroup(child.pid);
      });
      child.stderr?.on('data', (chunk: Buffer) => stderr.take(chunk));
      child.stdin?.on('error', () => {}); // a process may close its input early
      if (typeof input === 'string') child.stdin?.end(input);
      const onAbort = (): void => killGroup(child.pid);
      signal.addEventListener('abort', onAbort, { once: true });
      const stopTimer = this.#clock.after(options.timeoutMs, () => {
        timedOut = true;
        killGroup(child.pid);
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
        reject(new PlugboardError('START_FAILED', `${options.program} cannot be started`, { cause }));
      });
      // A background process may hold its pipes open indefinitely.
      child.once('exit', () => {
        stopDraining = this.#clock.after(DRAIN_MS, () => killGroup(child.pid));
      });
      child.once('close', (code, ended) => {
        leave();
        killGroup(child.pid);
        if (signal.aborted) return reject(signal.reason);
        const dropped = { stdout: stdout.dropped, stderr: stderr.dropped };
        resolve({ code, signal: ended, stdout: stdout.bytes(), stderr: stderr.bytes(), dropped, timedOut });
      });
    });
  }

  /** Ends all running processes. */
  close(): void {
    for (const child of this.#running) killGroup(child.pid);
  }
}

/** Keeps the first bytes of a stream. */
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
