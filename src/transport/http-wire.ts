/** The connection pool of one HTTP transport: its sockets, its pending exchanges, and their shutdown. */

import { type ErrorDetail, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { holdProcess } from '../lib/hold-process.ts';
import type { ProxyServer } from '../policy/proxy.ts';
import { Exchange, type HttpRequest } from './http-exchange.ts';
import type { Sockets } from './http-fetch.ts';
import type { HttpLimits } from './http-limits.ts';
import { type Exit, openSockets } from './http-sockets.ts';

export interface WireOptions {
  readonly url: URL;
  readonly clock: Clock;
  readonly limits: HttpLimits;
  /** The proxies and certificates to use; without it, connections are direct. */
  readonly exit?: Exit | undefined;
}

export class Wire {
  readonly url: URL;
  readonly clock: Clock;
  readonly limits: HttpLimits;
  readonly #live = new Set<Exchange>();
  readonly #pauses = new Set<() => void>();
  /** The proxy that forwards single requests: a status 407 is its response, not the server's. */
  forwarder: ProxyServer | undefined;
  #host: string;
  #dispatcher: Sockets | undefined;
  readonly #exit: Exit | undefined;
  #closed = false;

  constructor(options: WireOptions) {
    this.url = options.url;
    this.clock = options.clock;
    this.limits = options.limits;
    this.#exit = options.exit;
    this.#host = options.url.host;
  }

  /** The server's name in messages, with the proxy if there is one. */
  get host(): string {
    return this.#host;
  }

  /** Loads undici and creates the pool; may open the first tunnel of a proxy, and sends nothing else. */
  async open(): Promise<void> {
    const { sockets, proxy, forwards } = await openSockets(this.url, this.limits, this.#exit);
    this.#dispatcher = sockets;
    if (proxy !== undefined) this.#host = `${this.url.host} through the proxy ${proxy.shown}`;
    if (forwards === true) this.forwarder = proxy;
    if (this.#closed) await this.#destroy();
  }

  /** Sends one request; the exchange provides its head and body. */
  start(request: HttpRequest): Exchange {
    const exchange = new Exchange(this, request, (ended) => this.#live.delete(ended));
    if (this.#closed || !this.#dispatcher) exchange.abort(closedError({ notSent: true }));
    if (exchange.over || !this.#dispatcher) return exchange;
    this.#live.add(exchange);
    const { path, method, headers, body = null } = request;
    const target = {
      origin: this.url.origin,
      path,
      method,
      headers,
      body,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    try {
      this.#dispatcher.dispatch(target, exchange);
    } catch (error) {
      exchange.onResponseError(undefined, asError(error));
    }
    return exchange;
  }

  /**
   * Waits until the time is over, the signal is aborted or the wire is closed. `hold` keeps the process alive: during a
   * pause no socket does, and the process must not exit while a call is pending.
   */
  pause(
    ms: number,
    options: { readonly signal?: AbortSignal | undefined; readonly hold?: boolean } = {},
  ): Promise<void> {
    const { signal, hold = false } = options;
    return new Promise((resolve) => {
      const release = hold ? holdProcess() : undefined;
      const end = (): void => {
        release?.();
        cancel();
        signal?.removeEventListener('abort', end);
        this.#pauses.delete(end);
        resolve();
      };
      const cancel = this.clock.after(ms, end);
      this.#pauses.add(end);
      signal?.addEventListener('abort', end);
      if (this.#closed || signal?.aborted) end();
    });
  }

  /** Ends all current exchanges and pauses; new ones may still start. */
  abortAll(): void {
    for (const exchange of [...this.#live]) exchange.abort(closedError());
    for (const end of [...this.#pauses]) end();
  }

  /** Ends every exchange and every socket. */
  async close(): Promise<void> {
    this.#closed = true;
    this.abortAll();
    await this.#destroy();
  }

  async #destroy(): Promise<void> {
    await this.#dispatcher?.destroy().catch(() => {});
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

export function closedError(detail: ErrorDetail = {}): PlugboardError {
  return new PlugboardError('CONNECTION_LOST', 'The connection was closed', { detail });
}
