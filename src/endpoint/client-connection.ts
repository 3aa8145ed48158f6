/**
 * One client of an endpoint, on any transport: the mirror of `connection/peer.ts`.
 *
 * It lives as long as a stdio connection or a legacy session; a stateless client has one for each request.
 */

import { type Era, type Implementation, MODERN_VERSION } from '../connection/eras.ts';
import { isAtLeast, isLogLevel, type LogLevel } from '../connection/log-levels.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import {
  isRequestId,
  type JsonRpcMessage,
  type RequestId,
  RPC_INTERNAL_ERROR,
  RPC_INVALID_REQUEST,
} from '../lib/json-rpc.ts';
import type { Backend, ClientHandler, ListKind, RecordedMemory } from './backend.ts';
import {
  type ClientInfo,
  DEFAULT_LEVEL,
  decorate,
  FIRST_MODE_VERSION,
  legacyClientInfo,
  modernClientInfo,
  NAMELESS,
  type Params,
  unknownLevel,
} from './client-era.ts';
import { printOf, Rounds } from './client-rounds.ts';
import { type Method, rowOf, SHARED_METHODS, type WorkMethod } from './methods.ts';
import { Outbound } from './outbound.ts';
import { toolOf } from './requests.ts';
import { invalidParams, RpcFailure, unknownMethod } from './rpc-failure.ts';
import { RunningRequests } from './running.ts';
import { Subscriptions } from './subscriptions.ts';
import { type Ask, type Exchange, Work } from './work.ts';

/** How long a question outside of any request waits for a client that has not sent `notifications/initialized`. */
const INITIALIZED_MS = 5_000;

export interface ClientConnectionOptions {
  /** The authenticated identity of the client; data of one principal is never shown to another. */
  readonly principal: string;
  /** True if the client has no session: this front is for one request. */
  readonly stateless: boolean;
  /** Sends a message that belongs to no request; false if no stream is open. */
  readonly broadcast: (message: JsonRpcMessage) => boolean;
  /** Awaited before the first request is answered; if it rejects, so is the request. Undefined: nothing to wait for. */
  readonly ready?: (() => Promise<void> | undefined) | undefined;
  /** Called after a legacy client initialized, set its log level, subscribed or unsubscribed. */
  readonly clientChanged?: (() => void) | undefined;
}

/** State of a legacy client since `initialize`, from which another process can continue its session. */
export interface InitializedClient {
  readonly protocolVersion: string;
  readonly capabilities: Params;
  /** As the client sent it. */
  readonly clientInfo: unknown;
  readonly logLevel: LogLevel;
  /** URIs of resources. */
  readonly subscriptions: readonly string[];
  /** Undefined: nothing. */
  readonly memory?: RecordedMemory | undefined;
}

/** A row, and the client that its handler is called with: the backend's or the front itself. */
interface Called<Row = Method<unknown>> {
  readonly row: Row;
  readonly client: unknown;
}

interface WorkRequest extends Called<WorkMethod<unknown>> {
  readonly method: string;
  readonly params: Params;
}

export class ClientConnection {
  readonly #backend: Backend;
  readonly #clientHandler: ClientHandler;
  readonly #options: ClientConnectionOptions;
  readonly #running = new RunningRequests();
  readonly #outbound: Outbound;
  /** Created for the first subscription: a client without a session has one front for each request. */
  #subscriptions: Subscriptions | undefined;
  #notifiedLists: Set<ListKind> | undefined;
  #legacy: ClientInfo | undefined;
  /** That of the last request. */
  #last: ClientInfo | undefined;
  #clientInfo: unknown;
  #isReady = false;
  readonly #onReady: (() => void)[] = [];
  #isAdmitted: boolean;
  /** The size of the memory in the record. */
  #recordedSize = 0;

  constructor(backend: Backend, options: ClientConnectionOptions) {
    this.#backend = backend;
    this.#options = options;
    this.#outbound = new Outbound(options.broadcast);
    this.#clientHandler = backend.handlerFor(this);
    this.#isAdmitted = options.ready === undefined;
  }

  get principal(): string {
    return this.#options.principal;
  }

  get isStateless(): boolean {
    return this.#options.stateless;
  }

  get isBusy(): boolean {
    return this.#running.size > 0 || this.#subscriptions?.isListening === true;
  }

  /** Open change streams, each a request without a response yet. */
  get streams(): number {
    return this.#subscriptions?.streams ?? 0;
  }

  get version(): string | undefined {
    return this.#legacy?.version;
  }

  /** The program of the client, as it identified itself in `initialize` or in its last request. */
  get agent(): Implementation | undefined {
    return this.#legacy?.client ?? this.#last?.client;
  }

  /** The state of a legacy client; undefined before `initialize`. */
  get initializedClient(): InitializedClient | undefined {
    if (this.#legacy === undefined) return undefined;
    const { version, capabilities, logLevel = DEFAULT_LEVEL } = this.#legacy;
    const subscriptions = this.#subscriptions?.uris ?? [];
    const { memory } = this.#clientHandler;
    return {
      protocolVersion: version,
      capabilities,
      clientInfo: this.#clientInfo,
      logLevel,
      subscriptions,
      ...(memory === undefined || memory.size === 0 ? {} : { memory: memory.toRecord() }),
    };
  }

  /** Continues the session of a client that another process initialized. */
  async resume(client: InitializedClient): Promise<void> {
    const { protocolVersion, capabilities, clientInfo, logLevel, subscriptions, memory } = client;
    if (memory !== undefined) this.#clientHandler.remember?.(memory);
    this.#recordedSize = this.#clientHandler.memory?.size ?? 0;
    await this.#initialize({ protocolVersion, capabilities, clientInfo });
    this.#legacy = { ...(this.#legacy ?? NAMELESS), logLevel };
    this.#clientHandler.wantsLog?.(logLevel);
    if (subscriptions.length > 0) this.#subscribed().resume(subscriptions, this.#legacy);
    this.ready();
  }

  /** Handles one message of the client. Resolves to the response, or to undefined. */
  receive(frame: Params, exchange: Exchange): Promise<JsonRpcMessage | undefined> | undefined {
    const { id, method, params } = frame;
    if (typeof method !== 'string') {
      if (method === undefined && ('result' in frame || 'error' in frame)) {
        this.#outbound.answered(frame);
        return undefined;
      }
      const own = isRequestId(id) ? id : null;
      return Promise.resolve(
        this.#failed(own, new RpcFailure(RPC_INVALID_REQUEST, 'This is neither a request nor an answer')),
      );
    }
    if (id !== undefined && id !== null && !isRequestId(id)) {
      return Promise.resolve(
        this.#failed(null, new RpcFailure(RPC_INVALID_REQUEST, 'An id must be text or a number')),
      );
    }
    if (id === undefined || id === null) {
      this.#notified(method, isRecord(params) ? params : {});
      return undefined;
    }
    if (params !== undefined && !isRecord(params)) {
      return Promise.resolve(this.#failed(id, invalidParams('"params" must be an object')));
    }
    return this.#serve(id, method, params ?? {}, exchange);
  }

  /** Notifies the client that a list changed, in the form of its era. True if a legacy client was reached. */
  listChanged(kind: ListKind): boolean {
    const message = { jsonrpc: '2.0', method: `notifications/${kind}/list_changed` } as const;
    const modern = this.#subscriptions?.listChanged(kind) === true;
    const legacy = this.#legacy !== undefined && this.#options.broadcast(message);
    if (modern || legacy) {
      this.#notifiedLists ??= new Set();
      this.#notifiedLists.add(kind);
    }
    return legacy;
  }

  /** Returns whether the client was notified of a changed list since the last call of this function. */
  takeNotified(kind: ListKind): boolean {
    return this.#notifiedLists?.delete(kind) === true;
  }

  /**
   * Sends a log message to a client that requested the level: on the stream of the newest request that it may belong
   * to. A modern client without such a request gets none.
   */
  log(level: LogLevel, params: Params, belongsTo: (work: Work) => boolean = () => true): void {
    const message = { jsonrpc: '2.0', method: 'notifications/message', params } as const;
    const work = this.works().findLast(
      (each) => each.exchange !== undefined && wantsLog(each.clientInfo, level) && belongsTo(each),
    );
    if (work?.exchange?.send(message) === true || this.#legacy === undefined) return;
    if (wantsLog(this.#legacy, level)) this.#options.broadcast(message);
  }

  /** Notifies a client of 2025-11-25 that a page it was asked to open is done; other versions have no such message. */
  pageDone(elicitationId: string): void {
    if (this.#legacy === undefined || this.#legacy.version < FIRST_MODE_VERSION) return;
    const method = 'notifications/elicitation/complete';
    this.#options.broadcast({ jsonrpc: '2.0', method, params: { elicitationId } });
  }

  /**
   * Returns a way to ask outside of any request. Waits until a legacy client is initialized; undefined for modern
   * clients, and after the time limit.
   */
  async outside(): Promise<Pick<Work, 'clientInfo' | 'ask'> | undefined> {
    if (this.#legacy === undefined) return undefined;
    if (!this.#isReady) {
      await new Promise<void>((resolve) => {
        const stopTimer = this.#backend.clock.after(INITIALIZED_MS, resolve);
        this.#onReady.push(() => {
          stopTimer();
          resolve();
        });
      });
    }
    const clientInfo = this.#legacy;
    return this.#isReady
      ? {
          clientInfo,
          ask: this.#outbound.on(this.works().findLast(({ exchange }) => exchange !== undefined)?.exchange),
        }
      : undefined;
  }

  /** Sends a legacy client a notification that belongs to none of its requests. */
  notify(method: string, params: Params): void {
    if (this.#legacy !== undefined) this.#options.broadcast({ jsonrpc: '2.0', method, params });
  }

  /** Asks a legacy client on this exchange, or on its general stream. */
  asking(exchange: Exchange): Ask {
    return this.#outbound.on(exchange);
  }

  /** Whether a client of the current work can be asked anything. */
  get canAsk(): boolean {
    return this.#running.isAskable;
  }

  /** Returns the current work, the newest last. */
  works(): readonly Work[] {
    return this.#running.all();
  }

  /** Resolves when no request is running. */
  idle(): Promise<void> {
    return this.#running.idle();
  }

  /** Ends the client's change streams with their responses. */
  stopListening(): void {
    this.#subscriptions?.close();
  }

  /**
   * Handles the end of the client's input, though it may still read: it cannot be asked, and its change streams end.
   */
  inputEnded(): void {
    this.#outbound.close(new PlugboardError('CONNECTION_LOST', 'The client closed its input'));
    this.#subscriptions?.close();
  }

  /** Like `close`, for a client that is still connected: its pending requests are answered with the reason. */
  dismiss(reason: PlugboardError): void {
    for (const work of this.#running.all()) work.fail(new RpcFailure(RPC_INTERNAL_ERROR, reason.message));
    this.close(reason);
  }

  close(reason: PlugboardError): void {
    for (const work of this.#running.all()) work.cancel(reason);
    this.#outbound.close(reason);
    this.#subscriptions?.close();
    this.#clientHandler.leave();
  }

  // Implementations of the rows of `SHARED_METHODS`.

  discover(): Params {
    return { supportedVersions: [MODERN_VERSION], ...this.#clientHandler.about(MODERN_CLIENT) };
  }

  initialize(params: Params): Params | Promise<Params> {
    const initialized = this.#initialize(params);
    this.#options.clientChanged?.();
    return initialized;
  }

  setLevel(level: unknown): Params {
    if (!isLogLevel(level)) throw unknownLevel(level);
    this.#legacy = { ...(this.#legacy ?? NAMELESS), logLevel: level };
    this.#clientHandler.wantsLog?.(level);
    this.#options.clientChanged?.();
    return {};
  }

  async subscribe(uri: unknown, clientInfo: ClientInfo): Promise<Params> {
    await this.#subscribed().subscribe(uri, clientInfo);
    this.#options.clientChanged?.();
    return {};
  }

  unsubscribe(uri: unknown): Params {
    this.#subscribed().unsubscribe(uri);
    this.#options.clientChanged?.();
    return {};
  }

  listen(params: Params, work: Work): Promise<Params> {
    this.#clientHandler.enter();
    return this.#subscribed().listen(params, work);
  }

  /** Marks the client as initialized: from now on it may be asked. */
  ready(): void {
    this.#isReady = true;
    for (const wake of this.#onReady.splice(0)) wake();
  }

  cancelled({ requestId, reason }: Params): void {
    if (!isRequestId(requestId)) return;
    const why = typeof reason === 'string' ? `: ${reason}` : '';
    this.#running.get(requestId)?.cancel(new PlugboardError('CANCELLED', `The client cancelled it${why}`));
  }

  // Private members.

  #subscribed(): Subscriptions {
    const { broadcast } = this.#options;
    this.#subscriptions ??= new Subscriptions(this.#clientHandler, (message) => broadcast(message));
    return this.#subscriptions;
  }

  #initialize(params: Params): Params | Promise<Params> {
    const clientInfo = legacyClientInfo(params);
    this.#legacy = clientInfo;
    this.#clientInfo = params['clientInfo'];
    this.#clientHandler.enter();
    const { identity } = this.#backend;
    const answer = {
      protocolVersion: clientInfo.version,
      serverInfo: identity,
      ...this.#clientHandler.about(clientInfo),
    };
    return this.#clientHandler.initialized?.(params, answer) ?? answer;
  }

  #notified(method: string, params: Params): void {
    SHARED_METHODS.notifications?.get(method)?.notified(this, params);
    this.#clientHandler.methods.notifications?.get(method)?.notified(this.#clientHandler, params);
  }

  async #serve(
    id: RequestId,
    method: string,
    params: Params,
    exchange: Exchange,
  ): Promise<JsonRpcMessage | undefined> {
    let work: Work | undefined;
    let era: Era = 'legacy';
    try {
      const admission = this.#isAdmitted ? undefined : this.#admission(method);
      if (admission !== undefined) await admission;
      const clientInfo = modernClientInfo(method, params) ?? this.#legacy ?? NAMELESS;
      era = clientInfo.era;
      this.#last = clientInfo;
      const { row, client } = this.#calledFor(method, era);
      if ('answer' in row) {
        const result = await row.answer(client, params, clientInfo, method, exchange);
        return { jsonrpc: '2.0', id, result: decorate(row, result, clientInfo.era, this.#backend.identity) };
      }
      this.#running.check(id);
      const request = { row, client, method, params };
      if (clientInfo.era === 'modern' && row.rounds === true)
        return await this.#inRounds(id, request, clientInfo, exchange);
      if (!this.#isReady) this.ready();
      work = new Work(id, clientInfo, exchange, this.#outbound.on(exchange), toolOf(method, params));
      this.#running.add(id, work);
      const result = await this.#long(request, work);
      return work.isAbandoned
        ? this.#cancelled(id, work)
        : { jsonrpc: '2.0', id, result: decorate(row, result, clientInfo.era, this.#backend.identity) };
    } catch (thrown) {
      return work?.isAbandoned ? this.#cancelled(id, work) : this.#failed(id, thrown, era);
    } finally {
      if (work !== undefined) this.#done(id, work);
      else if (this.#options.stateless) this.#release();
    }
  }

  /** Returns undefined if there is nothing to wait for: then requests are handled before the client's next messages. */
  #admission(method: string): Promise<void> | undefined {
    if (method === 'ping') return undefined;
    const ready = this.#options.ready?.();
    this.#isAdmitted = ready === undefined;
    return ready?.then(() => {
      this.#isAdmitted = true;
    });
  }

  /** A client that cancelled its request gets no response. */
  #cancelled(id: RequestId, { failure }: Work): JsonRpcMessage | undefined {
    return failure === undefined ? undefined : this.#failed(id, failure);
  }

  #done(id: RequestId, work: Work): void {
    work.detach();
    if (this.#options.clientChanged !== undefined) this.#recordMemory(this.#options.clientChanged);
    if (this.#running.remove(id) && this.#options.stateless) this.#release();
  }

  #recordMemory(changed: () => void): void {
    const size = this.#clientHandler.memory?.size ?? 0;
    if (size === this.#recordedSize) return;
    this.#recordedSize = size;
    changed();
  }

  #release(): void {
    if (!this.isBusy) this.#clientHandler.leave();
  }

  /** Returns the row of a method, and its client. */
  #calledFor(method: string, era: Era): Called {
    const { methods } = this.#clientHandler;
    const own = rowOf(methods, method, era);
    if (own !== undefined) return { row: own, client: this.#clientHandler };
    const row = rowOf(SHARED_METHODS, method, era);
    if (row !== undefined) return { row, client: this };
    if (methods.fallback === undefined) throw unknownMethod(method);
    return { row: methods.fallback, client: this.#clientHandler };
  }

  /** Runs a row's work when it is its turn. */
  #long({ row, client, method, params }: WorkRequest, work: Work): Promise<Params> {
    const turn = this.#running.turn(work);
    if (turn === undefined) return row.work(client, params, work, method);
    return turn.then(() => row.work(client, params, work, method));
  }

  /** Answers a modern request in rounds: questions end the round, and the client sends the answers in the next. */
  async #inRounds(
    id: RequestId,
    request: WorkRequest,
    clientInfo: ClientInfo,
    exchange: Exchange,
  ): Promise<JsonRpcMessage | undefined> {
    const { suspended, identity } = this.#backend;
    const { row, client, method } = request;
    const { requestState, inputResponses } = request.params;
    const params = withoutAnswers(request.params);
    const first = { row, client, method, params };
    const continuation = suspended.continuationOf(requestState);
    // Its questions are asked again: an approval is for the process that asked.
    const continued =
      continuation === undefined ? undefined : this.#clientHandler.continued?.(method, params, continuation);
    const rounds =
      requestState === undefined || continued !== undefined
        ? this.#begin(id, { ...first, params: continued ?? params }, clientInfo, exchange)
        : suspended.take(requestState, this.principal, printOf(method, params), inputResponses, (lost) =>
            this.#begin(id, first, clientInfo, exchange, lost),
          );
    const isOwn = rounds.work.exchange === exchange;
    if (!isOwn) {
      rounds.work.attach(exchange);
      this.#running.add(id, rounds.work);
    }
    const { work } = rounds;
    try {
      const result = await rounds.next();
      if (work.failure !== undefined) return this.#failed(id, work.failure);
      if (work.isAbandoned) return undefined;
      if (result !== undefined)
        return { jsonrpc: '2.0', id, result: decorate(row, result, 'modern', identity) };
      const inputRequests = rounds.inputRequests();
      const state = suspended.put(rounds, this.principal, printOf(method, params));
      const asked = { resultType: 'input_required', inputRequests, requestState: state };
      return { jsonrpc: '2.0', id, result: decorate(row, asked, 'modern', identity) };
    } catch (thrown) {
      if (work.failure !== undefined) return this.#failed(id, work.failure);
      return work.isAbandoned ? undefined : this.#failed(id, thrown, 'modern');
    } finally {
      if (!isOwn) this.#done(id, work);
    }
  }

  /** Begins the work of a request, which runs to its end over any number of rounds. */
  #begin(
    id: RequestId,
    request: WorkRequest,
    clientInfo: ClientInfo,
    exchange: Exchange,
    lost?: Rounds,
  ): Rounds {
    const work = new Work(id, clientInfo, exchange, noAsk, toolOf(request.method, request.params));
    const rounds = new Rounds(work, lost);
    this.#running.add(id, work);
    rounds.begin(this.#started(request, work), () => this.#done(id, work));
    return rounds;
  }

  #started(request: WorkRequest, work: Work): Promise<Params> {
    try {
      return this.#long(request, work);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  #failed(id: RequestId | null, thrown: unknown, era: Era = 'legacy'): JsonRpcMessage {
    const failure = thrown instanceof RpcFailure ? thrown : this.#backend.failureOf(thrown, era);
    return { jsonrpc: '2.0', id, error: failure.toJSON() };
  }
}

/** Returns the params of a request in its first round. */
function withoutAnswers(params: Params): Params {
  if (!('requestState' in params || 'inputResponses' in params)) return params;
  const { requestState: _state, inputResponses: _responses, ...rest } = params;
  return rest;
}

function wantsLog({ logLevel }: ClientInfo, level: LogLevel): boolean {
  return logLevel !== undefined && isAtLeast(level, logLevel);
}

const MODERN_CLIENT = { era: 'modern', version: MODERN_VERSION } as const;

const noAsk: Ask = () => Promise.reject(new PlugboardError('INTERNAL', 'This request cannot ask'));
