/** One POST and its response: JSON if there is nothing to send before it, an event stream otherwise. */

import type { IncomingHttpHeaders } from 'node:http';
import { PlugboardError } from '../errors.ts';
import { parseJson } from '../lib/json.ts';
import { type JsonRpcFailure, type JsonRpcMessage, messageText, type RequestId } from '../lib/json-rpc.ts';
import type { ListEntry } from '../lib/linked-list.ts';
import type { Caller } from './guard.ts';
import type { McpRequest, McpResponse } from './replicas.ts';
import type { Exchange } from './work.ts';

/** A client with more unread bytes than this is disconnected. */
const MAX_UNREAD_BYTES: number = 16 * 1024 * 1024;
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

export interface HttpExchangeOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The request whose events have ids, so that its client can resume. */
  readonly resumable?: RequestId | undefined;
  /** Called for a dropped connection that does not end the work: legacy clients cancel by a notification. */
  readonly onDropped?: ((exchange: HttpExchange) => void) | undefined;
}

/** The request that an exchange answers. */
interface HttpExchangeSource {
  readonly request: McpRequest;
  readonly response: McpResponse;
  readonly principal: string;
  readonly caller: Caller | undefined;
}

const NO_OPTIONS: HttpExchangeOptions = {};

export class HttpExchange implements Exchange {
  readonly principal: string;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller | undefined;
  readonly #response: McpResponse;
  readonly #takesStream: boolean;
  readonly #options: HttpExchangeOptions;
  /** Created for the first event: most requests are answered without one. */
  #eventIds: EventIds | undefined;
  #streaming = false;
  #ended = false;
  /** Number of the server's sweeps since the last write. */
  quietSweeps = 0;
  onGone: ((reason: PlugboardError) => void) | undefined;
  /** The id of its request, or those of its batch; undefined for a stream that answers none. */
  requests: RequestId | readonly RequestId[] | undefined;
  /** Its entry in the endpoint's list of open exchanges. */
  entry: ListEntry<HttpExchange> | undefined;

  constructor(
    { response, request, principal, caller }: HttpExchangeSource,
    takesStream: boolean,
    options: HttpExchangeOptions = NO_OPTIONS,
  ) {
    this.principal = principal;
    this.headers = request.headers;
    this.caller = caller;
    this.#response = response;
    this.#takesStream = takesStream;
    this.#options = options;
    response.on('close', () => {
      if (!this.#ended) this.#closedEarly();
    });
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** True if it has no running work: work that outlives its connection can still be ended by `destroy()`. */
  get isOver(): boolean {
    return this.#ended && (this.#options.onDropped === undefined || this.onGone === undefined);
  }

  send(message: JsonRpcMessage): boolean {
    return this.write(eventOf(message, this.#nextEventId()));
  }

  /** Writes an already serialized event. */
  write(event: string): boolean {
    if (!this.openStream()) return false;
    this.quietSweeps = 0;
    // A single message may be larger: only the backlog behind it is limited.
    if (this.#response.writableLength > MAX_UNREAD_BYTES) this.#response.destroy();
    else this.#response.write(event);
    return true;
  }

  /** Sends a comment: clients and proxies close silent connections. */
  keepAlive(): void {
    this.write(': still here\n\n');
  }

  /** Sends the headers now: a stream may stay silent for long, and its client waits for them. */
  openStream(): boolean {
    if (this.#ended || !this.#takesStream) return false;
    if (!this.#streaming) {
      this.#streaming = true;
      this.#response.writeHead(200, { ...STREAM_HEADERS, ...this.#options.headers });
      this.#response.flushHeaders();
    }
    return true;
  }

  /** Sends the response, if any, and ends the stream. */
  finish(status: number, answer: JsonRpcMessage | readonly JsonRpcMessage[] | undefined): void {
    if (this.#ended) return;
    if (this.#streaming) {
      for (const message of [answer ?? []].flat()) this.send(message as JsonRpcMessage);
      this.#ended = true;
      this.#response.end();
      return;
    }
    this.#ended = true;
    const { headers } = this.#options;
    if (answer === undefined) this.#response.writeHead(202, headers).end();
    else endWith(this.#response, status, textOf(answer), headers);
  }

  /** Closes the connection and ends its work, also if the client has already dropped it. */
  destroy(): void {
    this.#gone();
    // After its end, the connection may carry another request.
    if (!this.#ended) this.#response.destroy();
  }

  /** Answers its requests with an error and ends their work, also if the client has already dropped the connection. */
  dismiss(error: JsonRpcFailure['error'], reason: PlugboardError): void {
    const { requests } = this;
    const answerTo = (id: RequestId): JsonRpcMessage => ({ jsonrpc: '2.0', id, error });
    if (requests === undefined) this.end();
    else this.finish(200, typeof requests === 'object' ? requests.map(answerTo) : answerTo(requests));
    this.#gone(reason);
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#response.end();
  }

  #closedEarly(): void {
    this.#ended = true;
    const { onDropped } = this.#options;
    if (onDropped === undefined) this.#gone();
    else onDropped(this);
  }

  #nextEventId(): string | undefined {
    const { resumable } = this.#options;
    if (resumable === undefined) return undefined;
    this.#eventIds ??= callEventIds(resumable);
    return this.#eventIds?.next();
  }

  #gone(reason: PlugboardError = new PlugboardError('CANCELLED', 'The client disconnected')): void {
    this.onGone?.(reason);
  }
}

/** Numbers the events of one stream. */
interface EventIds {
  next(): string;
}

/** Serializes a message as an event of a stream; with an id, a client can resume after it. */
export function eventOf(message: JsonRpcMessage, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${messageText(message)}\n\n`;
}

/** Several responses form a batch. */
function textOf(answer: JsonRpcMessage | readonly JsonRpcMessage[]): string {
  // TypeScript's isArray does not narrow readonly arrays.
  return Array.isArray(answer)
    ? `[${answer.map(messageText).join(',')}]`
    : messageText(answer as JsonRpcMessage);
}

export function endWith(
  response: McpResponse,
  status: number,
  text: string,
  headers?: Readonly<Record<string, string>>,
): void {
  const own = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, headers === undefined ? own : { ...own, ...headers });
  response.end(text);
}

// Ids for the events on the stream of one request, so that a client whose connection broke can resume with the last.
// The request ended with its connection or with its process; the id identifies it, and it is answered with an error.

const PREFIX = 'call';
const EVENT_ID = /^call\.([\w-]{1,256})\.\d+$/;
/** Longer request ids are not included in events. */
const MAX_ID_BYTES = 128;

/** Returns undefined for a request whose id is too long. */
function callEventIds(id: RequestId): EventIds | undefined {
  if (typeof id === 'string' && Buffer.byteLength(JSON.stringify(id)) > MAX_ID_BYTES) return undefined;
  const name = Buffer.from(JSON.stringify(id)).toString('base64url');
  let last = 0;
  return {
    next: () => {
      last += 1;
      return `${PREFIX}.${name}.${last}`;
    },
  };
}

/** Returns the request that an event belongs to; undefined if it does not belong to one. */
export function callOfEvent(lastEventId: string | undefined): RequestId | undefined {
  const name = EVENT_ID.exec(lastEventId ?? '')?.[1];
  const id = parseJson(Buffer.from(name ?? '', 'base64url').toString('utf8'));
  return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id)) ? id : undefined;
}
