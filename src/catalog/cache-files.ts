/** A folder of timestamped JSON files by key: bounded reads, background writes, only the newest files kept. */

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { isRecord, parseJson } from '../lib/json.ts';
import { writeAmongNewest } from '../lib/keep-newest.ts';

const MAX_FILE_BYTES: number = 64 * 1024 * 1024;

type Content = Readonly<Record<string, unknown>>;

export class CacheFiles {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #maxFiles: number;
  readonly #writing = new Map<string, Promise<void>>();

  constructor(folder: string, clock: Clock, maxFiles: number) {
    this.#folder = folder;
    this.#clock = clock;
    this.#maxFiles = maxFiles;
  }

  /** `ageMs` is infinite for a file from the future, which would look fresh forever after the clock was set back. */
  async read(key: string): Promise<{ readonly content: Content; readonly ageMs: number } | undefined> {
    const file = this.#fileOf(key);
    const size = await stat(file).then(
      (stats) => stats.size,
      () => undefined,
    );
    if (size === undefined || size > MAX_FILE_BYTES) return undefined;
    const content = parse(await readFile(file, 'utf8').catch(() => ''));
    if (content === undefined) return undefined;
    const ageMs = this.#clock.now() - content.at;
    return { content: content.rest, ageMs: ageMs >= 0 ? ageMs : Number.POSITIVE_INFINITY };
  }

  /** Writes atomically; a failure (read-only home folder) only makes the next start slower. */
  write(key: string, content: Content): void {
    const text = JSON.stringify({ at: this.#clock.now(), ...content });
    const before = this.#writing.get(key) ?? Promise.resolve();
    const done: Promise<void> = before
      // Changed entries leave their old files behind.
      .then(() => writeAmongNewest(this.#fileOf(key), text, this.#maxFiles))
      .catch(() => {})
      .finally(() => {
        if (this.#writing.get(key) === done) this.#writing.delete(key);
      });
    this.#writing.set(key, done);
  }

  async flush(): Promise<void> {
    await Promise.all(this.#writing.values());
  }

  #fileOf(key: string): string {
    return join(this.#folder, `${key}.json`);
  }
}

function parse(text: string): { readonly at: number; readonly rest: Content } | undefined {
  const value = parseJson(text);
  if (!isRecord(value) || typeof value['at'] !== 'number') return undefined;
  const { at, ...rest } = value;
  return { at: Number(at), rest };
}
