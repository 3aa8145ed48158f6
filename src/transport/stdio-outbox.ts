/** Queues writes to a server's stdin: one write per turn, limited if the server does not read (F22). */

import type { Writable } from 'node:stream';
import { PlugboardError } from '../errors.ts';
import { SENT } from './contract.ts';

/** Bytes that may be queued for a slow server. A single larger message may still pass alone. */
export const MAX_QUEUED_BYTES: number = 64 * 1024 * 1024;

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: PlugboardError) => void;
}

export class Outbox {
  readonly #stream: Writable;
  readonly #maxQueuedBytes: number;
  /** Lines of this turn, not yet written to the stream. */
  #batch = '';
  #scheduled = false;
  /** The pipe is full: lines are queued, each with its promise, until it drains. */
  #full = false;
  #waiting = new Set<Waiting>();
  #waitingBytes = 0;
  #failure: PlugboardError | undefined;

  constructor(stream: Writable, maxQueuedBytes: number = MAX_QUEUED_BYTES) {
    this.#stream = stream;
    this.#maxQueuedBytes = maxQueuedBytes;
    stream.on('drain', () => this.#drained());
  }

  /** Resolves when the line is handed to the pipe; at once, as long as the server keeps up. */
  send(line: string, signal: AbortSignal | undefined, isAlone = false): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (signal?.aborted) return Promise.reject(cancelled(signal));
    if (this.#full) return this.#wait(line, signal);
    if (isAlone && this.#batch === '') {
      // The server works while we finish our own bookkeeping.
      this.#full = !this.#stream.write(line, 'utf8');
      return SENT;
    }
    this.#batch += line;
    if (!this.#scheduled) {
      this.#scheduled = true;
      // Runs after all input of this turn was read: calls of many clients are sent in one write.
      setImmediate(() => this.#flush());
    }
    return SENT;
  }

  /** Rejects all queued and later lines with this error. */
  fail(error: PlugboardError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#batch = '';
    for (const waiting of this.#waiting) waiting.reject(error);
    this.#waiting.clear();
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#batch === '' || this.#failure) return;
    const batch = this.#batch;
    this.#batch = '';
    this.#full = !this.#stream.write(batch, 'utf8');
  }

  async #wait(line: string, signal: AbortSignal | undefined): Promise<void> {
    const bytes = Buffer.byteLength(line);
    const queued = this.#waitingBytes + this.#stream.writableLength;
    if (queued + bytes > this.#maxQueuedBytes) {
      throw new PlugboardError(
        'LIMIT_EXCEEDED',
        `The server does not read: ${queued} bytes already wait for it`,
        {
          hint: 'It may hang. Reconnect it.',
          detail: { notSent: true },
        },
      );
    }
    this.#waitingBytes += bytes;
    let giveUp: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const waiting: Waiting = { line, resolve, reject };
        this.#waiting.add(waiting);
        giveUp = () => {
          this.#waiting.delete(waiting);
          if (signal) reject(cancelled(signal));
        };
        signal?.addEventListener('abort', giveUp, { once: true });
      });
    } finally {
      this.#waitingBytes -= bytes;
      if (giveUp) signal?.removeEventListener('abort', giveUp);
    }
  }

  #drained(): void {
    this.#full = false;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { line, resolve } of waiting) {
      this.#batch += line;
      resolve();
    }
    this.#flush();
  }
}

function cancelled(signal: AbortSignal): PlugboardError {
  const { code, message } =
    signal.reason instanceof PlugboardError
      ? signal.reason
      : { code: 'CANCELLED' as const, message: 'The request was cancelled before it was sent.' };
  return new PlugboardError(code, message, { cause: signal.reason, detail: { notSent: true } });
}
