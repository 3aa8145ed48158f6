/** Writes to stdout or stderr, and handles a closed reader. */

import { fstatSync, writeSync } from 'node:fs';
import { PlugboardError } from '../errors.ts';
import { errorCode } from './error-code.ts';

type Stream = NodeJS.WriteStream;

/** An output stream for its writers, in this or another process. */
export interface TextSink {
  readonly isTerminal: boolean;
  /** Size of a terminal, if known. */
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
   * Writes synchronously to a pipe or file. Node's own stream costs a tenth of Node's start-up, so it is used only for
   * terminals, and if a pipe cannot take everything at once.
   */
  write(text: string): void {
    if (this.isTerminal || this.#stream !== undefined) {
      this.#open().write(text);
      return;
    }
    const rest = this.#writeNow(Buffer.from(text));
    if (rest.length > 0) this.#open().write(rest);
  }

  /** Resolves when the stream, if there is one, has written everything. */
  flushed(): Promise<void> {
    const stream = this.#stream;
    if (stream === undefined || stream.writableLength === 0 || stream.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      stream.once('error', () => resolve());
      stream.write('', () => resolve());
    });
  }

  /** Writes without waiting; returns the rest. */
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
    // Without a listener a closed pipe would end the process with a stack trace, leaving children unreaped.
    stream.on('error', this.#onGone);
    this.#stream = stream;
    return stream;
  }
}

/** True if writing failed because the reader closed the pipe, which is not an error. */
export function isReaderGone(error: Error): boolean {
  return errorCode(error) === 'EPIPE';
}

/** The error for other write failures. */
export function outputFailed(error: Error): PlugboardError {
  const isFull = errorCode(error) === 'ENOSPC';
  return new PlugboardError('OUTPUT_FAILED', `The output could not be written: ${error.message}`, {
    hint: isFull ? 'Make room on the disk, or write to another place.' : 'Write to another place.',
    cause: error,
  });
}

/** Checks the file descriptor, because creating the stream is expensive. */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  try {
    // Most descriptors of scripts are pipes and files, and loading `node:tty` takes a millisecond.
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd);
  } catch {
    // Closed by the parent process.
    return false;
  }
}
