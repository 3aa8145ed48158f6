/** One running call that is a task: its state in memory, and the writes to the table. */

import type { Progress } from '../connection/peer.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { Emitter } from '../lib/emitter.ts';
import { isOver, type TaskRecord, type TaskStatus, taskError, type UpstreamTask } from './task-record.ts';
import { MAX_RESULT_BYTES, type TaskTable } from './task-table.ts';

/** Progress is written at most this often; listeners in this process get every step. */
const SAVE_MS = 1_000;
/** How often an end that could not be written, such as to a full disk, is tried again. */
const RETRY_MS = 5_000;
const MAX_MESSAGE_CHARS = 1_000;

export interface RunningTaskOptions {
  readonly table: TaskTable;
  readonly clock: Clock;
  /** Called with each new state. */
  readonly changed: (record: TaskRecord) => void;
  /** Called when a state cannot be written. */
  readonly failed: (record: TaskRecord, error: PlugboardError) => void;
  /** Called when the task is over and stored, or was left to the next host. */
  readonly done: (task: RunningTask) => void;
}

interface RunningTaskEvents {
  readonly changed: TaskRecord;
}

export class RunningTask {
  readonly events: Emitter<RunningTaskEvents> = new Emitter();
  /** Cancels the call. */
  readonly cancel: (reason: PlugboardError) => void;
  readonly #options: RunningTaskOptions;
  #record: TaskRecord;
  #result: string | undefined;
  #writes: Promise<void> = Promise.resolve();
  #cancelSave: (() => void) | undefined;
  #questions = 0;
  #isCancelled = false;
  #isEnding = false;

  constructor(record: TaskRecord, cancel: (reason: PlugboardError) => void, options: RunningTaskOptions) {
    this.#record = record;
    this.#options = options;
    this.cancel = (reason) => {
      this.#isCancelled = true;
      cancel(reason);
    };
  }

  get record(): TaskRecord {
    return this.#record;
  }

  /** The result as JSON, after its end. */
  get result(): string | undefined {
    return this.#result;
  }

  progressed({ progress, total, message }: Progress): void {
    this.#change({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message: message.slice(0, MAX_MESSAGE_CHARS) }),
    });
  }

  /** Counts the open questions of the call: with one, its status is `input_required`. */
  asked(): void {
    this.#questions += 1;
    if (this.#questions === 1) this.#change({ status: 'input_required' });
  }

  answered(): void {
    this.#questions -= 1;
    if (this.#questions === 0) this.#change({ status: 'working' });
  }

  /** Records the server's own task, by which the next host asks for the result. Resolves when it is stored. */
  async follow(upstream: UpstreamTask): Promise<void> {
    this.#change({ upstream });
    await this.#save();
  }

  /** Ends the task with a result. Resolves when it is stored, or kept in memory because it cannot be. */
  complete(result: object): Promise<void> {
    const text = JSON.stringify(result);
    const bytes = Buffer.byteLength(text);
    if (bytes <= MAX_RESULT_BYTES) return this.#end({ status: 'completed', bytes }, text);
    const message = `The result has ${bytes.toLocaleString('en')} bytes; a task keeps ${MAX_RESULT_BYTES.toLocaleString('en')}`;
    return this.fail(new PlugboardError('LIMIT_EXCEEDED', message));
  }

  fail(thrown: unknown): Promise<void> {
    const { code } = asPlugboardError(thrown);
    const status: TaskStatus = code === 'CANCELLED' || this.#isCancelled ? 'cancelled' : 'failed';
    return this.#end({ status, error: taskError(thrown) });
  }

  /** Leaves the task to the next host that has its server. */
  async leave(): Promise<void> {
    const { runner: _ours, ...left } = this.#record;
    this.#record = left;
    await this.#save();
    this.#options.done(this);
  }

  /** Removes a task whose caller has its result. */
  async drop(): Promise<void> {
    this.#cancelSave?.();
    await this.#writes;
    await this.#options.table.remove(this.#record.id).catch(() => {});
    this.#options.done(this);
  }

  /** Writes an end that could not be written before; resolves even if it still cannot be. */
  async flush(): Promise<void> {
    if (isOver(this.#record)) await this.#writeEnd(this.#record);
    else await this.#save();
  }

  /** A task is over for everyone when its end is stored, or when that has failed. */
  async #end(end: Partial<TaskRecord>, result?: string): Promise<void> {
    const { runner: _over, message: _last, ...rest } = this.#record;
    const record = { ...rest, ...end, updatedAt: this.#options.clock.now() };
    this.#isEnding = true;
    this.#result = result;
    this.#cancelSave?.();
    await this.#writeEnd(record);
    this.#record = record;
    this.#announce();
  }

  async #writeEnd(record: TaskRecord): Promise<void> {
    const { table, clock, done } = this.#options;
    if (await this.#write(() => table.end(record, this.#result))) done(this);
    else this.#cancelSave = clock.after(RETRY_MS, () => void this.#writeEnd(record));
  }

  #change(change: Partial<TaskRecord>): void {
    if (this.#isEnding) return;
    this.#record = { ...this.#record, ...change, updatedAt: this.#options.clock.now() };
    this.#announce();
    this.#cancelSave ??= this.#options.clock.after(SAVE_MS, () => void this.#save());
  }

  #announce(): void {
    this.#options.changed(this.#record);
    this.events.emit('changed', this.#record);
  }

  async #save(): Promise<void> {
    this.#cancelSave?.();
    this.#cancelSave = undefined;
    await this.#write(() => this.#options.table.save(this.#record));
  }

  /** Writes one after the other; false if it failed. */
  async #write(write: () => Promise<void>): Promise<boolean> {
    let isWritten = true;
    this.#writes = this.#writes.then(write).catch((error: unknown) => {
      isWritten = false;
      this.#options.failed(this.#record, asPlugboardError(error, 'STORE_FAILED'));
    });
    await this.#writes;
    return isWritten;
  }
}
