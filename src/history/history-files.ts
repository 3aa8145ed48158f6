/** The files of the history: which one is written, and which are deleted because of their age or size. */

import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { appendTo } from '../lib/append-file.ts';
import type { Clock } from '../lib/clock.ts';

const DAY_MS = 86_400_000;
export const KEPT_DAYS = 7;
export const MAX_HISTORY_BYTES: number = 200 * 1024 * 1024;
/** A file is read as a whole, so it is small; a new one is begun after a day too, so that old calls can be deleted. */
const MAX_FILE_BYTES: number = 4 * 1024 * 1024;
const NAME = /^calls-([0-9a-z]{9})-[0-9a-f]{8}\.lines$/;
const TIME_DIGITS = 9;

export interface HistoryFile {
  /** Sorts by the time of its creation. */
  readonly name: string;
  readonly path: string;
  readonly begun: number;
  readonly bytes: number;
}

export class HistoryFiles {
  readonly folder: string;
  readonly #clock: Clock;
  /** The file that this process appends to; others may append to it too. */
  #current: { readonly path: string; readonly begun: number; bytes: number } | undefined;

  constructor(folder: string, clock: Clock) {
    this.folder = folder;
    this.#clock = clock;
  }

  /** Appends whole lines; begins a new file, and deletes old ones, when the current one is full or a day old. */
  async append(bytes: Uint8Array): Promise<void> {
    let current = this.#current;
    if (current === undefined || this.#isDone(current)) {
      const [newest, ...older] = await this.list();
      const isOpen = newest !== undefined && !this.#isDone(newest);
      current = isOpen ? { ...newest } : this.#begin();
      this.#current = current;
      if (!isOpen) await this.#prune(newest === undefined ? [] : [newest, ...older]);
    }
    current.bytes = await appendTo(current.path, bytes);
  }

  /** Returns the files, newest first. */
  async list(): Promise<readonly HistoryFile[]> {
    const names = await readdir(this.folder).catch(() => []);
    const files = await Promise.all(
      names.map(async (name): Promise<HistoryFile | undefined> => {
        const [, time] = NAME.exec(name) ?? [];
        if (time === undefined) return undefined;
        const path = join(this.folder, name);
        const bytes = await stat(path).then(
          ({ size }) => size,
          () => undefined,
        );
        return bytes === undefined ? undefined : { name, path, begun: Number.parseInt(time, 36), bytes };
      }),
    );
    return files.flatMap((file) => file ?? []).sort((a, b) => (a.name < b.name ? 1 : -1));
  }

  async clear(): Promise<void> {
    this.#current = undefined;
    for (const { path } of await this.list()) await rm(path, { force: true });
  }

  /** Calls that began before this time are too old to be shown. */
  get oldest(): number {
    return this.#clock.now() - KEPT_DAYS * DAY_MS;
  }

  #begin(): { readonly path: string; readonly begun: number; bytes: number } {
    const begun = this.#clock.now();
    const time = Math.max(0, begun).toString(36).padStart(TIME_DIGITS, '0');
    const name = `calls-${time}-${randomBytes(4).toString('hex')}.lines`;
    return { path: join(this.folder, name), begun, bytes: 0 };
  }

  #isDone({ begun, bytes }: { readonly begun: number; readonly bytes: number }): boolean {
    const age = this.#clock.now() - begun;
    return bytes >= MAX_FILE_BYTES || age >= DAY_MS || age < -DAY_MS;
  }

  /** `files`: newest first. A file was written for up to a day after it was begun. */
  async #prune(files: readonly HistoryFile[]): Promise<void> {
    let kept = MAX_FILE_BYTES;
    for (const { path, begun, bytes } of files) {
      kept += bytes;
      if (kept > MAX_HISTORY_BYTES || begun + DAY_MS < this.oldest) await rm(path, { force: true });
    }
  }
}
