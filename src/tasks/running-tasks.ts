/** The tasks whose calls this process runs: begins them, cancels them when another process asks, and ends them. */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { thisRunner } from './runner.ts';
import { RunningTask, type RunningTaskOptions } from './running-task.ts';
import { isOver, type TaskRecord } from './task-record.ts';
import { MAX_RUNNING, newTaskId, TASK_TTL_MS, type TaskTable } from './task-table.ts';

/** How often requests of other processes to cancel a task are read, while one runs here. */
const CANCEL_POLL_MS = 500;

/** The call that becomes a task. */
export interface NewTask extends Pick<TaskRecord, 'owner' | 'server' | 'tool' | 'name' | 'entry'> {
  readonly client?: string | undefined;
  readonly profile?: string | undefined;
  readonly upstream?: TaskRecord['upstream'] | undefined;
  /** How long its client asks for it to be kept. */
  readonly ttlMs?: number | undefined;
  readonly foreground?: true | undefined;
}

export interface RunningTasksOptions {
  readonly table: TaskTable;
  readonly clock: Clock;
  readonly changed: (record: TaskRecord) => void;
  /** Reports that the table cannot be written. */
  readonly failed: (message: string) => void;
}

export class RunningTasks {
  readonly table: TaskTable;
  readonly #options: RunningTasksOptions;
  readonly #tasks = new Map<string, RunningTask>();
  #stopPoll: (() => void) | undefined;
  #isReported = false;

  constructor(options: RunningTasksOptions) {
    this.#options = options;
    this.table = options.table;
  }

  /** Records a call as a task. Rejects if that is not possible: then it should not be started. */
  async begin(given: NewTask, cancel: (reason: PlugboardError) => void): Promise<RunningTask> {
    const { owner, ttlMs = TASK_TTL_MS, client, profile, upstream, foreground, ...call } = given;
    const same = [...this.#tasks.values()].filter(({ record }) => record.owner === owner && !isOver(record));
    if (foreground === undefined && same.length >= MAX_RUNNING)
      throw new PlugboardError('LIMIT_EXCEEDED', `${MAX_RUNNING} tasks are running already`, {
        server: given.server,
        hint: 'Wait until one of them has ended, or cancel one.',
      });
    const now = this.#options.clock.now();
    const record: TaskRecord = {
      id: newTaskId(owner),
      owner,
      ...call,
      ...(client === undefined ? {} : { client }),
      ...(profile === undefined ? {} : { profile }),
      ...(upstream === undefined ? {} : { upstream }),
      ...(foreground === undefined ? {} : { foreground }),
      status: 'working',
      createdAt: now,
      updatedAt: now,
      ttlMs: Math.min(Math.max(ttlMs, 0), TASK_TTL_MS),
      runner: thisRunner(),
    };
    await this.table.add(record).catch((cause: unknown) => {
      throw notStored(cause, given.server);
    });
    const task = this.#keep(record, cancel);
    if (foreground === undefined) this.#options.changed(record);
    return task;
  }

  /** Continues a task that no process runs; undefined if another process was faster. */
  async adopt(id: string, cancel: (reason: PlugboardError) => void): Promise<RunningTask | undefined> {
    const record = await this.table.take(id, ({ foreground: _ended, ...orphan }) => ({
      ...orphan,
      runner: thisRunner(),
    }));
    if (record === undefined) return undefined;
    const task = this.#keep(record, cancel);
    this.#options.changed(record);
    return task;
  }

  find(id: string): RunningTask | undefined {
    return this.#tasks.get(id);
  }

  /** True while a call of this process is a task, so that the process should not end. */
  get isBusy(): boolean {
    return [...this.#tasks.values()].some(({ record }) => record.foreground !== true && !isOver(record));
  }

  /** Writes what could not be written before. */
  async flush(): Promise<void> {
    this.#stopPoll?.();
    await Promise.all([...this.#tasks.values()].map((task) => task.flush()));
  }

  #keep(record: TaskRecord, cancel: (reason: PlugboardError) => void): RunningTask {
    const { table, clock, changed } = this.#options;
    const options: RunningTaskOptions = {
      table,
      clock,
      changed: (now) => {
        if (now.foreground !== true) changed(now);
      },
      failed: (_record, error) => this.#failed(error),
      done: ({ record: { id } }) => this.#tasks.delete(id),
    };
    const task = new RunningTask(record, cancel, options);
    this.#tasks.set(record.id, task);
    this.#poll();
    return task;
  }

  #failed({ message }: PlugboardError): void {
    if (!this.#isReported) this.#options.failed(`Tasks cannot be written: ${message}`);
    this.#isReported = true;
  }

  #poll(): void {
    if (this.#stopPoll !== undefined) return;
    this.#stopPoll = this.#options.clock.after(CANCEL_POLL_MS, () => void this.#cancelRequested());
  }

  async #cancelRequested(): Promise<void> {
    const requested = await this.table.cancelRequests().catch(() => new Set<string>());
    for (const id of requested) this.#tasks.get(id)?.cancel(cancelled());
    this.#stopPoll = undefined;
    if (this.#tasks.size > 0) this.#poll();
  }
}

/** The reason of a call whose task was cancelled. */
export function cancelled(): PlugboardError {
  return new PlugboardError('CANCELLED', 'The task was cancelled');
}

function notStored(cause: unknown, server: string): PlugboardError {
  if (cause instanceof PlugboardError) return cause;
  const why = errorCode(cause) ?? asPlugboardError(cause).message;
  return new PlugboardError('STORE_FAILED', `The call was not started: its task cannot be stored (${why})`, {
    server,
    cause,
    hint: 'Free disk space, or make the folder "tasks" in the home folder writable.',
  });
}
