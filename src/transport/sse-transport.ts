/**
 * The HTTP+SSE transport of 2024-11-05: one stream for all server messages, and a POST endpoint that the stream names.
 */

import type { Credentials } from '../auth/credentials.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { Receiver, SendOptions, Transport } from './contract.ts';
import { EventStream, eventFrames, type StreamEvent } from './event-stream.ts';
import { notMcp, opensLegacySse, statusError } from './http-errors.ts';
import { cancelled, type Exchange, readText } from './http-exchange.ts';
import { appendForeign, mediaType } from './http-headers.ts';
import { HTTP_LIMITS } from './http-limits.ts';
import { type Response, readFailed, request } from './http-request.ts';
import type { HttpTransportOptions } from './http-transport.ts';
import { closedError, Wire } from './http-wire.ts';

export interface SseTransportOptions extends HttpTransportOptions {
  /** The entry specifies this transport: a server that rejects it may support streamable HTTP. */
  readonly isConfigured?: boolean;
}

export function createSseTransport(options: SseTransportOptions): Transport {
  return new SseTransport(options);
}

/** Adds a hint with the usual cause to the error. */
function orStreamable({ code, message, server, cause, detail }: PlugboardError): PlugboardError {
  return new PlugboardError(code, message, {
    server,
    cause,
    detail,
    hint: 'Most servers speak streamable HTTP: set "type": "http" in place of "sse", and check the path of the url, often /mcp.',
  });
}

type State = 'new' | 'opening' | 'open' | 'closed';

class SseTransport implements Transport {
  readonly kind = 'sse';
  readonly streamPerRequest = false;
  readonly pid = undefined;
  readonly #wire: Wire;
  readonly #credentials: Credentials | undefined;
  readonly #isConfigured: boolean;
  #state: State = 'new';
  #receiver: Receiver | undefined;
  #closing: Promise<void> | undefined;
  #version: string | undefined;
  /** Path and query of the POST endpoint. */
  #endpoint: string | undefined;

  constructor(options: SseTransportOptions) {
    const limits = { ...HTTP_LIMITS, ...options.limits, maxStreamBytes: Number.POSITIVE_INFINITY };
    const { url, clock, exit } = options;
    this.#wire = new Wire({ url, clock, limits, exit });
    this.#credentials = options.credentials;
    this.#isConfigured = options.isConfigured === true;
  }

  async open(receiver: Receiver, signal?: AbortSignal): Promise<void> {
    if (this.#state !== 'new') throw new PlugboardError('INTERNAL', 'A transport is opened once');
    this.#state = 'opening';
    try {
      await this.#wire.open();
      const exchange = await this.#openStream(signal);
      await this.#endpointOf(exchange, receiver);
    } catch (error) {
      this.#state = 'closed';
      await this.#wire.close();
      const known = asPlugboardError(error);
      throw this.#isConfigured && opensLegacySse(known) ? orStreamable(known) : known;
    }
  }

  negotiated(protocolVersion: string): void {
    this.#version = protocolVersion;
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    if (this.#state !== 'open' || this.#endpoint === undefined) throw closedError({ notSent: true });
    const headers = this.#headers('application/json, text/event-stream');
    headers.push('content-type', 'application/json');
    if (options.headers) appendForeign(headers, options.headers);
    const { signal } = options;
    const response = await request(
      this.#wire,
      {
        method: 'POST',
        path: this.#endpoint,
        headers,
        body: JSON.stringify(message),
        answerMs: this.#wire.limits.headersMs,
        signal,
      },
      this.#credentials,
    );
    if (response.head.status > 299) throw await this.#refused(response, true, signal);
    // The response arrives on the stream; this body is ignored.
    void readText(response.exchange);
  }

  close(): Promise<void> {
    return this.#end(undefined);
  }

  #end(error: PlugboardError | undefined): Promise<void> {
    this.#state = 'closed';
    this.#closing ??= this.#wire.close().then(() => this.#receiver?.closed(error));
    return this.#closing;
  }

  async #openStream(signal: AbortSignal | undefined): Promise<Exchange> {
    const { url, limits } = this.#wire;
    const response = await request(
      this.#wire,
      {
        method: 'GET',
        path: `${url.pathname}${url.search}`,
        headers: this.#headers('text/event-stream'),
        answerMs: limits.headersMs,
        signal,
      },
      this.#credentials,
    );
    const { head, exchange } = response;
    if (head.status > 299) throw await this.#refused(response, false, signal);
    const type = mediaType(head.headers);
    if (type === 'text/event-stream') return exchange;
    const error = notMcp(url.host, `it answered with ${type || 'no type'}`, head.status);
    exchange.abort(error);
    throw error;
  }

  /** Reads the stream to its end; resolves when its first event has named the POST endpoint. */
  #endpointOf(exchange: Exchange, receiver: Receiver): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: PlugboardError): void => {
        exchange.abort(error);
        reject(error);
      };
      const cancelDeadline = this.#wire.clock.after(this.#wire.limits.headersMs, () =>
        fail(noEndpoint(this.#wire.url)),
      );
      const onEvent = (event: StreamEvent): void => {
        if (event.type !== 'endpoint') {
          for (const frame of eventFrames(event, receiver)) receiver.message(frame);
          return;
        }
        if (this.#state !== 'opening') return;
        const endpoint = resolveEndpoint(event.data, this.#wire.url);
        if (endpoint instanceof PlugboardError) {
          fail(endpoint);
          return;
        }
        cancelDeadline();
        // From here on the stream stays open until it is closed, regardless of the opener's signal.
        exchange.keep();
        this.#endpoint = endpoint;
        this.#receiver = receiver;
        this.#state = 'open';
        resolve();
      };
      void new EventStream(this.#wire.limits, onEvent).read(exchange).then((broken) => {
        cancelDeadline();
        if (this.#state === 'open') void this.#end(broken ?? streamEnded(this.#wire.url));
        else reject(broken ?? noEndpoint(this.#wire.url));
      });
    });
  }

  async #refused(
    response: Response,
    session: boolean,
    signal: AbortSignal | undefined,
  ): Promise<PlugboardError> {
    const failed = await readFailed(response);
    if (signal?.aborted) return cancelled(signal);
    const { url, clock } = this.#wire;
    return statusError(failed, { host: url.host, session, sessionWorked: false, now: clock.now() });
  }

  #headers(accept: string): string[] {
    const headers = ['user-agent', 'plugboard', 'accept-encoding', 'identity', 'accept', accept];
    if (this.#version !== undefined) headers.push('mcp-protocol-version', this.#version);
    return headers;
  }
}

/** Messages carry our credentials, so they are sent only to the origin of the stream. */
function resolveEndpoint(data: string, url: URL): string | PlugboardError {
  if (!URL.canParse(data, url.href)) return noEndpoint(url);
  const target = new URL(data, url);
  if (target.origin === url.origin) return `${target.pathname}${target.search}`;
  return new PlugboardError(
    'EGRESS_REFUSED',
    `${url.host} asks for messages to be sent to another origin, ${target.origin}`,
    {
      hint: `If you trust it, set the url of this server to one at ${target.origin}.`,
      detail: { permanent: true },
    },
  );
}

function noEndpoint(url: URL): PlugboardError {
  return notMcp(url.host, 'its stream names no address for messages', 200);
}

function streamEnded(url: URL): PlugboardError {
  return new PlugboardError('CONNECTION_LOST', `${url.host} ended the connection`, {
    hint: 'The server may have been restarted; reconnect.',
  });
}
