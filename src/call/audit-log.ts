/** Writes `audit.jsonl`: one line per call, in batches, rotated, never with argument values. */

import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { withFileLock } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';

const FLUSH_AFTER_MS = 250;
/** Small, so that lines are written soon: retaining them costs more than writing. */
const MAX_BUFFERED_CHARS: number = 64 * 1024;
/** Bounds memory if the disk hangs. */
const MAX_WAITING_CHARS: number = 16 * 1024 * 1024;
const ROTATE_AT_BYTES: number = 10 * 1024 * 1024;
const KEPT_FILES = 5;

export interface AuditLog {
  record(line: object): void;
  /** Writes all pending lines. */
  flush(): Promise<void>;
}

export interface AuditLogOptions {
  readonly file: string;
  readonly lockDir: string;
  readonly clock: Clock;
  /** Called once if lines cannot be written: an audit log must not fail silently. */
  readonly failed: (message: string) => void;
}

export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { file, clock } = options;
  /** Lines not yet serialized, so that calls do not wait for it. */
  let fresh: object[] = [];
  let waiting: string[] = [];
  let chars = 0;
  let cancelTimer: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let isReported = false;

  const reportFailure = (why: string): void => {
    if (!isReported) options.failed(`${file} cannot be written: ${why}`);
    isReported = true;
  };

  const write = async (text: string): Promise<void> => {
    try {
      const size = await append(file, text);
      if (size > ROTATE_AT_BYTES) await withFileLock(join(options.lockDir, 'audit.lock'), () => rotate(file));
    } catch (error) {
      reportFailure(error instanceof Error ? error.message : String(error));
    }
  };

  const writeOut = (): void => {
    for (const line of fresh) {
      const text = JSON.stringify(line);
      waiting.push(text);
      chars += text.length;
    }
    fresh = [];
  };

  /** One write at a time; lines that arrive during it are written by the next. */
  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const text = `${waiting.join('\n')}\n`;
      waiting = [];
      chars = 0;
      await write(text);
    }
    writing = undefined;
  };

  const flush = (): Promise<void> => {
    cancelTimer?.();
    cancelTimer = undefined;
    writeOut();
    if (writing === undefined && waiting.length > 0) writing = writeAll();
    return writing ?? Promise.resolve();
  };

  return {
    record(line) {
      if (chars > MAX_WAITING_CHARS)
        return reportFailure('it takes longer than calls do, and lines were left out');
      fresh.push(line);
      cancelTimer ??= clock.after(FLUSH_AFTER_MS, () => void flush());
      if (fresh.length > 1) return;
      setImmediate(() => {
        writeOut();
        if (chars > MAX_BUFFERED_CHARS && writing === undefined) void flush();
      });
    },
    flush,
  };
}

/** Appends to the file and returns its size; creates the folder if it is missing. */
async function append(file: string, text: string): Promise<number> {
  // Opened each time: another process may have rotated the file since.
  const openFile = (): Promise<FileHandle> => open(file, 'a', 0o600);
  const handle = await openFile().catch(async (error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
    await makeFolder(dirname(file), 0o700);
    return openFile();
  });
  try {
    await handle.appendFile(text);
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
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

const MAX_DEPTH = 3;
const MAX_KEYS = 20;
const MAX_KEY_CHARS = 64;

export type Shape = string | { readonly [key: string]: Shape };

/** `{ path: 'a.md', lines: [1, 2] }` → `{ path: 'string(4)', lines: 'array(2)' }` */
export function shapeOf(value: unknown, depth = 0): Shape {
  if (typeof value === 'string') return `string(${value.length})`;
  if (Array.isArray(value)) return `array(${value.length})`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members);
  if (depth === MAX_DEPTH) return `object(${keys.length})`;
  const shape: Record<string, Shape> = {};
  for (const key of keys.length > MAX_KEYS ? keys.slice(0, MAX_KEYS) : keys) {
    const name = key.slice(0, MAX_KEY_CHARS);
    const value = shapeOf(members[key], depth + 1);
    // An ordinary assignment would set the prototype.
    if (name === '__proto__') Object.defineProperty(shape, name, { value, enumerable: true });
    else shape[name] = value;
  }
  if (keys.length > MAX_KEYS) shape['…'] = `${keys.length - MAX_KEYS} more`;
  return shape;
}
