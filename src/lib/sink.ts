/** One of the two output streams: where its bytes go, and what happens when nobody takes them any more. */

import { fstatSync, writeSync } from 'node:fs';
import { PlugboardError } from '../errors.ts';
import { errorCode } from './error-code.ts';

type Stream = NodeJS.WriteStream;

/** What an output stream looks like to whoever fills it, here or in another process. */
export interface TextSink {
  readonly isTerminal: boolean;
  /** Of a terminal, as far as it says. */
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  write(text: string): void;
  flushed(): Promise<void>;
}

export class Sink implements TextSink {
  readonly isTerminal: boolean;
  readonly #fd: 1 | 2;
  readonly #onGone: (error: Error) => void;
  #stream: Stream | undefined;

  /** `onGone` is called when writing fails: the reader has closed its end, or the disk is full. */
  constructor(fd: 1 | 2, onGone: (error: Error) => void) {
    this.#fd = fd;
    this.#onGone = onGone;
    this.isTerminal = isTerminal(fd);
  }

  get columns(): number | undefined {
    return this.isTerminal ? this.#open().columns : undefined;
  }

  get rows(): number | undefined {
    return this.isTerminal ? this.#open().rows : undefined;
  }

  /**
   * Into a pipe or file the bytes are written at once. Node's own stream for that costs a tenth of a
   * start of Node to set up; it is made for terminals, and when a pipe cannot take everything now.
   */
  write(text: string): void {
    if (this.isTerminal || this.#stream !== undefined) {
      this.#open().write(text);
      return;
    }
    const rest = this.#writeNow(Buffer.from(text));
    if (rest.length > 0) this.#open().write(rest);
  }

  /** Resolves when the stream, if there is one, has handed everything over. */
  flushed(): Promise<void> {
    const stream = this.#stream;
    if (stream === undefined || stream.writableLength === 0 || stream.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      stream.once('error', () => resolve());
      stream.write('', () => resolve());
    });
  }

  /** What could not be written without waiting. */
  #writeNow(bytes: Buffer): Buffer {
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#fd, bytes, written);
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') return bytes.subarray(written);
      this.#onGone(error instanceof Error ? error : new Error(String(error)));
    }
    return Buffer.alloc(0);
  }

  #open(): Stream {
    if (this.#stream !== undefined) return this.#stream;
    const stream = this.#fd === 1 ? process.stdout : process.stderr;
    // Without a listener a closed pipe would end the process with a stack trace, children unreaped.
    stream.on('error', this.#onGone);
    this.#stream = stream;
    return stream;
  }
}

/** Whether writing failed because the reader has read enough, which is no failure. */
export function isReaderGone(error: Error): boolean {
  return errorCode(error) === 'EPIPE';
}

/** Writing failed for another reason. */
export function outputFailed(error: Error): PlugboardError {
  const isFull = errorCode(error) === 'ENOSPC';
  return new PlugboardError('OUTPUT_FAILED', `The output could not be written: ${error.message}.`, {
    hint: isFull ? 'Make room on the disk, or write to another place.' : 'Write to another place.',
    cause: error,
  });
}

/** Asks the file descriptor first: only what may be a terminal is worth the stream that knows. */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  try {
    if (!fstatSync(fd).isCharacterDevice()) return false;
  } catch {
    // Closed by whoever started us.
    return false;
  }
  const name = (['stdin', 'stdout', 'stderr'] as const)[fd];
  return process[name].isTTY === true;
}
