/**
 * Ends a server's process and all its descendants (CON-1, F1 to F3).
 *
 * Covered: its process group; on Linux also processes that left the group, by the mark in their environment, and
 * processes that left the group with a clean environment, if they were still descendants when the shutdown began. On
 * macOS the group only; on Windows, which has no groups, the tree that `taskkill /T` sees.
 */

import { spawn } from 'node:child_process';
import type { Clock } from '../lib/clock.ts';
import { sendSignal } from '../lib/process-group.ts';
import {
  descendants,
  hasProcessTable,
  type ProcessRow,
  processIds,
  processRow,
} from '../lib/process-table.ts';
import type { MarkedProcesses } from './marked-processes.ts';

/** A well-behaved server exits when its input ends; others get this long. */
const INPUT_GRACE_MS = 500;
/** From SIGTERM to SIGKILL. */
const CLOSE_GRACE_MS = 2000;
/** SIGKILL cannot be ignored, but a process in a kernel call ends late; then the wait ends, not the process. */
const KILL_WAIT_MS = 1500;
const FIRST_POLL_MS = 2;
const MAX_POLL_MS = 50;

export interface RunningServer extends Ancestor {
  /** Whether our child process has been reaped. */
  readonly exited: () => boolean;
  /** Resolves when it has been. */
  readonly whenExited: Promise<void>;
  readonly closeInput: () => void;
  readonly clock: Clock;
}

/** Resolves when no process of the server is left, or when it cannot be ended. Never rejects. */
export async function endServer(server: RunningServer): Promise<void> {
  if (process.platform === 'win32') return endTree(server);
  const done = server.marked.begin();
  await endGroup(server, new Strays(server)).finally(done);
}

async function endGroup(server: RunningServer, strays: Strays): Promise<void> {
  const allGone = async (): Promise<boolean> => groupGone(server) && (await strays.look()).length === 0;

  server.closeInput();
  // The first, slow scan runs while the server shuts down.
  const [ended] = await Promise.all([within(server, INPUT_GRACE_MS, () => groupGone(server)), strays.look()]);
  if (ended && (await allGone())) return;

  const left = await strays.look();
  signalAll('SIGTERM', server, left);
  signalAll('SIGCONT', server, left); // a stopped process could not handle SIGTERM
  if (await within(server, CLOSE_GRACE_MS, allGone)) return;

  // Each poll sends the signal again: a process that forks while it is being killed leaves a child that was not listed.
  await within(server, KILL_WAIT_MS, async () => {
    signalAll('SIGKILL', server, await strays.look());
    return allGone();
  });
}

function groupGone(server: RunningServer): boolean {
  if (!server.exited()) return false;
  if (!sendSignal(-server.pid, 0)) return true;
  return hasProcessTable && onlyZombiesIn(server.pid);
}

function signalAll(name: NodeJS.Signals, server: RunningServer, strays: readonly number[]): void {
  sendSignal(-server.pid, name);
  for (const pid of strays) {
    // The group of a stray that leads one contains only its own children.
    sendSignal(-pid, name);
    sendSignal(pid, name);
  }
}

async function endTree(server: RunningServer): Promise<void> {
  const exited = (): boolean => server.exited();
  server.closeInput();
  if (await within(server, INPUT_GRACE_MS, exited)) return;
  const killer = spawn('taskkill', ['/PID', String(server.pid), '/T', '/F'], {
    stdio: 'ignore',
    windowsHide: true,
  });
  killer.on('error', () => undefined); // no taskkill: the wait below times out
  await within(server, CLOSE_GRACE_MS, exited);
}

/** Polls until `done` returns true, and as soon as the process exits, for at most `ms`; returns whether it did. */
async function within(
  { clock, exited, whenExited }: Pick<RunningServer, 'clock' | 'exited' | 'whenExited'>,
  ms: number,
  done: () => boolean | Promise<boolean>,
): Promise<boolean> {
  let expired = false;
  const cancel = clock.after(ms, () => {
    expired = true;
  });
  try {
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, MAX_POLL_MS)) {
      if (await done()) return true;
      if (expired) return false;
      // A real timer, not the clock's: it keeps our process alive until the server's has ended.
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
        if (exited()) return;
        void whenExited.then(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  } finally {
    cancel();
  }
}

interface Ancestor {
  /** Process id of the server, which is also its group id. */
  readonly pid: number;
  /** The mark in its environment. */
  readonly owner: string;
  /** All processes with a mark of its host. */
  readonly marked: MarkedProcesses;
}

/**
 * Descendants are visible only while their parents run, so they are recorded at construction; a mark in the environment
 * is always visible.
 */
class Strays {
  readonly #server: Ancestor;
  readonly #kin: readonly ProcessRow[];

  constructor(server: Ancestor) {
    this.#server = server;
    this.#kin = descendants(server.pid);
  }

  /** Returns the processes that are running now. */
  async look(): Promise<number[]> {
    const { pid, owner, marked } = this.#server;
    const found = new Set<number>();
    for (const known of this.#kin) {
      const row = processRow(known.pid);
      if (row?.startedAt === known.startedAt && !row.zombie && row.group !== pid) found.add(row.pid);
    }
    for (const each of await marked.look()) {
      if (each.owner === owner && each.group !== pid) found.add(each.pid);
    }
    return [...found];
  }
}

/** Whether a group contains only zombies, which accept signals until they are reaped. */
function onlyZombiesIn(group: number): boolean {
  return !processIds().some((pid) => {
    const row = processRow(pid);
    return row?.group === group && !row.zombie;
  });
}
