/** The history of calls with their values, in the home: for the person at the page only. The audit log has no values. */

import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { type BatchedLines, createBatchedLines } from '../lib/batched-lines.ts';
import type { Clock } from '../lib/clock.ts';
import { HistoryFiles } from './history-files.ts';
import { createHistoryLine, type EndedCall, type PastCall, type PastValues } from './history-record.ts';
import { findInHistory, type HistoryPage, type HistoryQuery, searchHistory } from './history-search.ts';
import { isSmall } from './value-text.ts';

/** Calls whose lines are made together, and how long they wait for others. */
const MAX_ENDED = 16;
const WRITE_AFTER_MS = 100;

export interface CallHistoryOptions {
  readonly home: Pick<Home, 'dir'>;
  readonly clock: Clock;
  /** Called once if calls cannot be written. */
  readonly failed: (message: string) => void;
}

export class CallHistory {
  readonly folder: string;
  readonly #files: HistoryFiles;
  readonly #lines: BatchedLines<string>;
  readonly #lineOf = createHistoryLine();
  readonly #clock: Clock;
  #ended: EndedCall[] = [];
  #cancelTimer: (() => void) | undefined;
  #isFailed = false;

  constructor({ home, clock, failed }: CallHistoryOptions) {
    this.#clock = clock;
    this.folder = join(home.dir, 'history');
    this.#files = new HistoryFiles(this.folder, clock);
    this.#lines = createBatchedLines(
      {
        clock,
        write: (bytes) => this.#files.append(bytes),
        failed: (why) => {
          this.#isFailed = true;
          failed(`${this.folder} cannot be written: ${why}`);
        },
      },
      (line) => line,
    );
  }

  /** True if calls could not be written, such as to a full disk. */
  get isFailed(): boolean {
    return this.#isFailed;
  }

  /**
   * Adds a call; it is written after a short delay. Lines of small results are made together: one for each turn of the
   * event loop would cost that turn. Large results are not kept that long.
   */
  add(call: EndedCall): void {
    this.#ended.push(call);
    if (!isSmall(call.result)) setImmediate(() => this.#write());
    else if (this.#ended.length >= MAX_ENDED) this.#write();
    else this.#cancelTimer ??= this.#clock.after(WRITE_AFTER_MS, () => this.#write());
  }

  async search(query: HistoryQuery): Promise<HistoryPage> {
    await this.flush();
    return searchHistory(this.#files, query);
  }

  async find(key: string): Promise<(PastCall & PastValues) | undefined> {
    await this.flush();
    return findInHistory(this.#files, key);
  }

  async bytes(): Promise<number> {
    return (await this.#files.list()).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Deletes all calls, also those that are not written yet. */
  async clear(): Promise<void> {
    this.#ended = [];
    this.#lines.discard();
    await this.#lines.flush();
    await this.#files.clear();
  }

  /** Writes all pending calls. */
  flush(): Promise<void> {
    this.#write();
    return this.#lines.flush();
  }

  #write(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const ended = this.#ended;
    this.#ended = [];
    for (const call of ended) this.#lines.add(this.#lineOf(call));
  }
}
