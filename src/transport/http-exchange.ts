/** One HTTP request and its response: timeouts, decompression, size limits, abort. */

import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import { readJson } from './framing-rescue.ts';
import { type Progress, socketError } from './http-errors.ts';
import { headerValue, type ResponseHeaders } from './http-headers.ts';
import { type HttpLimits, MAX_ERROR_BODY_BYTES } from './http-limits.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: string[];
  readonly body?: string | undefined;
  /** Time limit for the response headers, from sending on; without it only the signal ends the wait. */
  readonly answerMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads a body. Ends with exactly one call of `end` or `failed`. */
export interface BodyReader {
  /** Decompressed bytes. */
  chunk(bytes: Buffer): void;
  end(): void;
  failed(error: PlugboardError): void;
}

export interface Head {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

interface ExchangeContext {
  /** The server's name in error messages. */
  readonly host: string;
  readonly clock: Clock;
  readonly limits: HttpLimits;
}

type Decompressor = ReturnType<typeof createGunzip | typeof createInflate | typeof createBrotliDecompress>;

/** The undici handler of one request. Ignores events after its end. */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Resolves when the headers have arrived. */
  readonly head: Promise<Head>;
  readonly #context: ExchangeContext;
  readonly #request: HttpRequest;
  readonly #released: (exchange: Exchange) => void;
  #resolveHead: (head: Head) => void = () => {};
  #rejectHead: (error: PlugboardError) => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #progress: Progress = 'not sent';
  #complete = false;
  #over = false;
  #error: PlugboardError | undefined;
  #cancelDeadline: (() => void) | undefined;
  #decompressor: Decompressor | undefined;
  #reader: BodyReader | undefined;
  /** Bytes that arrived before `read` was called. */
  #waiting: Buffer[] = [];
  #windowBytes = 0;
  #received = 0;
  #maxBytes = Number.POSITIVE_INFINITY;

  constructor(context: ExchangeContext, request: HttpRequest, released: (exchange: Exchange) => void) {
    this.#context = context;
    this.#request = request;
    this.#released = released;
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
    const { signal, answerMs } = request;
    if (answerMs !== undefined) this.#deadline(answerMs, 'did not answer');
    if (signal?.aborted) this.handleEvent();
    else signal?.addEventListener('abort', this);
  }

  /** Whether the exchange has ended. */
  get over(): boolean {
    return this.#over;
  }

  /** Passes the body to its reader, with a size limit; `steady` also requires a minimum speed. */
  read(reader: BodyReader, options: { readonly maxBytes: number; readonly steady: boolean }): void {
    if (this.#error) {
      reader.failed(this.#error);
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#maxBytes = options.maxBytes;
    this.#reader = reader;
    for (const bytes of waiting) this.#deliver(bytes);
    if (this.#complete) this.#finish();
    else if (options.steady && !this.#over) this.#watchSpeed();
  }

  /** Detaches the caller's signal: the response that it could cancel has arrived. */
  keep(): void {
    this.#request.signal?.removeEventListener('abort', this);
  }

  /** Aborts the exchange if the server has not ended the response within `ms`. */
  endWithin(ms: number): void {
    if (!this.#over) this.#deadline(ms, 'kept its answer open');
  }

  /** Ends the exchange and its socket at once. */
  abort(error: PlugboardError): void {
    if (this.#over) return;
    this.#finish(error);
    this.#controller?.abort(error);
  }

  /** Called when the caller's signal is aborted. */
  handleEvent(): void {
    this.abort(cancelled(this.#request.signal));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#over) controller.abort(this.#error ?? new Error('ended'));
    else this.#progress = 'sent';
  }

  onResponseStarted(): void {
    if (!this.#over && this.#request.answerMs === undefined) {
      this.#deadline(this.#context.limits.headersMs, 'did not finish the headers of its answer');
    }
  }

  onResponseStart(_controller: unknown, status: number, headers: ResponseHeaders): void {
    if (this.#over || status < 200) return;
    this.#clearDeadline();
    this.#progress = 'answering';
    const encoding = headerValue(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
    if (encoding !== 'identity' && !this.#decompress(encoding)) return;
    this.#resolveHead({ status, headers });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#windowBytes += chunk.length;
    if (!this.#decompressor) this.#deliver(chunk);
    else if (!this.#decompressor.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#over) return;
    if (this.#decompressor) this.#decompressor.end();
    else this.#bodyEnd();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#finish(socketError(error, this.#context.host, this.#progress));
  }

  /** A body without a reader is kept until `read` is called. */
  #bodyEnd(): void {
    if (this.#reader) this.#finish();
    else this.#complete = true;
  }

  #deliver(bytes: Buffer): void {
    if (this.#over) return;
    if (!this.#reader) {
      this.#waiting.push(bytes);
      return;
    }
    this.#received += bytes.length;
    if (this.#received > this.#maxBytes) this.abort(overLimit(this.#maxBytes));
    else this.#reader.chunk(bytes);
  }

  #decompress(encoding: string): boolean {
    const stream = decompressorFor(encoding);
    if (!stream) {
      this.abort(
        new PlugboardError(
          'PROTOCOL_ERROR',
          'The server compressed its answer in a way that was not offered',
          { hint: 'Switch off compression for this path on the server.' },
        ),
      );
      return false;
    }
    this.#decompressor = stream;
    stream.on('data', (bytes: Buffer) => this.#deliver(bytes));
    stream.on('drain', () => this.#controller?.resume());
    stream.on('end', () => this.#bodyEnd());
    stream.on('error', (cause) =>
      this.abort(
        new PlugboardError('PROTOCOL_ERROR', "The server's answer could not be decompressed", { cause }),
      ),
    );
    return true;
  }

  /** Aborts if a time window delivers too few bytes, so neither silence nor a trickle keeps the exchange open. */
  #watchSpeed(): void {
    const { clock, limits } = this.#context;
    this.#windowBytes = 0;
    this.#clearDeadline();
    this.#cancelDeadline = clock.after(limits.bodyWindowMs, () => {
      if (this.#windowBytes < limits.bodyWindowBytes) this.#abortLate('stopped in the middle of its answer');
      else this.#watchSpeed();
    });
  }

  #deadline(ms: number, what: string): void {
    this.#clearDeadline();
    this.#cancelDeadline = this.#context.clock.after(ms, () => this.#abortLate(what));
  }

  #abortLate(what: string): void {
    this.abort(
      new PlugboardError('TIMEOUT', `${this.#context.host} ${what} in time`, {
        hint: 'The server may hang or be overloaded; try again or restart it.',
      }),
    );
  }

  #clearDeadline(): void {
    this.#cancelDeadline?.();
    this.#cancelDeadline = undefined;
  }

  #finish(error?: PlugboardError): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    this.#clearDeadline();
    this.#request.signal?.removeEventListener('abort', this);
    this.#released(this);
    if (error) {
      this.#waiting = [];
      this.#decompressor?.destroy();
      this.#rejectHead(error);
      this.#reader?.failed(error);
    } else {
      this.#reader?.end();
    }
  }
}

/** Returns the error of an aborted request: the signal's reason if that is a PlugboardError. */
export function cancelled(signal: AbortSignal | undefined): PlugboardError {
  const reason: unknown = signal?.reason;
  return reason instanceof PlugboardError
    ? reason
    : new PlugboardError('CANCELLED', 'The request was cancelled');
}

export function overLimit(maxBytes: number): PlugboardError {
  return new PlugboardError('LIMIT_EXCEEDED', `The server's answer is over the limit of ${maxBytes} bytes`, {
    hint: 'Ask the tool for less at a time.',
  });
}

function decompressorFor(encoding: string): Decompressor | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}

/** Reads the whole body; rejects if it fails. */
export function readBody(exchange: Exchange, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const end = (): void => {
      const [only, ...others] = chunks;
      resolve(only !== undefined && others.length === 0 ? only : Buffer.concat(chunks));
    };
    exchange.read({ chunk: (bytes) => chunks.push(bytes), end, failed: reject }, { maxBytes, steady: true });
  });
}

/** Reads an error response's body, truncated to the limit; '' on failure. Never rejects. */
export function readText(exchange: Exchange): Promise<string> {
  return readBody(exchange, MAX_ERROR_BODY_BYTES).then(
    (body) => body.toString('utf8'),
    () => '',
  );
}

/** Parses the frames of a JSON text: one, or a legacy batch; undefined if it is invalid or nested too deep. */
export function parseFrames(text: string): readonly JsonRpcMessage[] | undefined {
  const value = readJson(text.startsWith('\uFEFF') ? text.slice(1) : text);
  const frames: readonly unknown[] = Array.isArray(value) ? value : [value];
  // The contract requires only an object; its reader validates the members.
  return frames.every(isRecord) ? (frames as readonly unknown[] as readonly JsonRpcMessage[]) : undefined;
}
