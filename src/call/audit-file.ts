/** Writes the lines of `audit.jsonl`: in batches, behind the calls, and rotated. */

import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { appendTo } from '../lib/append-file.ts';
import { type BatchedLines, createBatchedLines } from '../lib/batched-lines.ts';
import type { Clock } from '../lib/clock.ts';
import { withFileLock } from '../lib/locked-file.ts';

const ROTATE_AT_BYTES: number = 10 * 1024 * 1024;
const KEPT_FILES = 5;

export type AuditFile<T> = Pick<BatchedLines<T>, 'add' | 'flush'>;

export interface AuditFileOptions {
  readonly file: string;
  readonly lockDir: string;
  readonly clock: Clock;
  /** Called once if lines cannot be written: an audit log must not fail silently. */
  readonly failed: (message: string) => void;
}

/** `lineOf` returns the line of a record, without its line break. */
export function createAuditFile<T>(options: AuditFileOptions, lineOf: (record: T) => string): AuditFile<T> {
  const { file, clock } = options;
  return createBatchedLines(
    {
      clock,
      write: async (bytes) => {
        const size = await appendTo(file, bytes);
        if (size > ROTATE_AT_BYTES)
          await withFileLock(join(options.lockDir, 'audit.lock'), () => rotate(file));
      },
      failed: (why) => options.failed(`${file} cannot be written: ${why}`),
    },
    lineOf,
  );
}

/** Runs under the lock, and only if no other process has rotated the file in between. */
async function rotate(file: string): Promise<void> {
  const now = await stat(file).catch(() => undefined);
  if (now === undefined || now.size <= ROTATE_AT_BYTES) return;
  for (let kept = KEPT_FILES - 1; kept >= 1; kept -= 1) {
    await rename(`${file}.${kept}`, `${file}.${kept + 1}`).catch(() => {});
  }
  await rename(file, `${file}.1`);
}
