/** Reads an event stream of the gateway: reconnects with backoff and resumes after the last event. */

import { type Api, ApiError } from './api.ts';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;
/** The gateway sends a heartbeat every 15 seconds; the stream is reopened after this long without data. */
const IDLE_TIMEOUT_MS = 45_000;

export interface EventHandlers {
  /** The stream was opened or closed. */
  connected(isConnected: boolean): void;
  /** The gateway no longer has all events since the last one. */
  missed(): void;
  event(name: string, data: unknown): void;
  /** The token is not accepted: the stream is not opened again. */
  refused(): void;
}

export class EventStream {
  readonly #api: Api;
  readonly #handlers: EventHandlers;
  #lastId: string | undefined;
  #retryMs = FIRST_RETRY_MS;
  #endWait: () => void = () => {};
  readonly #path: string;
  readonly #closed = new AbortController();

  constructor(
    api: Api,
    handlers: EventHandlers,
    { path = '/api/events', after }: { readonly path?: string; readonly after?: string | undefined } = {},
  ) {
    this.#api = api;
    this.#handlers = handlers;
    this.#path = path;
    this.#lastId = after;
  }

  close(): void {
    this.#closed.abort();
    this.#endWait();
  }

  /** Reads until the token is refused or the stream is closed. */
  async follow(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      try {
        await this.#read();
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return this.#handlers.refused();
      }
      if (this.#closed.signal.aborted) return;
      this.#handlers.connected(false);
      await new Promise<void>((resolve) => {
        this.#endWait = resolve;
        setTimeout(resolve, this.#retryMs);
      });
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    }
  }

  /** Reconnects now instead of after the backoff. */
  retryNow(): void {
    this.#retryMs = FIRST_RETRY_MS;
    this.#endWait();
  }

  async #read(): Promise<void> {
    const idle = new AbortController();
    let timer = setTimeout(() => idle.abort(), IDLE_TIMEOUT_MS);
    const { headers } = this.#api;
    if (this.#lastId !== undefined) headers['last-event-id'] = this.#lastId;
    try {
      const response = await fetch(this.#path, {
        headers,
        signal: AbortSignal.any([idle.signal, this.#closed.signal]),
      });
      if (!response.ok || response.body === null) throw new ApiError(response.status, {});
      this.#handlers.connected(true);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let buffered = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => idle.abort(), IDLE_TIMEOUT_MS);
        const parts = (buffered + value).split('\n\n');
        buffered = parts.pop() ?? '';
        for (const part of parts) this.#dispatch(part);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #dispatch(part: string): void {
    const fields: Record<string, string> = {};
    for (const line of part.split('\n')) {
      const colon = line.indexOf(': ');
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
    }
    const { event, data = 'null', id } = fields;
    if (event === undefined) return;
    if (event === 'missed') {
      this.#handlers.missed();
      return;
    }
    this.#handlers.event(event, JSON.parse(data));
    this.#retryMs = FIRST_RETRY_MS;
    if (id !== undefined) this.#lastId = id;
  }
}
