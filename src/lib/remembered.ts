/** A bounded map in one JSON file shared by several processes; changes are written in the background. */

import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isRecord } from './json.ts';
import { updateFile } from './locked-file.ts';
import { makeFolder } from './make-folder.ts';

export interface RememberedOptions<T> {
  readonly file: string;
  readonly lockDir: string;
  /** The newest entries are kept. */
  readonly maxEntries: number;
  /** Parses one value of the file; an entry with undefined is dropped. */
  readonly parse: (value: Readonly<Record<string, unknown>>) => T | undefined;
}

/** Every entry has its creation time. */
export interface Dated {
  readonly at: number;
}

export class Remembered<T extends Dated> {
  readonly #options: RememberedOptions<T>;
  readonly #known: Map<string, T>;
  /** Changes that are not on disk yet; undefined: deleted. */
  readonly #unwritten = new Map<string, T | undefined>();
  #writing: Promise<void> | undefined;

  /** Reads the file; a missing or invalid one is empty. */
  static async open<T extends Dated>(options: RememberedOptions<T>): Promise<Remembered<T>> {
    const text = await readFile(options.file, 'utf8').catch(() => '');
    return new Remembered(options, entriesIn(text, options.parse));
  }

  private constructor(options: RememberedOptions<T>, known: Map<string, T>) {
    this.#options = options;
    this.#known = known;
  }

  get(key: string): T | undefined {
    return this.#known.get(key);
  }

  set(key: string, value: T): void {
    this.#known.set(key, value);
    this.#note(key, value);
  }

  delete(key: string): void {
    if (this.#known.delete(key)) this.#note(key, undefined);
  }

  /** Resolves when every change is on disk. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  #note(key: string, value: T | undefined): void {
    this.#unwritten.set(key, value);
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    // Changes made during a write are written by the next one.
    while (this.#unwritten.size > 0) await this.#write();
    this.#writing = undefined;
  }

  async #write(): Promise<void> {
    // Batched: ten servers that connect together are one write.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const { file, lockDir, maxEntries, parse } = this.#options;
    const batch = [...this.#unwritten];
    this.#unwritten.clear();
    await makeFolder(dirname(file), 0o700).catch(() => {});
    const change = (text: string | undefined): string => {
      const all = entriesIn(text ?? '', parse);
      for (const [key, value] of batch) {
        if (value === undefined) all.delete(key);
        else all.set(key, value);
      }
      const newest = [...all].sort(([, a], [, b]) => b.at - a.at).slice(0, maxEntries);
      return `${JSON.stringify(Object.fromEntries(newest))}\n`;
    };
    // A read-only home folder only makes the next start slower.
    await updateFile(file, change, { lockDir, mode: 0o600 }).catch(() => {});
  }
}

function entriesIn<T>(text: string, parse: RememberedOptions<T>['parse']): Map<string, T> {
  const entries = new Map<string, T>();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return entries;
  }
  if (!isRecord(value)) return entries;
  for (const [key, item] of Object.entries(value)) {
    const parsed = isRecord(item) && typeof item['at'] === 'number' ? parse(item) : undefined;
    if (parsed !== undefined) entries.set(key, parsed);
  }
  return entries;
}
