/** Saves complete results that were too long to return, with limits on age and total size (CAL-5). */

import { type FileHandle, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { makeFolder } from '../lib/make-folder.ts';

const MAX_TOTAL_BYTES: number = 1024 * 1024 * 1024;
const MAX_AGE_MS: number = 7 * 24 * 60 * 60 * 1000;
const PIECE_CHARS: number = 256 * 1024;
/** The names of our files; the program's folder may contain other files. */
const SAVED = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-\d+-\d+-/;
/** UTF-8 needs at most three bytes for each code unit of a string. */
const MAX_BYTES_PER_UNIT = 3;

/** Limit on saved results; files can be small, and each costs a look at every prune. */
const MAX_FILES = 5_000;
const SAVES_PER_PRUNE = 16;
/** Ends the name of the record of a result, which is next to it. */
export const RECORD_ENDING = '.ref';

export interface OutputFiles {
  /**
   * Writes a result and returns its path, '' if this host saves none; rejects if it cannot be written. `record` is
   * written next to it, for `plugboard results`.
   */
  save(name: string, content: string | Uint8Array, record?: object): Promise<string>;
}

export function createOutputFiles(folder: string, clock: Clock): OutputFiles {
  let pruning: Promise<void> | undefined;
  let count = 0;
  return {
    async save(name, content, record) {
      await makeFolder(folder, 0o700);
      count += 1;
      const number = count;
      const stamp = new Date(clock.now()).toISOString().replace(/[:.]/g, '-');
      const file = join(folder, `${stamp}-${process.pid}-${number}-${name}`);
      const part = `${file}.part`;
      try {
        const handle = await open(part, 'wx', 0o600);
        await write(handle, content).finally(() => handle.close());
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
      await rename(part, file);
      if (record !== undefined)
        await writeFile(`${file}${RECORD_ENDING}`, JSON.stringify(record), { mode: 0o600, flag: 'wx' });
      // Every file is looked at: with thousands of them, not after each one.
      if (number % SAVES_PER_PRUNE === 1)
        pruning ??= prune(folder, clock.now()).finally(() => {
          pruning = undefined;
        });
      await pruning;
      return file;
    },
  };
}

/** Writes a text through one small buffer, so that a long result is not held a second time as bytes. */
async function write(file: FileHandle, content: string | Uint8Array): Promise<void> {
  if (typeof content !== 'string') {
    await file.writeFile(content);
    return;
  }
  const encoder = new TextEncoder();
  const buffer = new Uint8Array(PIECE_CHARS * MAX_BYTES_PER_UNIT);
  for (let at = 0; at < content.length; ) {
    let end = Math.min(at + PIECE_CHARS, content.length);
    // A surrogate pair is one character: it is not split.
    if (end < content.length && (content.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
    const { written } = encoder.encodeInto(content.slice(at, end), buffer);
    for (let from = 0; from < written; ) {
      from += (await file.write(buffer, from, written - from)).bytesWritten;
    }
    at = end;
  }
}

/** Deletes old files, and the oldest ones while the total is too large. */
async function prune(folder: string, now: number): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const files = await Promise.all(
    names
      .filter((name) => SAVED.test(name) && !name.endsWith(RECORD_ENDING))
      .map(async (name) => {
        const path = join(folder, name);
        const found = await stat(path).catch(() => undefined);
        return { path, size: found?.size ?? 0, at: found?.mtimeMs ?? 0 };
      }),
  );
  let total = 0;
  for (const [place, { path, size, at }] of files.sort((a, b) => b.at - a.at).entries()) {
    total += size;
    if (total <= MAX_TOTAL_BYTES && now - at <= MAX_AGE_MS && place < MAX_FILES) continue;
    await rm(path, { force: true });
    await rm(`${path}${RECORD_ENDING}`, { force: true });
  }
}
