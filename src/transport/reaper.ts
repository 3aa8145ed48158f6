/**
 * Ensures that no server process outlives the host, however the host ends (CON-2, F2 to F4).
 *
 * One small helper per host holds the other end of a pipe. The host's death, SIGKILL included, closes the pipe, and the
 * helper ends every registered process group and, on Linux, every process that carries the host's mark. There is no
 * gap: our descriptors close on exec, so a child between fork and exec keeps the pipe open itself, and once the pipe is
 * closed every child has its marked environment.
 *
 * Not covered: a process that left its group *and* cleared its environment *and* lost its parents before the host died.
 * macOS finds marks through `ps -E`, which shows the environment of the user's own unprotected programs only, and no
 * descendants. Windows has no groups and no readable environment: its helper is a second Node that runs `taskkill /T`
 * on each registered server.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { scriptRunner } from '../lib/script-runner.ts';
import { MarkedProcesses } from './marked-processes.ts';
import { POSIX_REAPER, WINDOWS_REAPER } from './reaper-script.ts';

/** The mark: `<host>.<number of the server>`. */
export const OWNER_VARIABLE = 'PLUGBOARD_OWNER';

const NO_HELPER =
  "No helper watches over the servers' processes: this program cannot run a script. Servers outlive it if it is killed";

const HEX = 16;

/** How often a helper that was killed is started again. */
const MAX_HELPER_STARTS = 5;

export interface Reaper {
  /** The marked processes of all servers of this host, in any process group. */
  readonly marked: MarkedProcesses;
  /** Starts the helper if necessary, and returns the mark for the next server's environment. */
  mark(): string;
  /** Registers a server's process, which leads its own group. */
  add(pid: number): void;
  /** Unregisters a server after it and all its descendants have ended. */
  remove(pid: number): void;
  /** Ends the helper and all processes that are still registered. May be called twice; never rejects. */
  close(): Promise<void>;
}

export interface ReaperOptions {
  /** Our environment; the helper gets only its PATH. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called once if the helper cannot be started: servers then outlive a killed host. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

export function createReaper(options: ReaperOptions): Reaper {
  return new HostReaper(options);
}

class HostReaper implements Reaper {
  readonly #options: ReaperOptions;
  readonly #host = newHostId();
  readonly marked: MarkedProcesses = new MarkedProcesses(OWNER_VARIABLE, `${this.#host}.`);
  readonly #groups = new Set<number>();
  #helper: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #starts = 0;
  #servers = 0;
  #closed = false;

  constructor(options: ReaperOptions) {
    this.#options = options;
  }

  mark(): string {
    if (!this.#closed) this.#start();
    this.#servers += 1;
    return `${this.#host}.${this.#servers}`;
  }

  add(pid: number): void {
    this.#groups.add(pid);
    this.#write(`+ ${pid}`);
  }

  remove(pid: number): void {
    if (this.#groups.delete(pid)) this.#write(`- ${pid}`);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#finish();
    while (this.#helper !== undefined) await this.#ended;
  }

  #finish(): void {
    // With nothing registered the helper can exit at once, without a scan.
    if (this.#groups.size === 0) this.#write('q');
    this.#helper?.ref();
    this.#helper?.stdin?.end();
  }

  #start(): void {
    if (this.#helper || this.#starts === MAX_HELPER_STARTS) return;
    this.#starts += 1;
    const helper = startHelper(this.#options.env);
    if (helper === undefined) {
      this.#starts = MAX_HELPER_STARTS;
      this.#options.onProblem?.(NO_HELPER);
      return;
    }
    this.#helper = helper;
    this.#ended = new Promise((resolve) => {
      const gone = (isKilled: boolean): void => {
        resolve();
        this.#helper = undefined;
        if (this.#groups.size === 0 || (this.#closed && !isKilled)) return;
        // A helper that was killed has ended no server.
        this.#start();
        if (this.#closed) this.#finish();
      };
      helper.once('exit', (_code, signal) => gone(signal !== null));
      helper.once('error', (error) => {
        this.#starts = MAX_HELPER_STARTS; // a later start would fail too
        this.#options.onProblem?.(`No helper watches over the servers' processes: ${error.message}`);
        gone(true);
      });
    });
    helper.stdin?.on('error', () => undefined); // only its exit is handled
    this.#write(`${OWNER_VARIABLE}=${this.#host}.`);
    for (const pid of this.#groups) this.#write(`+ ${pid}`);
    // The helper must not keep our process alive.
    helper.unref();
    const input = helper.stdin as (NodeJS.WritableStream & { unref?: () => void }) | null;
    input?.unref?.();
  }

  #write(line: string): void {
    const input = this.#helper?.stdin;
    if (input?.writable) input.write(`${line}\n`);
  }
}

/** Unique, not secret: to load Node's own generator would delay the first server by a millisecond. */
function newHostId(): string {
  return '00000000-0000-4000-8000-000000000000'.replaceAll('0', () =>
    Math.floor(Math.random() * HEX).toString(HEX),
  );
}

/**
 * Starts the helper in its own session, so that terminal signals do not reach it, and in `/`, so that it blocks no
 * folder.
 */
function startHelper(env: ReaperOptions['env']): ChildProcess | undefined {
  if (process.platform === 'win32') {
    const runner = scriptRunner();
    // Deno's `run` does not accept a script as text.
    if (runner === undefined || runner.args.length > 0) return undefined;
    return spawn(runner.command, ['-e', WINDOWS_REAPER], {
      env: {
        SYSTEMROOT: env['SYSTEMROOT'] ?? 'C:\\Windows',
        PATH: env['PATH'] ?? env['Path'] ?? '',
        ...runner.env,
      },
      stdio: ['pipe', 'ignore', 'ignore'],
      windowsHide: true,
      detached: true,
    });
  }
  return spawn('/bin/sh', ['-c', POSIX_REAPER, 'plugboard-reaper'], {
    // Empty on purpose: a mark inherited from a surrounding host would make that host's helper kill ours first.
    env: { PATH: env['PATH'] || '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  });
}
