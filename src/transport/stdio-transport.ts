/** The stdio transport: runs a server as a child process in its own group, and ends it with all its descendants. */

import { type ChildProcessWithoutNullStreams, type SpawnOptions, spawn } from 'node:child_process';
import { PlugboardError } from '../errors.ts';
import { type Clock, systemClock, ticksOf } from '../lib/clock.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import { processRow } from '../lib/process-table.ts';
import { clean } from '../policy/clean.ts';
import { listeningLine } from './cause-line.ts';
import { type Notice, type Receiver, SENT, type SendOptions, type Transport } from './contract.ts';
import { DEFAULT_MAX_LINE_BYTES, FrameDecoder } from './framing.ts';
import { OWNER_VARIABLE, type Reaper } from './reaper.ts';
import { StderrTail } from './stderr-tail.ts';
import { aborted, exited, gone, halfClosed, spawnFailed } from './stdio-errors.ts';
import { Outbox } from './stdio-outbox.ts';
import { endServer } from './supervise.ts';

/**
 * After its exit, the server's last output is read for this long; a descendant that holds the pipe open is not waited
 * for.
 */
const EXIT_DRAIN_MS = 500;
/** A server that closed its stdin or stdout usually exits, and its exit code is more specific; else it is ended. */
const HALF_CLOSED_MS = 1000;
/** Frames that are delivered before timers and other servers run. */
const MAX_FRAMES_PER_TURN = 2000;
/** How much of a non-frame line on stdout is quoted. */
const MAX_NOISE_CHARS = 200;

export interface StdioOptions {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** The complete environment, see `childEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly maxLineBytes?: number | undefined;
  readonly maxQueuedBytes?: number | undefined;
  readonly clock?: Clock | undefined;
  /** The host's reaper, shared by all its servers. */
  readonly reaper: Reaper;
  /** Removes known secrets from the server's output before it is kept or shown. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Written to the server's log when its process has started. */
  readonly note?: string | undefined;
  /** Called when all processes of the server have ended. */
  readonly release?: (() => Promise<void>) | undefined;
}

/**
 * Creates a transport that runs a server as a child process.
 *
 * @example
 * const reaper = createReaper({ env: process.env });
 * const transport = createStdioTransport({ command: 'node', args: ['server.mjs'], env: childEnvironment({}, process.env), reaper });
 * await transport.open(receiver);
 * await transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
 * await transport.close();
 * await reaper.close();
 */
export function createStdioTransport(options: StdioOptions): Transport {
  return new StdioTransport(options);
}

type Child = ChildProcessWithoutNullStreams;

interface Spawned {
  readonly child: Child;
  /** Resolves when its program runs. */
  readonly running: Promise<void>;
}

class StdioTransport implements Transport {
  readonly kind = 'stdio';
  readonly streamPerRequest = false;
  readonly #options: StdioOptions;
  readonly #clock: Clock;
  readonly #redact: (text: string) => string;
  readonly #decoder: FrameDecoder;
  readonly #stderr: StderrTail;
  #receiver: Receiver | undefined;
  #starting: Promise<Spawned> | undefined;
  #startedAt: number | undefined;
  #owner = '';
  #child: Child | undefined;
  #outbox: Outbox | undefined;
  #hasExited = false;
  /** All output of the exited process was read. */
  #isDrained = false;
  /** Set when shutdown starts; resolves when no process of the server is left. */
  #ending: Promise<void> | undefined;
  #isReported = false;
  #spoke = false;
  #framesThisTurn = 0;
  #noiseLines = 0;
  #lastNoise: string | undefined;
  #listening: string | undefined;

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#redact = options.redact ?? ((text) => text);
    const log = (line: string): void => this.#notice('debug', line);
    this.#stderr = new StderrTail({ clock: this.#clock, redact: this.#redact, log });
    this.#decoder = new FrameDecoder(
      {
        message: (message) => this.#message(message),
        lost: (id, error) => {
          this.#spoke = true;
          this.#receiver?.lost(id, error);
        },
        noise: (line) => this.#noise(line),
        endless: (error) => this.#end(error),
      },
      options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES,
    );
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get aheadMs(): number | undefined {
    return this.#startedAt === undefined ? undefined : ticksOf(this.#clock) - this.#startedAt;
  }

  async start(): Promise<void> {
    if (this.#starting !== undefined || this.#ending !== undefined) return;
    this.#startedAt = ticksOf(this.#clock);
    await this.#start();
  }

  async open(receiver: Receiver, signal?: AbortSignal): Promise<void> {
    if (this.#receiver) throw new PlugboardError('INTERNAL', 'A stdio transport was opened twice');
    if (this.#ending) throw gone();
    if (signal?.aborted) throw aborted(signal);
    this.#receiver = receiver;
    try {
      const { child, running } = await (this.#starting ?? this.#start());
      this.#listen(child);
      await running;
      if (this.#options.note !== undefined) this.#notice('info', this.#options.note);
    } catch (error) {
      this.#isReported = true; // the rejection is the only report
      await this.#options.release?.().catch(() => undefined);
      throw spawnFailed(error, this.#options);
    }
    if (!signal?.aborted && !this.#ending) return;
    this.#isReported = true;
    await this.close();
    throw signal?.aborted ? aborted(signal) : gone();
  }

  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    return this.sendText(JSON.stringify(message), options);
  }

  sendText(message: string, options?: SendOptions): Promise<void> {
    if (!this.#outbox) return Promise.reject(gone());
    // The exit of a process that never answered is reported when its output is read, with its reason.
    if (this.#hasExited && !this.#spoke && this.#ending === undefined) return SENT;
    return this.#outbox.send(`${message}\n`, options?.signal, options?.isAlone);
  }

  stderr(): string {
    return this.#spoke ? this.#stderr.text() : this.#stderr.ends();
  }

  noise(): string | undefined {
    return this.#listening ?? this.#lastNoise;
  }

  negotiated(): void {
    // Frames do not depend on the protocol version.
  }

  async close(): Promise<void> {
    this.#decoder.stop();
    await this.#end(undefined);
  }

  #start(): Promise<Spawned> {
    // The helper first, so that no process that we start can be left behind.
    this.#owner = this.#options.reaper.mark();
    this.#starting = spawnServer(this.#options, this.#owner).then((spawned) => {
      this.#created(spawned.child);
      return spawned;
    });
    return this.#starting;
  }

  #created(child: Child): void {
    this.#child = child;
    // Without a pid the spawn failed, and the error arrives as an event.
    if (child.pid !== undefined) {
      this.#options.reaper.add(child.pid);
      this.#options.reaper.marked.since(processRow(child.pid)?.startedAt ?? 0);
    }
    child.once('exit', () => this.#exit());
    child.once('close', () => {
      this.#isDrained = true;
    });
    child.on('error', () => undefined); // a signal could not be sent: the shutdown sequence continues
    child.stdin.on('error', () => this.#halfClosed('input'));
    child.stdout.on('error', () => undefined); // the end event follows and is handled
    child.stderr.on('error', () => undefined);
    // When a process exits, Node discards output that no one waits for.
    for (const output of [child.stdout, child.stderr]) output.on('readable', waiting);
    this.#outbox = new Outbox(child.stdin, this.#options.maxQueuedBytes);
  }

  /** Reads the output, which waits in the pipes of a process that was started ahead. */
  #listen(child: Child): void {
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stdout.once('end', () => {
      this.#decoder.end();
      this.#halfClosed('output');
    });
    child.stderr.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    for (const output of [child.stdout, child.stderr]) {
      output.off('readable', waiting);
      output.resume();
    }
    if (this.#hasExited) this.#exit();
  }

  #read(chunk: Buffer): void {
    this.#decoder.push(chunk);
    if (this.#framesThisTurn < MAX_FRAMES_PER_TURN) return;
    this.#framesThisTurn = 0;
    const stdout = this.#child?.stdout;
    stdout?.pause();
    setImmediate(() => stdout?.resume());
  }

  #message(message: JsonRpcMessage): void {
    if (this.#ending) return;
    this.#spoke = true;
    this.#framesThisTurn += 1;
    this.#receiver?.message(message);
  }

  #noise(line: string): void {
    this.#noiseLines += 1;
    const quoted = this.#redact(clean(line.slice(0, MAX_NOISE_CHARS), { multiline: false }));
    this.#lastNoise = quoted;
    if (!this.#spoke && listeningLine(quoted) !== undefined) this.#listening ??= quoted;
    if (this.#noiseLines > 1) return;
    this.#notice(
      'warning',
      `The server writes to stdout what is not JSON-RPC; such lines are skipped: ${quoted}`,
    );
  }

  #notice(level: Notice['level'], message: string): void {
    if (!this.#isReported) this.#receiver?.notice({ level, message });
  }

  /** The process has exited; its last output may still arrive. */
  #exit(): void {
    this.#hasExited = true;
    this.#outbox?.fail(gone());
    const child = this.#child;
    // Before `open` there is no receiver; `open` then continues here.
    if (this.#ending || !child || !this.#receiver) return;
    let cancel = (): void => {};
    const drained = (): void => {
      cancel();
      child.off('close', drained);
      this.#decoder.end();
      const { exitCode: code, signalCode } = child;
      const stderr = this.stderr();
      this.#end(exited({ code, signal: signalCode, stderr, noise: this.#lastNoise, spoke: this.#spoke }));
    };
    // A process that was started ahead may be gone before `open`: nothing follows, and nothing would keep ours alive.
    if (this.#isDrained) {
      drained();
      return;
    }
    cancel = this.#clock.after(EXIT_DRAIN_MS, drained);
    child.once('close', drained);
  }

  #halfClosed(what: 'input' | 'output'): void {
    if (what === 'input') this.#outbox?.fail(gone());
    if (this.#hasExited || this.#ending) return;
    this.#clock.after(HALF_CLOSED_MS, () => {
      if (this.#hasExited) return; // the exit is reported instead
      this.#end(halfClosed(what, this.#stderr.text()));
    });
  }

  /** With an error the receiver is notified at once, and the shutdown continues in the background. */
  #end(error: PlugboardError | undefined): Promise<void> {
    if (error) this.#reportClosed(error);
    this.#ending ??= this.#finish();
    return this.#ending;
  }

  async #finish(): Promise<void> {
    // Closed during the start: wait, because a process may already exist.
    await this.#starting?.then(({ running }) => running).catch(() => undefined);
    this.#outbox?.fail(gone());
    const child = this.#child;
    if (child?.pid !== undefined) {
      await endServer({
        pid: child.pid,
        owner: this.#owner,
        marked: this.#options.reaper.marked,
        exited: () => this.#hasExited,
        whenExited: new Promise((resolve) => child.once('exit', () => resolve())),
        closeInput: () => child.stdin.end(),
        clock: this.#clock,
      });
      this.#options.reaper.remove(child.pid);
      // A process that could not be killed must not keep ours alive.
      for (const stream of child.stdio) stream?.destroy();
      child.unref();
    }
    await this.#options.release?.().catch(() => undefined);
    this.#reportClosed(undefined);
  }

  #reportClosed(error: PlugboardError | undefined): void {
    if (this.#isReported) return;
    this.#decoder.stop();
    if (this.#noiseLines > 1) this.#notice('debug', `${this.#noiseLines} lines on stdout were not JSON-RPC.`);
    this.#isReported = true;
    this.#receiver?.closed(error);
  }
}

function waiting(): void {
  // Read by `open`.
}

async function spawnServer(options: StdioOptions, owner: string): Promise<Spawned> {
  const args = [...(options.args ?? [])];
  const settings = {
    cwd: options.cwd,
    env: { ...options.env, [OWNER_VARIABLE]: owner },
    stdio: 'pipe',
    shell: false,
    windowsHide: true,
  } satisfies SpawnOptions;
  if (process.platform !== 'win32')
    return watched(spawn(options.command, args, { ...settings, detached: true }));
  // Only Windows needs its shims (.cmd) resolved; elsewhere loading this costs more than the spawn.
  const crossSpawn = await import('cross-spawn');
  return watched(crossSpawn.default.spawn(options.command, args, settings) as Child);
}

/** Listens at once, because the events are emitted before any `await` continues. */
function watched(child: Child): Spawned {
  const running = new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  running.catch(() => undefined); // `open` reports it
  return { child, running };
}
