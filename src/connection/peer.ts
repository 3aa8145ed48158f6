/**
 * One JSON-RPC session with one server over one transport: request ids, responses, timeouts, cancellation.
 *
 * This is the hot path of every call. It checks only the envelope; the caller checks the result. It has the same
 * lifetime as its transport.
 */

import { TRANSPORTS } from '../config/transport-kinds.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Cancellable, Cancellation } from '../lib/cancellation.ts';
import { type Clock, ticksOf } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import {
  isRequestId,
  type JsonRpcMessage,
  type RequestId,
  RPC_INTERNAL_ERROR,
  RPC_METHOD_NOT_FOUND,
} from '../lib/json-rpc.ts';
import { NumberMap } from '../lib/number-map.ts';
import { type Notice, type Receiver, SENT, type SendOptions, type Transport } from '../transport/contract.ts';
import { type Deadline, Deadlines } from './deadlines.ts';
import { type HandedOn, MergedCapabilities, metaFor } from './handed-on.ts';
import { readProgress, rpcError, serverMessage, unknownResultType } from './rpc-error.ts';

/** Server requests that may be pending at the same time; further ones are rejected. */
const MAX_SERVER_REQUESTS = 64;
/** For a method name in a message. */
const MAX_METHOD_CHARS = 80;

/** Progress of a call, as the server reports it. */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
  /** As the server sent it. */
  readonly _meta?: Params;
}

export interface RequestOptions extends Cancellable {
  /** Longest time without a response; progress restarts it. */
  readonly idleMs?: number | undefined;
  /** Longest time in total, regardless of progress. */
  readonly totalMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Progress may follow the response until this is aborted: the response is a task that is still running. */
  readonly progressUntil?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The work that the request is part of; questions in its response belong to this work. */
  readonly owner?: object | undefined;
  /** Cancels all requests that share it, without a listener per request: the end of their session. */
  readonly until?: Cancellation | undefined;
  /** The parts of the client's request that are forwarded. */
  readonly handedOn?: HandedOn | undefined;
  /** Called with the request id before the request is sent. */
  readonly onSent?: ((id: number) => void) | undefined;
}

const ALONE: SendOptions = { isAlone: true };

export type Params = Readonly<Record<string, unknown>>;

/** Receives the messages that a server sends without a request. */
export interface PeerOwner {
  /** Answers a request of the server; rejects with a PlugboardError whose `detail.rpcCode` is sent back. */
  request(method: string, params: Params, signal: AbortSignal): Promise<unknown>;
  notification(method: string, params: Params): void;
  closed(error?: PlugboardError): void;
  notice(notice: Notice): void;
}

interface Pending extends Deadline {
  readonly id: number;
  readonly method: string;
  readonly options: RequestOptions;
  readonly startedAt: number;
  /** Extended while a person is asked: that time is not charged to the server. */
  totalAt: number;
  /** Only over HTTP does a request have its own socket to abort; a controller per request has a cost. */
  readonly stream: AbortController | undefined;
  /** Cancels the request; undefined if it has no signal or cancellation. */
  readonly stop: (() => void) | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: PlugboardError) => void;
}

export class Peer implements Receiver {
  readonly #transport: Transport;
  readonly #owner: PeerOwner;
  readonly #clock: Clock;
  readonly #deadlines: Deadlines<Pending>;
  readonly #pending = new NumberMap<Pending>();
  readonly #serving = new Map<RequestId, AbortController>();
  /** Answered requests whose progress continues. */
  readonly #goingOn = new Map<number, (progress: Progress) => void>();
  readonly #onIdle: (() => void)[] = [];
  /** Cancellations that are shared by many requests, with their listeners. */
  readonly #watched = new Map<Cancellation, () => void>();
  #lastWatched: Cancellation | undefined;
  #over: AbortController | undefined;
  #nextId = 1;
  #closedBy: PlugboardError | undefined;
  #closed = false;
  /** The server sent a request in the modern era, and this was reported. */
  #forbidden = false;
  #paused = 0;
  #pausedAt = 0;
  /** The `_meta` that modern servers require in every request; undefined in the legacy era. */
  #envelope: Params | undefined;
  /** The same as JSON, without its braces. */
  #envelopeText = '';
  readonly #merged = new MergedCapabilities();

  constructor(transport: Transport, owner: PeerOwner, clock: Clock) {
    this.#transport = transport;
    this.#owner = owner;
    this.#clock = clock;
    this.#deadlines = new Deadlines(
      clock,
      () => this.#pending.values(),
      (pending) => this.#expire(pending),
    );
  }

  get transport(): Transport {
    return this.#transport;
  }

  /** Ticks of this session's clock, for durations. */
  now(): number {
    return ticksOf(this.#clock);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Aborted with the reason when the session ends; created on first use. */
  get over(): AbortSignal {
    if (this.#over === undefined) {
      this.#over = new AbortController();
      if (this.#closed) this.#over.abort(this.#gone());
    }
    return this.#over.signal;
  }

  open(signal?: AbortSignal): Promise<void> {
    return this.#transport.open(this, signal);
  }

  /** Switches to the modern era: every message carries this envelope in its `_meta`. */
  useEnvelope(envelope: Params | undefined): void {
    this.#envelope = envelope;
    this.#envelopeText = envelope === undefined ? '' : JSON.stringify(envelope).slice(1, -1);
  }

  request(method: string, params: Params | undefined, options: RequestOptions = {}): Promise<unknown> {
    const { signal, cancellation, until } = options;
    if (this.#closed) return Promise.reject(this.#gone());
    if (signal?.aborted) return Promise.reject(cancelled(method, signal));
    if (cancellation?.reason !== undefined) return Promise.reject(cancellation.reason);
    if (until?.isCancelled === true) return Promise.reject(until.reason);
    if (until !== undefined && until !== this.#lastWatched) this.#watch(until);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const now = ticksOf(this.#clock);
      const totalAt = now + (options.totalMs ?? Number.POSITIVE_INFINITY);
      const stoppable = signal !== undefined || cancellation !== undefined;
      const pending: Pending = {
        id,
        method,
        options,
        startedAt: now,
        totalAt,
        at: Math.min(now + (options.idleMs ?? Number.POSITIVE_INFINITY), totalAt),
        stream: isRemote(this.#transport) ? new AbortController() : undefined,
        stop: stoppable ? () => this.#giveUp(pending, takenBack(pending)) : undefined,
        resolve,
        reject,
      };
      this.#pending.set(id, pending);
      if (this.#paused === 0) this.#deadlines.add(pending);
      if (pending.stop !== undefined) {
        signal?.addEventListener('abort', pending.stop, { once: true });
        cancellation?.onCancel(pending.stop);
      }
      options.onSent?.(id);
      this.#send(pending, params);
    });
  }

  notify(method: string, params?: Params): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const decorated =
      params === undefined && this.#envelope === undefined ? undefined : this.#decorate(params);
    return this.#transport.send({
      jsonrpc: '2.0',
      method,
      ...(decorated === undefined ? {} : { params: decorated }),
    });
  }

  /** Pauses the timeouts of all pending requests while a person is asked; returns a function that resumes them. */
  pauseClocks(): () => void {
    if (this.#paused++ === 0) {
      this.#pausedAt = ticksOf(this.#clock);
      this.#deadlines.pause();
    }
    let resumed = false;
    return () => {
      if (resumed) return;
      resumed = true;
      if (--this.#paused > 0) return;
      const now = ticksOf(this.#clock);
      for (const pending of this.#pending.values()) {
        const stood = now - Math.max(this.#pausedAt, pending.startedAt);
        pending.totalAt += stood;
        pending.at = Math.min(pending.at + stood, pending.totalAt);
      }
      this.#deadlines.resume();
    };
  }

  /** Resolves when no request is pending. */
  async idle(): Promise<void> {
    if (this.#pending.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  // Receiver: called by the transport.

  message(message: JsonRpcMessage): void {
    const frame = message as unknown as Record<string, unknown>;
    if (typeof frame['method'] === 'string') {
      const params = isRecord(frame['params']) ? frame['params'] : {};
      const id = frame['id'];
      if (isRequestId(id)) this.#requested(id, frame['method'], params);
      else this.#notified(frame['method'], params);
      return;
    }
    const pending = this.#pending.get(asOurId(frame['id']));
    // Unknown, late and duplicate responses, and the responses to notifications that some old servers send.
    if (pending === undefined) return;
    const { error, result } = frame;
    if (error !== undefined && error !== null) this.#fail(pending, rpcError(pending.method, error));
    else if (isRecord(result)) {
      const unreadable = this.#envelope && unknownResultType(pending.method, result);
      this.#forget(pending);
      if (unreadable === undefined) {
        this.#keepProgress(pending);
        pending.resolve(result);
      } else pending.reject(unreadable);
    } else {
      const what = 'result' in frame ? 'a result that is not an object' : 'neither a result nor an error';
      const message = `the answer to ${pending.method} holds ${what}`;
      this.#fail(pending, new PlugboardError('PROTOCOL_ERROR', message));
    }
  }

  lost(id: RequestId | undefined, error: PlugboardError): void {
    const known = id === undefined ? undefined : this.#pending.get(asOurId(id));
    if (known !== undefined) this.#fail(known, error);
    // The id of the lost response is unknown, so every pending request fails.
    else if (id === undefined) for (const pending of this.#pending.values()) this.#fail(pending, error);
  }

  closed(error?: PlugboardError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#closedBy = error;
    for (const pending of this.#pending.values()) this.#fail(pending, this.#gone());
    for (const controller of this.#serving.values()) controller.abort();
    for (const [until, takeBack] of this.#watched) until.offCancel(takeBack);
    this.#watched.clear();
    this.#over?.abort(this.#gone());
    this.#deadlines.pause();
    this.#owner.closed(error);
  }

  notice(notice: Notice): void {
    this.#owner.notice(notice);
  }

  // Internals.

  #send({ id, method, options, stream }: Pending, params: Params | undefined): void {
    const { headers, onProgress, handedOn } = options;
    const progressToken = onProgress === undefined ? undefined : id;
    const plain = this.#pending.size === 1 ? ALONE : undefined;
    const sendOptions: SendOptions | undefined =
      stream === undefined && headers === undefined ? plain : { signal: stream?.signal, headers };
    const text =
      this.#transport.sendText === undefined || handedOn !== undefined
        ? undefined
        : this.#textOf(id, method, params, progressToken);
    const sent =
      text === undefined || this.#transport.sendText === undefined
        ? this.#transport.send(
            { jsonrpc: '2.0', id, method, params: this.#decorate(params, progressToken, handedOn) },
            sendOptions,
          )
        : this.#transport.sendText(text, sendOptions);
    if (sent === SENT) return;
    sent.catch((error: unknown) => {
      const pending = this.#pending.get(id);
      if (pending !== undefined) this.#fail(pending, asPlugboardError(error, 'CONNECTION_LOST'));
    });
  }

  /**
   * Writes a request whose `_meta` is only ours: with text that is prepared for each connection, in half the time of
   * building and serializing objects. Undefined if `_meta` has to be merged.
   */
  #textOf(
    id: number,
    method: string,
    params: Params | undefined,
    progressToken: number | undefined,
  ): string | undefined {
    if (params === undefined || params['_meta'] !== undefined) return undefined;
    const rest = JSON.stringify(params);
    const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":`;
    const token = progressToken === undefined ? '' : `"progressToken":${progressToken}`;
    const meta =
      this.#envelopeText === '' || token === ''
        ? this.#envelopeText + token
        : `${this.#envelopeText},${token}`;
    if (meta === '') return `${head}${rest}}`;
    return rest === '{}' ? `${head}{"_meta":{${meta}}}}` : `${head}{"_meta":{${meta}},${rest.slice(1)}}`;
  }

  #decorate(params: Params | undefined, progressToken?: number, handedOn?: HandedOn): Params {
    const envelope = this.#envelope;
    const own = params?.['_meta'];
    if (handedOn !== undefined) {
      const meta = metaFor(envelope, handedOn, own, this.#merged);
      if (progressToken !== undefined) meta['progressToken'] = progressToken;
      const decorated = { ...handedOn.params, ...params };
      return Object.keys(meta).length === 0 ? decorated : Object.assign(decorated, { _meta: meta });
    }
    if (envelope === undefined && progressToken === undefined) return params ?? {};
    // The most frequent case: a call to a legacy server.
    // (V8 needs a microsecond for each key that is added to a spread copy.)
    if (envelope === undefined && own === undefined)
      return Object.assign({ _meta: { progressToken } }, params);
    const meta: Record<string, unknown> = { ...envelope, ...(isRecord(own) ? own : undefined) };
    if (progressToken !== undefined) meta['progressToken'] = progressToken;
    return { ...params, _meta: meta };
  }

  #fail(pending: Pending, error: PlugboardError): void {
    this.#forget(pending);
    pending.reject(error);
  }

  #forget(pending: Pending): void {
    const { signal, cancellation } = pending.options;
    this.#pending.delete(pending.id);
    if (this.#pending.size === 0 && this.#onIdle.length > 0)
      for (const wake of this.#onIdle.splice(0)) wake();
    if (pending.stop === undefined) return;
    signal?.removeEventListener('abort', pending.stop);
    cancellation?.offCancel(pending.stop);
  }

  #keepProgress({ id, options: { progressUntil, onProgress } }: Pending): void {
    if (progressUntil === undefined || progressUntil.aborted || onProgress === undefined) return;
    this.#goingOn.set(id, onProgress);
    progressUntil.addEventListener('abort', () => this.#goingOn.delete(id), { once: true });
  }

  #gone(): PlugboardError {
    const by = this.#closedBy;
    if (by === undefined) return new PlugboardError('CONNECTION_LOST', 'The connection was closed');
    return new PlugboardError(by.code, by.message, { hint: by.hint, cause: by, detail: by.detail });
  }

  #expire(pending: Pending): void {
    const { method, options, totalAt } = pending;
    const isTotal = ticksOf(this.#clock) >= totalAt;
    const seconds = ((isTotal ? options.totalMs : options.idleMs) ?? 0) / 1000;
    const what = isTotal
      ? 'not finished after'
      : `no response${options.onProgress ? ' or progress' : ''} for`;
    this.#giveUp(pending, new PlugboardError('TIMEOUT', `${method} timed out: ${what} ${seconds} s`));
  }

  /** Adds one listener for all requests of a session. */
  #watch(until: Cancellation): void {
    this.#lastWatched = until;
    if (this.#watched.has(until)) return;
    const takeBack = (): void => {
      this.#watched.delete(until);
      for (const pending of this.#pending.values()) {
        if (pending.options.until !== until) continue;
        const { reason } = until;
        if (reason !== undefined) this.#giveUp(pending, reason);
      }
    };
    this.#watched.set(until, takeBack);
    until.onCancel(takeBack);
  }

  /** Stops waiting, and cancels the request on the server as its era defines. */
  #giveUp(pending: Pending, error: PlugboardError): void {
    const { id, method, stream } = pending;
    if (!this.#pending.has(id)) return;
    this.#fail(pending, error);
    const byStream = this.#transport.streamPerRequest;
    // `initialize` must not be cancelled; for a modern HTTP server, closing the stream is the cancellation.
    if (!byStream && method !== 'initialize' && !this.#closed) {
      this.notify('notifications/cancelled', { requestId: id, reason: error.message }).catch(() => {});
    }
    stream?.abort(error);
  }

  #notified(method: string, params: Params): void {
    if (method === 'notifications/progress') {
      const token = asOurId(params['progressToken']);
      const pending = this.#pending.get(token);
      const { progress } = params;
      const onProgress = pending?.options.onProgress ?? this.#goingOn.get(token);
      if (typeof progress !== 'number') return;
      // A later deadline needs no new timer: the sweep reads the current value.
      const { idleMs = Number.POSITIVE_INFINITY } = pending?.options ?? {};
      if (pending !== undefined) pending.at = Math.min(ticksOf(this.#clock) + idleMs, pending.totalAt);
      try {
        onProgress?.(readProgress(progress, params));
      } catch (error) {
        // A callback of the caller must not stop reading from the transport.
        this.notice({ level: 'warning', message: `a progress callback threw: ${String(error)}` });
      }
      return;
    }
    if (method === 'notifications/cancelled') {
      const id = params['requestId'];
      if (isRequestId(id)) this.#serving.get(id)?.abort();
      this.#endStream(asOurId(id), params['reason']);
    }
    this.#owner.notification(method, params);
  }

  /** A server may cancel only one kind of our requests: a subscription stream. */
  #endStream(id: number, reason: unknown): void {
    const pending = this.#pending.get(id);
    if (pending?.method !== 'subscriptions/listen') return;
    const why = typeof reason === 'string' ? `: ${serverMessage(reason)}` : '';
    this.#fail(pending, new PlugboardError('CONNECTION_LOST', `The server ended the subscription${why}`));
    pending.stream?.abort();
  }

  /** A modern server asks in its results; requests that it sends are not answered. */
  #requested(id: RequestId, method: string, params: Params): void {
    if (this.#envelope === undefined) void this.#serve(id, method, params);
    else if (!this.#forbidden) {
      this.#forbidden = true;
      const what = JSON.stringify(serverMessage(method).slice(0, MAX_METHOD_CHARS));
      const message = `it sent the request ${what}, which this protocol version forbids; such requests are ignored`;
      this.notice({ level: 'warning', message });
    }
  }

  async #serve(id: RequestId, method: string, params: Params): Promise<void> {
    let answer: JsonRpcMessage;
    if (this.#serving.size >= MAX_SERVER_REQUESTS) {
      const message = `more than ${MAX_SERVER_REQUESTS} requests of this server are waiting`;
      answer = { jsonrpc: '2.0', id, error: { code: RPC_INTERNAL_ERROR, message } };
    } else {
      const controller = new AbortController();
      this.#serving.set(id, controller);
      try {
        const result = method === 'ping' ? {} : await this.#owner.request(method, params, controller.signal);
        answer = { jsonrpc: '2.0', id, result };
      } catch (thrown) {
        const error = asPlugboardError(thrown);
        const code = error.detail.rpcCode ?? RPC_INTERNAL_ERROR;
        answer = { jsonrpc: '2.0', id, error: { code, message: error.message } };
      } finally {
        this.#serving.delete(id);
      }
      // A request that the server has cancelled gets no response.
      if (controller.signal.aborted) return;
    }
    if (!this.#closed) this.#transport.send(answer).catch(() => {});
  }
}

/** The error sent to a server for a method that this client does not support. */
export function methodNotFound(method: string): PlugboardError {
  return new PlugboardError('PROTOCOL_ERROR', `This client does not serve ${method}`, {
    detail: { rpcCode: RPC_METHOD_NOT_FOUND },
  });
}

export function isRemote({ kind }: Transport): boolean {
  return TRANSPORTS[kind].isRemote === true;
}

/** Our ids are numbers; some servers send them back as strings. */
function asOurId(id: unknown): number {
  if (typeof id === 'number') return id;
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : -1;
}

function takenBack({ method, options: { signal, cancellation } }: Pending): PlugboardError {
  return cancellation?.reason ?? cancelled(method, signal);
}

function cancelled(method: string, signal: AbortSignal | undefined): PlugboardError {
  const reason: unknown = signal?.reason;
  if (reason instanceof PlugboardError) return reason;
  return new PlugboardError('CANCELLED', `${method} was cancelled`, { cause: reason });
}
