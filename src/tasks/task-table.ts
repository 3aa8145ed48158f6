/** The interface of the table of tasks, its bounds, and the ids of tasks. A table of several machines can implement it. */

import { randomBytes } from 'node:crypto';
import { quickHash } from '../lib/quick-hash.ts';
import { isExpired, isOver, type TaskRecord } from './task-record.ts';

/** How long a task is kept after its creation, unless its client asks for less. */
export const TASK_TTL_MS: number = 7 * 24 * 60 * 60 * 1000;
/** Tasks of one owner that are kept; the oldest that are over are dropped. */
export const MAX_TASKS = 1_000;
/** Bytes of results of one owner; the oldest are dropped with their tasks. */
export const MAX_TASK_BYTES: number = 256 * 1024 * 1024;
/** Longest result; a longer one is not kept. */
export const MAX_RESULT_BYTES: number = 64 * 1024 * 1024;
/** Tasks of one owner that run at the same time. */
export const MAX_RUNNING = 100;

const OWNER_DIGITS = 8;
const RANDOM_BYTES = 10;
const ID = /^[0-9a-f]{28}$/;

export interface TaskTable {
  /** Adds a task; rejects if it cannot be stored. */
  add(record: TaskRecord): Promise<void>;
  /** Replaces the record of a task; only its runner does. */
  save(record: TaskRecord): Promise<void>;
  /** Ends a task. The result is stored before the record that announces it. */
  end(record: TaskRecord, result?: string): Promise<void>;
  /** Returns a task; one whose runner has ended and whose server cannot be asked again becomes `lost` here. */
  get(id: string): Promise<TaskRecord | undefined>;
  /** Returns the tasks of an owner, or all, newest first. */
  list(owner?: string): Promise<readonly TaskRecord[]>;
  /** Returns the tasks that have not ended and that no process runs, with their server's task. */
  orphans(): Promise<readonly TaskRecord[]>;
  /** Returns the result of a completed task; undefined if it has expired. */
  result(id: string): Promise<string | undefined>;
  remove(id: string): Promise<void>;
  /**
   * Changes a running task that has no living runner, alone among all processes; undefined if it has one, is over, or
   * `change` returns undefined.
   */
  take(id: string, change: (record: TaskRecord) => TaskRecord | undefined): Promise<TaskRecord | undefined>;
  /** Asks the runner of a task to cancel it. */
  requestCancel(id: string): Promise<void>;
  /** Returns the tasks whose cancellation was requested. */
  cancelRequests(): Promise<ReadonlySet<string>>;
}

/** Returns a new id: it begins with a hash of the owner, which is the place of its records. */
export function newTaskId(owner: string): string {
  return `${ownerKey(owner)}${randomBytes(RANDOM_BYTES).toString('hex')}`;
}

export function ownerKey(owner: string): string {
  return quickHash(owner).slice(0, OWNER_DIGITS);
}

/** Returns the key of the owner of an id; undefined for a text that is not an id. */
export function keyInId(id: string): string | undefined {
  return ID.test(id) ? id.slice(0, OWNER_DIGITS) : undefined;
}

export function newestFirst(a: TaskRecord, b: TaskRecord): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1);
}

/** Returns the tasks of one owner to drop: expired ones, and the oldest beyond the bounds. Running ones are kept. */
export function surplus(records: readonly TaskRecord[], now: number): readonly TaskRecord[] {
  let bytes = 0;
  return records.toSorted(newestFirst).filter((record, place) => {
    bytes += record.bytes ?? 0;
    return isOver(record) && (isExpired(record, now) || place >= MAX_TASKS || bytes > MAX_TASK_BYTES);
  });
}
