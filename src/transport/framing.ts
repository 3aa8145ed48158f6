/** Splits a server's stdout into lines of limited length, and delivers the frames in them. */

import { constants } from 'node:buffer';
import { PlugboardError } from '../errors.ts';
import type { JsonRpcMessage, RequestId } from '../lib/json-rpc.ts';
import { readLine } from './framing-line.ts';
import { RESCUE_CHARS, recoverId } from './framing-rescue.ts';

/** Longest line that is buffered and parsed. */
export const DEFAULT_MAX_LINE_BYTES: number = 64 * 1024 * 1024;

/** A line this many times over the limit is treated as endless: the server is broken, not verbose. */
const ENDLESS_LINE_FACTOR = 4;

/** First buffer for a line that spans chunks; it doubles, so each byte is copied a limited number of times. */
const FIRST_BUFFER_BYTES = 64 * 1024;
const LARGE_LINE_BYTES = 1024 * 1024;

const NEWLINE = 10;

/** Receives the parsed stream, in order. */
export interface FrameSink {
  message(message: JsonRpcMessage): void;
  /** An unusable frame arrived; `id` is the request it answered, if it could be recovered. */
  lost(id: RequestId | undefined, error: PlugboardError): void;
  /** A line that is not JSON-RPC. */
  noise(line: string): void;
  /** An endless line: nothing after it can be read. */
  endless(error: PlugboardError): void;
}

/** The kept parts of a line over the limit; the rest is discarded. */
interface Overlong {
  readonly head: Buffer;
  tail: Buffer;
  bytes: number;
}

/**
 * Splits at the newline byte, so characters that span chunks need no special handling, and decodes all complete lines
 * of a chunk at once: this is the hot path of every call.
 */
export class FrameDecoder {
  readonly #sink: FrameSink;
  readonly #maxLineBytes: number;
  /** The incomplete line: the first `#lineBytes` of this buffer. */
  #line: Buffer | undefined;
  #lineBytes = 0;
  #overlong: Overlong | undefined;
  #stopped = false;

  constructor(sink: FrameSink, maxLineBytes: number = DEFAULT_MAX_LINE_BYTES) {
    this.#sink = sink;
    // The longest string that V8 supports.
    this.#maxLineBytes = Math.min(maxLineBytes, constants.MAX_STRING_LENGTH);
  }

  push(chunk: Buffer): void {
    if (this.#stopped) return;
    let start = 0;
    if (this.#line || this.#overlong) {
      const newline = chunk.indexOf(NEWLINE);
      this.#keep(newline < 0 ? chunk : chunk.subarray(0, newline));
      if (newline < 0) return;
      this.#endLine();
      start = newline + 1;
    }
    const last = chunk.lastIndexOf(NEWLINE);
    if (last >= start) {
      if (last - start <= this.#maxLineBytes) this.#readLines(chunk.toString('utf8', start, last));
      else this.#keepLines(chunk.subarray(start, last + 1));
      start = last + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** The stream ended: a last line without a newline is still read. */
  end(): void {
    this.#endLine();
    this.stop();
  }

  /** Stops delivery; further data is dropped. */
  stop(): void {
    this.#stopped = true;
    this.#line = undefined;
    this.#overlong = undefined;
  }

  #readLines(text: string): void {
    for (let from = 0; from <= text.length && !this.#stopped; ) {
      const newline = text.indexOf('\n', from);
      const to = newline < 0 ? text.length : newline;
      readLine(text.slice(from, to), this.#sink);
      from = to + 1;
    }
  }

  /** Reads the lines of a chunk that is longer than the limit of one line. */
  #keepLines(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; ) {
      const to = bytes.indexOf(NEWLINE, from);
      this.#keep(bytes.subarray(from, to));
      this.#endLine();
      from = to + 1;
    }
  }

  #keep(part: Buffer): void {
    if (this.#stopped) return;
    const before = this.#line?.subarray(0, this.#lineBytes);
    const size = (before?.length ?? 0) + part.length;
    if (this.#overlong) {
      this.#discard(part, this.#overlong);
    } else if (size > this.#maxLineBytes) {
      const known = before ?? Buffer.alloc(0);
      const head = Buffer.concat([known.subarray(0, RESCUE_CHARS), part.subarray(0, RESCUE_CHARS)]);
      const tail = Buffer.from(known.subarray(-RESCUE_CHARS));
      this.#overlong = { head: head.subarray(0, RESCUE_CHARS), tail, bytes: known.length };
      this.#line = undefined;
      this.#discard(part, this.#overlong);
    } else if (!before || !this.#line) {
      // Usually a short remainder between two chunks: kept without a buffer of its own.
      this.#line = part;
      this.#lineBytes = size;
    } else {
      if (this.#line.length < size) {
        // Allocate the maximum for a long line at once: untouched pages cost nothing, copies do.
        const room =
          size > LARGE_LINE_BYTES
            ? this.#maxLineBytes
            : Math.max(size, before.length * 2, FIRST_BUFFER_BYTES);
        const grown = Buffer.allocUnsafeSlow(Math.min(room, this.#maxLineBytes));
        before.copy(grown);
        this.#line = grown;
      }
      part.copy(this.#line, before.length);
      this.#lineBytes = size;
    }
  }

  #discard(part: Buffer, line: Overlong): void {
    line.bytes += part.length;
    line.tail = Buffer.concat([line.tail, part.subarray(-RESCUE_CHARS)]).subarray(-RESCUE_CHARS);
    if (line.bytes <= this.#maxLineBytes * ENDLESS_LINE_FACTOR) return;
    this.stop();
    this.#sink.endless(tooLong(`${line.bytes} bytes without the end of a line`, this.#maxLineBytes));
  }

  #endLine(): void {
    const line = this.#line;
    const overlong = this.#overlong;
    this.#line = undefined;
    this.#overlong = undefined;
    if (this.#stopped) return;
    if (line) readLine(line.toString('utf8', 0, this.#lineBytes), this.#sink);
    if (overlong) {
      const id = recoverId(overlong.head.toString('utf8'), overlong.tail.toString('utf8'));
      this.#sink.lost(id, tooLong(`a message of ${overlong.bytes} bytes`, this.#maxLineBytes));
    }
  }
}

function tooLong(what: string, maxLineBytes: number): PlugboardError {
  return new PlugboardError(
    'LIMIT_EXCEEDED',
    `The server sent ${what}; the limit is ${maxLineBytes} bytes.`,
    {
      hint: 'Ask the tool for less at a time: a range, a page or a filter.',
    },
  );
}
