/**
 * JSON files of the home folder that several processes share: parsed reads, updates under a lock, and writes in the
 * background that `flush()` waits for.
 */

import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRecord, parseJson } from './json.ts';
import { updateFile } from './locked-file.ts';
import { makeFolder } from './make-folder.ts';

export interface JsonStoreOptions<T> {
  readonly file: string;
  readonly lockDir: string;
  /** Parses the content; a missing or invalid file is undefined. */
  readonly parse: (value: unknown) => T;
  /** Returns the content to write. */
  readonly toJson: (value: T) => unknown;
  /** Spaces per level; default: one line. */
  readonly indent?: number;
}

/** One value in one file. */
export class JsonStore<T> {
  readonly #options: JsonStoreOptions<T>;
  #waiting: ((value: T) => T)[] = [];
  #writing: Promise<void> | undefined;

  constructor(options: JsonStoreOptions<T>) {
    this.#options = options;
  }

  async read(): Promise<T> {
    const { file, parse } = this.#options;
    return parse(parseJson(await readFile(file, 'utf8').catch(() => '')));
  }

  /** Applies a change to the current content of the file, which another process may have written. */
  async update(change: (value: T) => T): Promise<void> {
    const { file, lockDir, parse, toJson, indent } = this.#options;
    const edit = (text: string | undefined): string =>
      `${JSON.stringify(toJson(change(parse(parseJson(text ?? '')))), null, indent)}\n`;
    await makeFolder(dirname(file), 0o700);
    await updateFile(file, edit, { lockDir, mode: 0o600 });
  }

  /** Like `update`, in the background. A failure is ignored: a read-only home folder stores nothing. */
  updateLater(change: (value: T) => T): void {
    this.#waiting.push(change);
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when every change is on disk. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Changes made during a write are written by the next one.
    while (this.#waiting.length > 0) {
      // Batched: ten servers that connect together are one write.
      await new Promise<void>((resolve) => setImmediate(resolve));
      const batch = this.#waiting;
      this.#waiting = [];
      await this.update((value) => batch.reduce((before, change) => change(before), value)).catch(() => {});
    }
    this.#writing = undefined;
  }
}

/** Every entry has its creation time. */
export interface Dated {
  readonly at: number;
}

export interface DatedMapOptions<T> {
  readonly file: string;
  readonly lockDir: string;
  /** The newest entries are kept. */
  readonly maxEntries: number;
  /** Parses one value of the file; an entry with undefined is dropped. */
  readonly parse: (value: Readonly<Record<string, unknown>>) => T | undefined;
}

/** A bounded map in one file: read once, changed in memory at once and on disk in the background. */
export class DatedMap<T extends Dated> {
  readonly #store: JsonStore<Map<string, T>>;
  readonly #known: Map<string, T>;

  static async open<T extends Dated>(options: DatedMapOptions<T>): Promise<DatedMap<T>> {
    const { file, lockDir, maxEntries, parse } = options;
    const store = new JsonStore<Map<string, T>>({
      file,
      lockDir,
      parse: (value) => entriesOf(value, parse),
      toJson: (all) => Object.fromEntries([...all].sort(([, a], [, b]) => b.at - a.at).slice(0, maxEntries)),
    });
    return new DatedMap(store, await store.read());
  }

  private constructor(store: JsonStore<Map<string, T>>, known: Map<string, T>) {
    this.#store = store;
    this.#known = known;
  }

  get(key: string): T | undefined {
    return this.#known.get(key);
  }

  set(key: string, value: T): void {
    this.#known.set(key, value);
    this.#store.updateLater((all) => all.set(key, value));
  }

  delete(key: string): void {
    if (!this.#known.delete(key)) return;
    this.#store.updateLater((all) => {
      all.delete(key);
      return all;
    });
  }

  /** Resolves when every change is on disk. */
  flush(): Promise<void> {
    return this.#store.flush();
  }
}

function entriesOf<T>(value: unknown, parse: DatedMapOptions<T>['parse']): Map<string, T> {
  const entries = new Map<string, T>();
  if (!isRecord(value)) return entries;
  for (const [key, item] of Object.entries(value)) {
    const parsed = isRecord(item) && typeof item['at'] === 'number' ? parse(item) : undefined;
    if (parsed !== undefined) entries.set(key, parsed);
  }
  return entries;
}
