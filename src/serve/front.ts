/**
 * One client of the gateway, whatever carries its messages: the mirror of `connection/peer.ts`.
 *
 * It lives as long as a stdio connection or a legacy session; a stateless client has one for each request.
 */

import type { SessionOptions } from '../call/session.ts';
import { TOOL_SEARCH } from '../catalog/deferral.ts';
import { MODERN_VERSION } from '../connection/eras.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import {
  isRecord,
  type JsonRpcMessage,
  type RequestId,
  RPC_INTERNAL_ERROR,
  RPC_INVALID_REQUEST,
} from '../lib/json-rpc.ts';
import { complete, getPrompt, listPrompts, listResources, listTemplates, readResource } from './content.ts';
import { type Asker, dress, legacyAsker, modernAsker, NAMELESS, type Params } from './eras.ts';
import type { Gateway, ListKind } from './gateway.ts';
import { Outbound } from './outbound.ts';
import { questionsOf } from './questions.ts';
import { firstPage, isLong, progressOf, toolOf } from './requests.ts';
import { printOf, Rounds } from './rounds.ts';
import { failureOf, invalidParams, RpcFailure, unknownMethod } from './rpc-failure.ts';
import type { ServedSession } from './served-host.ts';
import { Subscriptions } from './subscriptions.ts';
import { passedOn, refused, wantedCall } from './tools.ts';
import { type Ask, type Exchange, Work } from './work.ts';

/** Requests of one client at the same time. */
const MAX_RUNNING = 1_024;
const LEVELS: readonly string[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

export interface FrontOptions {
  /** Who this is, as far as it was proven; what belongs to one is never shown to another. */
  readonly principal: string;
  /** True when the client has no session: this front is for one request. */
  readonly stateless: boolean;
  /** Sends what belongs to no request; false when nobody listens. */
  readonly broadcast: (message: JsonRpcMessage) => boolean;
}

export class Front {
  readonly #gateway: Gateway;
  readonly #options: FrontOptions;
  readonly #running = new Map<RequestId, Work>();
  readonly #outbound = new Outbound();
  readonly #subscriptions: Subscriptions;
  #session: ServedSession | undefined;
  #legacy: Asker | undefined;
  #onIdle: (() => void)[] = [];

  constructor(gateway: Gateway, options: FrontOptions) {
    this.#gateway = gateway;
    this.#options = options;
    this.#subscriptions = new Subscriptions(gateway.host, (message) => options.broadcast(message));
  }

  get principal(): string {
    return this.#options.principal;
  }

  get sessionId(): string {
    return this.#open().id;
  }

  get isBusy(): boolean {
    return this.#running.size > 0 || this.#subscriptions.isListening;
  }

  get version(): string | undefined {
    return this.#legacy?.version;
  }

  /** One frame of the client. Resolves to what has to be answered, or to nothing. */
  receive(frame: Params, exchange: Exchange): Promise<JsonRpcMessage | undefined> | undefined {
    const { id, method, params } = frame;
    if (typeof method !== 'string') {
      this.#outbound.answered(frame);
      return undefined;
    }
    if (typeof id !== 'string' && typeof id !== 'number') {
      this.#notified(method, isRecord(params) ? params : {});
      return undefined;
    }
    if (params !== undefined && !isRecord(params)) {
      return Promise.resolve(failed(id, invalidParams('params have to be an object.')));
    }
    return this.#serve(id, method, params ?? {}, exchange);
  }

  /** Tells the client that a list changed, in the way of its era. */
  listChanged(kind: ListKind): void {
    this.#subscriptions.listChanged(kind);
    if (this.#legacy === undefined) return;
    this.#options.broadcast({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` });
  }

  /** A server's log message, for a client that wants such; on the stream of the work it belongs to if there is one. */
  log(server: string, level: string, data: string): void {
    const work = this.#lastWork();
    const asker = work?.asker ?? this.#legacy;
    if (asker?.logLevel === undefined || LEVELS.indexOf(level) < LEVELS.indexOf(asker.logLevel)) return;
    const message = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level, logger: server, data },
    } as const;
    if (work?.exchange?.send(message) !== true && asker.era === 'legacy') this.#options.broadcast(message);
  }

  workFor(server: string | undefined, signal: AbortSignal | undefined): Work | undefined {
    for (const work of this.#running.values()) if (work.signal === signal) return work;
    if (server !== undefined && !this.#gateway.isAlone(server, this.sessionId)) return undefined;
    const tools = server === undefined ? [] : this.#open().tools();
    const works = [...this.#running.values()].reverse();
    return (
      works.find(({ tool }) => tools.some((known) => known.name === tool && known.server === server)) ??
      works[0]
    );
  }

  /** Resolves when nothing is worked on any more. */
  async idle(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Ends the client's streams of changes in good order. */
  stopListening(): void {
    this.#subscriptions.close();
  }

  close(reason: PlugboardError): void {
    for (const work of this.#running.values()) work.cancel(reason);
    this.#outbound.close(reason);
    this.#subscriptions.close();
    if (this.#session !== undefined) this.#gateway.leave(this);
  }

  // The inside.

  #open(): ServedSession {
    if (this.#session === undefined) {
      const options: SessionOptions = { approvals: this.#gateway.approvals, ...questionsOf(this) };
      this.#session = this.#gateway.host.session(options);
      this.#gateway.enter(this);
    }
    return this.#session;
  }

  #notified(method: string, params: Params): void {
    if (method !== 'notifications/cancelled') return;
    const { requestId, reason } = params;
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    const why = typeof reason === 'string' ? `: ${reason}` : '';
    this.#running.get(requestId)?.cancel(new PlugboardError('CANCELLED', `the client cancelled it${why}`));
  }

  async #serve(
    id: RequestId,
    method: string,
    params: Params,
    exchange: Exchange,
  ): Promise<JsonRpcMessage | undefined> {
    let work: Work | undefined;
    try {
      const asker = modernAsker(method, params) ?? this.#legacy ?? NAMELESS;
      const quick = this.#quick(method, params, asker);
      if (quick !== undefined)
        return { jsonrpc: '2.0', id, result: dress(method, await quick, asker.era, this.#gateway.identity) };
      if (this.#running.has(id))
        throw new RpcFailure(RPC_INVALID_REQUEST, 'A request with this id is being worked on.');
      if (this.#running.size >= MAX_RUNNING) {
        throw new RpcFailure(RPC_INTERNAL_ERROR, `More than ${MAX_RUNNING} requests at once.`);
      }
      if (asker.era === 'modern' && isLong(method))
        return await this.#inRounds(id, method, params, asker, exchange);
      work = new Work(id, asker, exchange, this.#legacyAsk(exchange), toolOf(method, params));
      this.#running.set(id, work);
      const result = await this.#long(method, params, work);
      // A client that took its request back wants no answer.
      return work.signal.aborted
        ? undefined
        : { jsonrpc: '2.0', id, result: dress(method, result, asker.era, this.#gateway.identity) };
    } catch (thrown) {
      return work?.signal.aborted ? undefined : failed(id, thrown);
    } finally {
      if (work !== undefined) this.#done(id, work);
      else if (this.#options.stateless) this.#release();
    }
  }

  #done(id: RequestId, work: Work): void {
    this.#running.delete(id);
    work.detach();
    if (this.#running.size > 0) return;
    for (const wake of this.#onIdle.splice(0)) wake();
    if (this.#options.stateless) this.#release();
  }

  #release(): void {
    if (this.#session !== undefined && !this.isBusy) this.#gateway.leave(this);
  }

  /** What is answered without going to a server for one client's sake; undefined for everything else. */
  #quick(method: string, params: Params, asker: Asker): Params | Promise<Params> | undefined {
    const { host } = this.#gateway;
    switch (method) {
      case 'tools/list':
        firstPage(params);
        return this.#gateway.settling?.then(() => this.#listTools()) ?? this.#listTools();
      case 'resources/list':
        firstPage(params);
        return listResources(host);
      case 'resources/templates/list':
        firstPage(params);
        return listTemplates(host);
      case 'prompts/list':
        firstPage(params);
        return listPrompts(host);
      case 'server/discover':
        if (asker.era === 'legacy') throw unknownMethod(method);
        return { supportedVersions: [MODERN_VERSION], ...this.#about(asker) };
    }
    if (asker.era === 'modern') return undefined;
    switch (method) {
      case 'ping':
        return {};
      case 'initialize':
        return this.#initialize(params);
      case 'logging/setLevel': {
        const { level } = params;
        if (typeof level !== 'string' || !LEVELS.includes(level))
          throw invalidParams('This is no log level.');
        this.#legacy = { ...(this.#legacy ?? NAMELESS), logLevel: level };
        return {};
      }
      case 'resources/subscribe':
        return this.#subscriptions.subscribe(params['uri'], asker).then(() => ({}));
      case 'resources/unsubscribe':
        this.#subscriptions.unsubscribe(params['uri']);
        return {};
    }
    return undefined;
  }

  #listTools(): Params {
    return { tools: this.#gateway.listTools(this.#open().tools(), this.#options.stateless) };
  }

  #initialize(params: Params): Params {
    const asker = legacyAsker(params);
    this.#legacy = asker;
    this.#open();
    return { protocolVersion: asker.version, serverInfo: this.#gateway.identity, ...this.#about(asker) };
  }

  #about({ era }: Asker): Params {
    const instructions = this.#gateway.host.instructions();
    return {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        ...(era === 'legacy' ? { logging: {} } : {}),
      },
      ...(instructions === '' ? {} : { instructions }),
    };
  }

  /** What takes as long as a server does. */
  #long(method: string, params: Params, work: Work): Promise<Params> {
    const { host } = this.#gateway;
    switch (method) {
      case 'tools/call':
        return this.#call(params, work);
      case 'resources/read':
        return readResource(this.#gateway, params, work.asker, this.principal, work.signal);
      case 'prompts/get':
        return getPrompt(host, params, work.asker, work.signal);
      case 'completion/complete':
        return complete(host, params, work.signal);
      case 'subscriptions/listen':
        if (work.asker.era === 'legacy') break;
        this.#open();
        return this.#subscriptions.listen(params, work);
    }
    throw unknownMethod(method);
  }

  async #call(params: Params, work: Work): Promise<Params> {
    const { name, args } = wantedCall(params, this.#options.stateless);
    const session = this.#open();
    try {
      const result = await session.call(name, args, {
        signal: work.signal,
        onProgress: progressOf(params, work),
      });
      if (name === TOOL_SEARCH && !this.#options.stateless) this.listChanged('tools');
      return passedOn(result, work.asker.version, (file) =>
        this.#gateway.outputs.offer(file, this.principal),
      );
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      // It may belong to a server that is still on its way.
      const { settling } = this.#gateway;
      if (error.code === 'UNKNOWN_TOOL' && settling !== undefined)
        return settling.then(() => this.#call(params, work));
      return refused(error);
    }
  }

  /** A modern request: its questions end the round, and the client comes back with the answers. */
  async #inRounds(
    id: RequestId,
    method: string,
    params: Params,
    asker: Asker,
    exchange: Exchange,
  ): Promise<JsonRpcMessage | undefined> {
    const { held, identity } = this.#gateway;
    const { requestState } = params;
    let rounds: Rounds;
    if (requestState === undefined) {
      const work = new Work(id, asker, exchange, noAsk, toolOf(method, params));
      rounds = new Rounds(work);
      this.#running.set(id, work);
      rounds.begin(() => this.#long(method, params, work).finally(() => this.#done(id, work)));
    } else {
      rounds = held.take(requestState, this.principal, printOf(method, params));
      rounds.work.attach(exchange);
      this.#running.set(id, rounds.work);
      rounds.answer(params['inputResponses']);
    }
    const { work } = rounds;
    try {
      const result = await rounds.next();
      if (work.failure !== undefined) return failed(id, work.failure);
      if (work.signal.aborted) return undefined;
      if (result !== undefined)
        return { jsonrpc: '2.0', id, result: dress(method, result, 'modern', identity) };
      const inputRequests = rounds.inputRequests();
      const state = held.put(rounds, this.principal, printOf(method, params));
      const asked = { resultType: 'input_required', inputRequests, requestState: state };
      return { jsonrpc: '2.0', id, result: dress(method, asked, 'modern', identity) };
    } catch (thrown) {
      if (work.failure !== undefined) return failed(id, work.failure);
      return work.signal.aborted ? undefined : failed(id, thrown);
    } finally {
      if (requestState !== undefined) this.#done(id, work);
    }
  }

  /** A legacy client is asked by a request of ours, on the stream of its own request where there is one. */
  #legacyAsk(exchange: Exchange): Ask {
    return (method, params, signal) =>
      this.#outbound.request(
        method,
        params,
        signal,
        (message) => exchange.send(message) || this.#options.broadcast(message),
      );
  }

  #lastWork(): Work | undefined {
    let last: Work | undefined;
    for (const work of this.#running.values()) if (work.exchange !== undefined) last = work;
    return last;
  }
}

const noAsk: Ask = () => Promise.reject(new PlugboardError('INTERNAL', 'this request cannot ask'));

function failed(id: RequestId, thrown: unknown): JsonRpcMessage {
  const failure = thrown instanceof RpcFailure ? thrown : failureOf(asPlugboardError(thrown));
  return { jsonrpc: '2.0', id, error: failure.toJSON() };
}
