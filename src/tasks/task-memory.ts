/** The table of tasks of a host without a home folder: they end with their process. */

import type { Clock } from '../lib/clock.ts';
import { isExpired, type TaskRecord } from './task-record.ts';
import { newestFirst, surplus, type TaskTable } from './task-table.ts';

export class TaskMemory implements TaskTable {
  readonly #clock: Clock;
  readonly #records = new Map<string, TaskRecord>();
  readonly #results = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async add(record: TaskRecord): Promise<void> {
    this.#records.set(record.id, record);
    const same = [...this.#records.values()].filter(({ owner }) => owner === record.owner);
    for (const { id } of surplus(same, this.#clock.now())) await this.remove(id);
  }

  async save(record: TaskRecord): Promise<void> {
    this.#records.set(record.id, record);
  }

  async end(record: TaskRecord, result?: string): Promise<void> {
    this.#records.set(record.id, record);
    if (result !== undefined) this.#results.set(record.id, result);
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const record = this.#records.get(id);
    return record === undefined || isExpired(record, this.#clock.now()) ? undefined : record;
  }

  async list(owner?: string): Promise<readonly TaskRecord[]> {
    const now = this.#clock.now();
    return [...this.#records.values()]
      .filter(
        (record) =>
          (owner === undefined || record.owner === owner) && !isExpired(record, now) && !record.foreground,
      )
      .sort(newestFirst);
  }

  async orphans(): Promise<readonly TaskRecord[]> {
    return [];
  }

  async result(id: string): Promise<string | undefined> {
    return this.#results.get(id);
  }

  async remove(id: string): Promise<void> {
    this.#records.delete(id);
    this.#results.delete(id);
  }

  /** The runner of every task is this process. */
  async take(): Promise<undefined> {
    return undefined;
  }

  async requestCancel(): Promise<void> {}

  async cancelRequests(): Promise<ReadonlySet<string>> {
    return new Set();
  }
}
