/**
 * The table of tasks in the home folder: a folder for each owner, with a file for each task and one for its result.
 *
 * Only the runner of a task writes its files while it lives. Other processes change a task under a lock, after its
 * runner has ended.
 */

import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import type { Clock } from '../lib/clock.ts';
import { lockFileFor, replaceFile, withFileLock } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { isRunning } from './runner.ts';
import { isExpired, isOver, parseTask, type TaskRecord } from './task-record.ts';
import { keyInId, newestFirst, ownerKey, surplus, type TaskTable } from './task-table.ts';

const OWNER_ONLY = 0o600;
const FOLDER_MODE = 0o700;
const RECORD = '.json';
const RESULT = '.result';
/** Holds one empty file for each requested cancellation. */
const CANCELS = 'cancel';
/** Holds one empty file for each task that has not ended, so that a host does not read all of them when it starts. */
const RUNNING = 'running';
/** Every record of an owner is read then: not for each new task. */
const ADDS_PER_PRUNE = 16;
/** A result of this size can exceed the bound of its owner before the next tasks are added. */
const LARGE_BYTES: number = 1024 * 1024;
/** Files that are read at the same time. */
const READS_AT_ONCE = 64;

export interface TaskFilesOptions {
  readonly home: Pick<Home, 'dir' | 'run'>;
  readonly clock: Clock;
  /** Called once for each task that became `lost`, in the process that found it. */
  readonly lost: (record: TaskRecord) => void;
}

/** The folder of the table: without it, there are no tasks. */
export function tasksFolder({ dir }: Pick<Home, 'dir'>): string {
  return join(dir, 'tasks');
}

export class TaskFiles implements TaskTable {
  readonly #folder: string;
  readonly #lock: string;
  readonly #options: TaskFilesOptions;
  #adds = 0;

  constructor(options: TaskFilesOptions) {
    this.#options = options;
    this.#folder = tasksFolder(options.home);
    this.#lock = lockFileFor(join(options.home.run, 'locks'), this.#folder);
  }

  async add(record: TaskRecord): Promise<void> {
    await makeFolder(join(this.#folder, ownerKey(record.owner)), FOLDER_MODE);
    await makeFolder(join(this.#folder, RUNNING), FOLDER_MODE);
    await writeFile(join(this.#folder, RUNNING, record.id), '', { mode: OWNER_ONLY });
    await this.#write(record, { durable: false });
    this.#adds += 1;
    if (this.#adds === 1) await this.#prune(await this.#keys());
    else if (this.#adds % ADDS_PER_PRUNE === 0) await this.#prune([ownerKey(record.owner)]);
  }

  save(record: TaskRecord): Promise<void> {
    return this.#write(record, { durable: false });
  }

  async end(record: TaskRecord, result?: string): Promise<void> {
    if (result !== undefined)
      await replaceFile(this.#fileOf(record.id, RESULT), result, { mode: OWNER_ONLY });
    await this.#write(record, { durable: true });
    await this.#unmark(record.id);
    if ((record.bytes ?? 0) >= LARGE_BYTES) await this.#prune([ownerKey(record.owner)]);
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const record = await this.#read(id);
    return record === undefined ? undefined : this.#current(record);
  }

  async list(owner?: string): Promise<readonly TaskRecord[]> {
    const keys = owner === undefined ? await this.#keys() : [ownerKey(owner)];
    const records: TaskRecord[] = [];
    for (const key of keys) {
      for (const found of await this.#readAll(key)) {
        // Owners can have the same hash.
        if (owner !== undefined && found.owner !== owner) continue;
        const record = await this.#current(found);
        const isWaitedFor =
          found.foreground === true && found.runner !== undefined && isRunning(found.runner);
        if (record !== undefined && !isWaitedFor) records.push(record);
      }
    }
    return records.sort(newestFirst);
  }

  async orphans(): Promise<readonly TaskRecord[]> {
    const ids = await readdir(join(this.#folder, RUNNING)).catch((): string[] => []);
    const records: TaskRecord[] = [];
    for (const id of ids) {
      const record = await this.get(id);
      // Its process ended between the two, or the record was damaged.
      if (record === undefined || isOver(record)) await this.#unmark(id);
      else if (isOrphan(record)) records.push(record);
    }
    return records;
  }

  async result(id: string): Promise<string | undefined> {
    if (keyInId(id) === undefined) return undefined;
    return readFile(this.#fileOf(id, RESULT), 'utf8').catch(() => undefined);
  }

  async remove(id: string): Promise<void> {
    if (keyInId(id) === undefined) return;
    // The record first: one without its result would be reported as completed.
    await rm(this.#fileOf(id, RECORD), { force: true });
    await rm(this.#fileOf(id, RESULT), { force: true });
    await this.#unmark(id);
  }

  take(id: string, change: (record: TaskRecord) => TaskRecord | undefined): Promise<TaskRecord | undefined> {
    return withFileLock(this.#lock, async () => {
      const record = await this.#read(id);
      if (record === undefined || !isOrphan(record)) return undefined;
      const changed = change(record);
      if (changed === undefined) return undefined;
      await this.#write(changed, { durable: isOver(changed) });
      if (isOver(changed)) await this.#unmark(id);
      return changed;
    });
  }

  async requestCancel(id: string): Promise<void> {
    if (keyInId(id) === undefined) return;
    await makeFolder(join(this.#folder, CANCELS), FOLDER_MODE);
    await writeFile(join(this.#folder, CANCELS, id), '', { mode: OWNER_ONLY });
  }

  async cancelRequests(): Promise<ReadonlySet<string>> {
    return new Set(await readdir(join(this.#folder, CANCELS)).catch(() => []));
  }

  async #unmark(id: string): Promise<void> {
    await rm(join(this.#folder, RUNNING, id), { force: true });
    await rm(join(this.#folder, CANCELS, id), { force: true });
  }

  #fileOf(id: string, ending: string): string {
    return join(this.#folder, keyInId(id) ?? '', `${id}${ending}`);
  }

  async #write(record: TaskRecord, { durable }: { readonly durable: boolean }): Promise<void> {
    await replaceFile(this.#fileOf(record.id, RECORD), JSON.stringify(record), { mode: OWNER_ONLY, durable });
  }

  async #read(id: string): Promise<TaskRecord | undefined> {
    if (keyInId(id) === undefined) return undefined;
    const text = await readFile(this.#fileOf(id, RECORD), 'utf8').catch(() => undefined);
    return text === undefined ? undefined : parseTask(text);
  }

  /** Returns a record as it is now: nothing if it has expired, and `lost` if its runner has ended without a result. */
  async #current(record: TaskRecord): Promise<TaskRecord | undefined> {
    if (isExpired(record, this.#options.clock.now())) {
      await this.remove(record.id);
      return undefined;
    }
    if (!isOrphan(record) || record.upstream !== undefined) return record;
    const result = await this.result(record.id);
    const settled = await this.take(record.id, (orphan) =>
      result === undefined ? this.#lost(orphan) : completed(orphan, result),
    );
    if (settled?.status === 'lost') this.#options.lost(settled);
    // Another process was faster.
    return settled ?? this.#read(record.id);
  }

  #lost(record: TaskRecord): TaskRecord {
    const { runner: _ended, ...rest } = record;
    return {
      ...rest,
      status: 'lost',
      updatedAt: this.#options.clock.now(),
      error: {
        code: 'TASK_LOST',
        message: `${record.tool} (${record.server}) has no result: the process that ran it has ended`,
        hint: 'Check whether it had its effect before you call it again.',
      },
    };
  }

  async #keys(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch((): string[] => []);
    return names.filter((name) => name !== CANCELS && name !== RUNNING);
  }

  async #readAll(key: string): Promise<readonly TaskRecord[]> {
    const names = await readdir(join(this.#folder, key)).catch((): string[] => []);
    const ids = names.filter((name) => name.endsWith(RECORD)).map((name) => name.slice(0, -RECORD.length));
    const records: TaskRecord[] = [];
    for (let at = 0; at < ids.length; at += READS_AT_ONCE) {
      const read = await Promise.all(ids.slice(at, at + READS_AT_ONCE).map((id) => this.#read(id)));
      records.push(...read.filter((record) => record !== undefined));
    }
    return records;
  }

  async #prune(keys: readonly string[]): Promise<void> {
    const now = this.#options.clock.now();
    for (const key of keys)
      for (const { id } of surplus(await this.#readAll(key), now)) await this.remove(id);
  }
}

function isOrphan(record: TaskRecord): boolean {
  return !isOver(record) && (record.runner === undefined || !isRunning(record.runner));
}

/** The result was stored before its process ended. */
function completed(record: TaskRecord, result: string): TaskRecord {
  const { runner: _ended, ...rest } = record;
  return { ...rest, status: 'completed', bytes: Buffer.byteLength(result) };
}
