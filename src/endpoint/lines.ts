/** One message a line over a pair of streams: what is read is bounded by the line, what is written by who reads it. */

import type { Readable, Writable } from 'node:stream';
import { type JsonRpcMessage, messageText } from '../lib/json-rpc.ts';
import { type Dropped, LineCutter } from '../lib/lines.ts';
import { MAX_BODY_BYTES } from './http-body.ts';

/** With this much unread by the client, nothing more is read from it, and what it could do without is dropped. */
const MAX_UNREAD_BYTES: number = 16 * 1024 * 1024;

export class LineWriter {
  readonly #output: Writable;
  readonly #write: (text: string) => boolean;
  #waiting = '';
  #onDrained: (() => void) | undefined;

  /** `write`: where text really goes when the stream's own method was given to others. */
  constructor(output: Writable, write: (text: string) => boolean = (text) => output.write(text)) {
    this.#output = output;
    this.#write = write;
    output.on('drain', () => this.#drained());
  }

  get isFull(): boolean {
    return this.#output.writableLength + this.#waiting.length > MAX_UNREAD_BYTES;
  }

  /** False when nobody will read it: the client has gone, or reads too slowly for what is no answer. */
  send = (message: JsonRpcMessage): boolean => {
    if (this.#output.destroyed || (!('id' in message) && this.isFull)) return false;
    const text = messageText(message);
    // Lines of one moment leave in one write.
    if (this.#waiting === '') process.nextTick(this.#flush);
    this.#waiting += `${text}\n`;
    return true;
  };

  /** Calls back once, when there is room again. */
  onceDrained(then: () => void): void {
    this.#onDrained = then;
  }

  /** Resolves when everything was handed to the system, or cannot be any more. */
  async flushed(): Promise<void> {
    this.#flush();
    const { destroyed, writableLength } = this.#output;
    if (destroyed || writableLength === 0) return;
    await new Promise<void>((resolve) => {
      this.#output.once('drain', resolve);
      this.#output.once('close', resolve);
      this.#output.once('error', () => resolve());
    });
  }

  #flush = (): void => {
    const text = this.#waiting;
    this.#waiting = '';
    if (text !== '' && !this.#output.destroyed) this.#write(text);
  };

  #drained(): void {
    const then = this.#onDrained;
    this.#onDrained = undefined;
    then?.();
  }
}

export interface LineReader {
  line(text: string): void;
  /** A line was longer than a body may be; the next one is read. */
  dropped(line: Dropped): void;
}

/** Blank lines say nothing. The last line may end with the input. */
export function readLines(input: Readable, reader: LineReader): void {
  const cutter = new LineCutter(
    (bytes) => {
      const line = bytes.toString('utf8');
      if (line.trim() !== '') reader.line(line);
    },
    { maxBytes: MAX_BODY_BYTES, dropped: (line) => reader.dropped(line) },
  );
  input.on('data', (chunk: Buffer) => cutter.push(chunk));
  input.once('end', () => cutter.end());
}
