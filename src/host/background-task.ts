/** The handle of a call that goes on in the background, in this process or another one of the same home. */

import type { ShapedResult } from '../call/shape.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { Emitter, type Unsubscribe } from '../lib/emitter.ts';
import { holdProcess } from '../lib/hold-process.ts';
import { unlessAborted } from '../lib/waits.ts';
import { cancelled, type RunningTasks } from '../tasks/running-tasks.ts';
import {
  failureOfTask,
  isOver,
  type TaskInfo,
  type TaskRecord,
  type TaskStatus,
  taskInfo,
  unknownTask,
} from '../tasks/task-record.ts';

/** How often a task of another process is read while someone waits for it. */
const POLL_MS = 250;

interface BackgroundTaskEvents {
  /** A new state. */
  readonly changed: TaskInfo;
}

/** The parts of a host that a handle needs. */
export interface TaskAccess {
  readonly tasks: RunningTasks;
  readonly clock: Clock;
  /** Continues a task that no process runs, if this host has its server. */
  readonly adopt: (record: TaskRecord) => void;
  /** Aborted when the host closes. */
  readonly closing: AbortSignal;
}

/** A call in the background: returned by `host.call(name, args, { background: true })` and by `host.task(id)`. */
export class BackgroundTask {
  readonly #access: TaskAccess;
  readonly #events = new Emitter<BackgroundTaskEvents>();
  #record: TaskRecord;
  #listeners = 0;
  #stopFollowing: (() => void) | undefined;

  /** @internal Use `host.call` or `host.task`. */
  constructor(access: TaskAccess, record: TaskRecord) {
    this.#access = access;
    this.#record = record;
  }

  /** The id, by which every process with the same home finds the task. */
  get id(): string {
    return this.#record.id;
  }

  /** The last known status; `refresh()` reads the current one. */
  get status(): TaskStatus {
    return this.info.status;
  }

  /** The last known state. */
  get info(): TaskInfo {
    return taskInfo(this.#known());
  }

  /**
   * Reads the current state.
   *
   * @throws PlugboardError `UNKNOWN_TASK` if it has expired.
   */
  async refresh(): Promise<TaskInfo> {
    await this.#read();
    return this.info;
  }

  /**
   * Waits for the end of the call, and returns its result.
   *
   * @param options - `signal` ends the wait; the call goes on.
   * @throws PlugboardError The reason why the call has no result: `CANCELLED`, `TASK_LOST`, or that of the call; `UNKNOWN_TASK` if it has expired.
   */
  async result<T = unknown>(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<ShapedResult<T>> {
    const record = await this.#ended(options.signal);
    if (record.status !== 'completed') throw failureOfTask(record);
    const { tasks } = this.#access;
    const text = tasks.find(this.id)?.result ?? (await tasks.table.result(this.id));
    // It may expire between the two.
    if (text === undefined) throw unknownTask(this.id);
    // Stored by `complete`, which got it from the pipeline.
    return JSON.parse(text) as ShapedResult<T>;
  }

  /**
   * Cancels the call, here and at its server; resolves when it has ended. A task that is over stays as it is.
   *
   * @throws PlugboardError `UNKNOWN_TASK` if it has expired.
   */
  async cancel(): Promise<void> {
    const { tasks, clock } = this.#access;
    const record = await this.#read();
    if (isOver(record)) return;
    const running = tasks.find(this.id);
    if (running !== undefined) running.cancel(cancelled());
    else {
      await tasks.table.requestCancel(this.id);
      // No process runs it, and this host does not have its server.
      await tasks.table.take(this.id, (orphan) => ({
        ...orphan,
        status: 'cancelled',
        updatedAt: clock.now(),
        error: { code: 'CANCELLED', message: cancelled().message },
      }));
    }
    await this.#ended(undefined);
  }

  /**
   * Adds a listener for new states; the returned function removes it.
   *
   * @param event - `changed`.
   * @param listener - Called with the new state: its status, progress and message.
   */
  on(event: 'changed', listener: (info: TaskInfo) => void): Unsubscribe {
    const stop = this.#events.on(event, listener);
    this.#listeners += 1;
    this.#follow();
    let isRemoved = false;
    return () => {
      stop();
      if (!isRemoved) this.#listeners -= 1;
      isRemoved = true;
      if (this.#listeners === 0) this.#unfollow();
    };
  }

  #known(): TaskRecord {
    return this.#access.tasks.find(this.#record.id)?.record ?? this.#record;
  }

  async #read(): Promise<TaskRecord> {
    const { tasks, adopt } = this.#access;
    const record = tasks.find(this.id)?.record ?? (await tasks.table.get(this.id));
    if (record === undefined) throw unknownTask(this.id);
    this.#record = record;
    if (!isOver(record) && tasks.find(this.id) === undefined) adopt(record);
    return record;
  }

  /** Follows the task in this process by its events, in another by reading its record. */
  #follow(): void {
    if (this.#stopFollowing !== undefined) return;
    const { tasks, clock } = this.#access;
    const running = tasks.find(this.id);
    if (running !== undefined) {
      const stop = running.events.on('changed', (record) => this.#changed(record));
      this.#stopFollowing = stop;
      return;
    }
    this.#stopFollowing = clock.after(POLL_MS, () => {
      const before = this.#record;
      this.#read().then(
        (record) => {
          if (record.updatedAt !== before.updatedAt || record.status !== before.status) this.#changed(record);
          if (isOver(record) || this.#stopFollowing === undefined) return;
          this.#stopFollowing = undefined;
          this.#follow();
        },
        () => this.#unfollow(),
      );
    });
  }

  #unfollow(): void {
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
  }

  #changed(record: TaskRecord): void {
    this.#record = record;
    this.#events.emit('changed', taskInfo(record));
  }

  async #ended(signal: AbortSignal | undefined): Promise<TaskRecord> {
    const { closing } = this.#access;
    // The timers of a clock do not keep the process alive.
    const release = holdProcess();
    let stop: Unsubscribe = () => {};
    let onClose = (): void => {};
    const ended = new Promise<TaskRecord>((resolve, reject) => {
      const check = (): void => {
        this.#read().then((record) => {
          if (isOver(record)) resolve(record);
        }, reject);
      };
      // A call of this host ends with it; one of another process does not.
      onClose = (): void => reject(hostClosed());
      stop = this.on('changed', check);
      check();
      if (this.#access.tasks.find(this.id) === undefined) closing.addEventListener('abort', onClose);
    });
    try {
      return await unlessAborted(ended, signal, (reason) => asPlugboardError(reason, 'CANCELLED'));
    } finally {
      stop();
      closing.removeEventListener('abort', onClose);
      release();
    }
  }
}

function hostClosed(): PlugboardError {
  return new PlugboardError('CANCELLED', 'The host was closed while its caller waited for a task', {
    hint: 'The task can be found by its id.',
  });
}
