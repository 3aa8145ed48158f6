/** Newline-delimited messages over a pair of streams: bounds the length of lines and the unread output. */

import type { Readable, Writable } from 'node:stream';
import { type JsonRpcMessage, messageText } from '../lib/json-rpc.ts';
import { type Dropped, LineCutter } from '../lib/lines.ts';
import { MAX_BODY_BYTES } from './request-body.ts';

/** With this much unread by the client, reading from it pauses, and notifications are dropped. */
const MAX_UNREAD_BYTES: number = 16 * 1024 * 1024;

export class LineWriter {
  readonly #output: Writable;
  readonly #write: (text: string) => boolean;
  #waiting = '';
  #onDrained: (() => void) | undefined;

  /** `write`: the actual writer, if the stream's own method was replaced. */
  constructor(output: Writable, write: (text: string) => boolean = (text) => output.write(text)) {
    this.#output = output;
    this.#write = write;
    output.on('drain', () => this.#drained());
  }

  get isFull(): boolean {
    return this.#output.writableLength + this.#waiting.length > MAX_UNREAD_BYTES;
  }

  /** Returns false if the message is dropped: the client is gone, or reads too slowly for a notification. */
  send = (message: JsonRpcMessage): boolean => {
    if (this.#output.destroyed || (!('id' in message) && this.isFull)) return false;
    const text = messageText(message);
    // Lines of one tick are sent in one write.
    if (this.#waiting === '') process.nextTick(this.#flush);
    this.#waiting += `${text}\n`;
    return true;
  };

  /** Calls back once, when there is room again. */
  onceDrained(then: () => void): void {
    this.#onDrained = then;
  }

  /** Resolves when everything was passed to the system, or can no longer be. */
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
  /** Called for a line that exceeds the maximum body size; the next one is read. */
  dropped(line: Dropped): void;
}

/** Reads lines and skips blank ones. The last line may end with the input. */
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
