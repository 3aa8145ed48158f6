/** Collects lines of a log and writes them in batches, behind the work that they report. */

import type { Clock } from './clock.ts';

const FLUSH_AFTER_MS = 250;
const CHUNK_BYTES: number = 256 * 1024;
/** Records that are written as text together, so that most calls do not wait for it. */
const MAX_PENDING = 64;
/** UTF-8 needs at most this many bytes for a character of a string. */
const MAX_BYTES_PER_CHAR = 3;
/** Bounds memory if the disk hangs. */
const MAX_WAITING_BYTES: number = 16 * 1024 * 1024;

export interface BatchedLines<T> {
  add(record: T): void;
  /** Writes all pending lines. */
  flush(): Promise<void>;
  /** Drops lines that are not being written yet. */
  discard(): void;
}

export interface BatchedLinesOptions {
  readonly clock: Clock;
  /** Writes whole lines; one call at a time. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Called once if lines cannot be written: a log must not fail silently. */
  readonly failed: (why: string) => void;
}

/** `lineOf` returns the line of a record, without its line break. */
export function createBatchedLines<T>(
  options: BatchedLinesOptions,
  lineOf: (record: T) => string,
): BatchedLines<T> {
  const { clock } = options;
  let pending: T[] = [];
  /** Lines are copied into it: strings that wait for the disk would cost the garbage collector more. */
  let chunk: Uint8Array | undefined;
  let filled = 0;
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let cancelTimer: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  let isReported = false;

  const reportFailure = (why: string): void => {
    if (!isReported) options.failed(why);
    isReported = true;
  };

  const write = async (bytes: Uint8Array): Promise<void> => {
    try {
      await options.write(bytes);
    } catch (error) {
      reportFailure(error instanceof Error ? error.message : String(error));
    }
  };

  /** One write at a time; lines that arrive during it are written by the next. */
  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const bytes = joined(waiting);
      waiting = [];
      waitingBytes = 0;
      await write(bytes);
    }
    writing = undefined;
  };

  const queue = (bytes: Uint8Array): void => {
    waiting.push(bytes);
    waitingBytes += bytes.length;
    writing ??= writeAll();
  };

  const emptyChunk = (): void => {
    if (chunk !== undefined && filled > 0) queue(chunk.slice(0, filled));
    filled = 0;
  };

  const encodePending = (): void => {
    let text = '';
    for (const record of pending) text += `${lineOf(record)}\n`;
    pending = [];
    const most = text.length * MAX_BYTES_PER_CHAR;
    if (filled + most > CHUNK_BYTES) emptyChunk();
    if (most > CHUNK_BYTES) queue(encoder.encode(text));
    else {
      chunk ??= new Uint8Array(CHUNK_BYTES);
      filled += encoder.encodeInto(text, chunk.subarray(filled)).written;
    }
  };

  const flush = (): Promise<void> => {
    cancelTimer?.();
    cancelTimer = undefined;
    encodePending();
    emptyChunk();
    return writing ?? Promise.resolve();
  };

  return {
    add(record) {
      if (waitingBytes > MAX_WAITING_BYTES)
        return reportFailure('it takes longer than calls do, and lines were left out');
      cancelTimer ??= clock.after(FLUSH_AFTER_MS, () => void flush());
      pending.push(record);
      if (pending.length === MAX_PENDING) encodePending();
    },
    flush,
    discard() {
      cancelTimer?.();
      cancelTimer = undefined;
      pending = [];
      filled = 0;
      waiting = [];
      waitingBytes = 0;
    },
  };
}

const encoder = new TextEncoder();

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(), ...others] = parts;
  if (others.length === 0) return first;
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
