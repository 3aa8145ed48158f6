/** An MCP response as a `Response` of the Fetch standard, for runtimes whose servers are functions from request to response. */

import type { IncomingHttpHeaders } from 'node:http';
import type { McpResponse } from './replicas.ts';
import { type Body, MAX_BODY_BYTES, parsedBody } from './request-body.ts';

/** Without a body by definition. */
const EMPTY_STATUSES: ReadonlySet<number> = new Set([101, 204, 205, 304]);

export class FetchResponse implements McpResponse {
  /** Resolves when the status and the headers are known; a stream continues after that. */
  readonly response: Promise<Response>;
  readonly #headers = new Headers();
  readonly #encoder = new TextEncoder();
  readonly #onClose: (() => void)[] = [];
  #send: (response: Response) => void = () => {};
  #status = 200;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isSent = false;
  #isOver = false;

  /** `signal`: that of the request, which is aborted when the client disconnects. */
  constructor(signal: AbortSignal) {
    this.response = new Promise((resolve) => {
      this.#send = resolve;
    });
    signal.addEventListener('abort', () => this.#disconnected(), { once: true });
  }

  /** Bytes that the client has not read yet. */
  get writableLength(): number {
    return Math.max(0, -(this.#stream?.desiredSize ?? 0));
  }

  setHeader(name: string, value: string): void {
    // The runtime owns its connections.
    if (name !== 'connection') this.#headers.set(name, value);
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>> = {}): this {
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, String(value));
    return this;
  }

  flushHeaders(): void {
    if (this.#isSent) return;
    this.#isSent = true;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#stream = controller;
        },
        cancel: () => this.#disconnected(),
      },
      { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    this.#send(new Response(body, { status: this.#status, headers: this.#headers }));
  }

  write(text: string): void {
    this.flushHeaders();
    if (!this.#isOver) this.#stream?.enqueue(this.#encoder.encode(text));
  }

  end(text?: string): void {
    if (this.#isOver) return;
    if (this.#isSent) {
      if (text !== undefined) this.write(text);
      this.#stream?.close();
    } else {
      this.#isSent = true;
      const body = EMPTY_STATUSES.has(this.#status) ? null : (text ?? null);
      this.#send(new Response(body, { status: this.#status, headers: this.#headers }));
    }
    this.#closed();
  }

  destroy(): void {
    if (this.#isOver) return;
    if (this.#isSent) this.#stream?.error(new Error('The connection was closed'));
    else this.#send(new Response(null, { status: 500 }));
    this.#isSent = true;
    this.#closed();
  }

  on(_event: 'close', listener: () => void): this {
    if (this.#isOver) listener();
    else this.#onClose.push(listener);
    return this;
  }

  #disconnected(): void {
    if (this.#isOver) return;
    if (!this.#isSent) this.#send(new Response(null, { status: 499 }));
    this.#isSent = true;
    this.#closed();
  }

  #closed(): void {
    this.#isOver = true;
    for (const listener of this.#onClose.splice(0)) listener();
  }
}

/** Returns the headers of a request in Node's form; its address is in those that HTTP/2 has for it. */
export function headersOf(request: Request): IncomingHttpHeaders {
  const { protocol, host } = new URL(request.url);
  return { host, ...Object.fromEntries(request.headers), ':scheme': protocol.slice(0, -1) };
}

/** Reads and parses a body within a size limit. */
export async function readFetchBody(request: Request, limit: number = MAX_BODY_BYTES): Promise<Body> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return { status: 413 };
  if (request.body === null) return { status: 400 };
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parsedBody(Buffer.concat(chunks));
    bytes += value.byteLength;
    if (bytes > limit) {
      await reader.cancel().catch(() => {});
      return { status: 413 };
    }
    chunks.push(value);
  }
}
