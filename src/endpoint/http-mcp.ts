/** The route `/mcp`: finds the client of a request, and sends its response, in both eras. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { LEGACY_VERSIONS, META, MODERN_VERSION } from '../connection/eras.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import {
  type JsonRpcMessage,
  messageText,
  type RequestId,
  RPC_INTERNAL_ERROR,
  RPC_INVALID_REQUEST,
  RPC_PARSE_ERROR,
} from '../lib/json-rpc.ts';
import { LinkedList } from '../lib/linked-list.ts';
import type { Backend } from './backend.ts';
import { ClientConnection } from './client-connection.ts';
import { isLegacyOpening, type Params, unsupportedVersion } from './client-era.ts';
import { passOn } from './forwarding.ts';
import type { Caller } from './guard.ts';
import { checkHeaders, statusOf } from './http-modern.ts';
import { type HttpSession, HttpSessions } from './http-sessions.ts';
import type { ForwardedRequest, HandleKind, McpRequest, McpResponse, Peer, Replicas } from './replicas.ts';
import { type Body, parsedBody, readBody, readBytes } from './request-body.ts';
import { callOfEvent, endWith, HttpExchange, type HttpExchangeOptions } from './response-stream.ts';
import { RpcFailure } from './rpc-failure.ts';
import type { SessionRecords } from './session-records.ts';
import type { Exchange } from './work.ts';

const SESSION_HEADER = 'mcp-session-id';
/** Some legacy versions allow several messages in one request. */
const MAX_BATCH = 100;
const RPC_SESSION_NOT_FOUND = -32001;
/** How long work continues for a legacy client that dropped its connection and sent nothing since. */
const ABANDONED_MS = 60_000;
const SWEEP_MS = 5_000;
const NO_PARAMS: Params = {};
const NO_BODY: Buffer = Buffer.alloc(0);
/** How often a request is sent to the owner of its session, while sessions move. */
const MAX_ATTEMPTS = 4;
/** Balancers check readiness within this time. */
const DRAIN_MS = 2_000;
/** Calls that take longer have the time of the close. */
const DRAIN_LIMIT_MS = 10_000;
const DRAIN_LOOK_MS = 50;
/** The addresses of results that were too long for a model. */
export const OUTPUT_PREFIX = 'plugboard://output/';
/** After this many sweeps without a write, a keep-alive is sent to a waiting client. */
const QUIET_SWEEPS = 3;

/** One request of an authenticated client. */
interface Incoming {
  readonly request: McpRequest;
  readonly response: McpResponse;
  readonly principal: string;
  /** The identity that the principal was derived from. */
  readonly caller: Caller | undefined;
  /** The response to the client; undefined if another process forwarded the request. */
  readonly direct: ServerResponse | undefined;
}

/** The other processes, and the text that session ids of a principal are sealed for. */
export interface EndpointReplicas {
  readonly replicas: Replicas;
  readonly holderOf: (principal: string) => string;
}

/** Limits of one endpoint; the defaults are those of the gateway. */
export interface EndpointLimits {
  readonly maxBodyBytes?: number | undefined;
  /** Legacy sessions in memory. 0: legacy clients are served without sessions, each request by itself. */
  readonly maxSessions?: number | undefined;
}

/** Undefined: the request names no session. */
type FoundSession = HttpSession | 'unknown' | undefined;

export class McpEndpoint {
  readonly #backend: Backend;
  readonly #sessions: HttpSessions;
  readonly #open = new LinkedList<HttpExchange>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #droppedAlone = (exchange: HttpExchange): void => this.#dropped(exchange, undefined);

  readonly #others: EndpointReplicas | undefined;
  readonly #limits: EndpointLimits;

  /** `records`: the storage for legacy sessions across processes; undefined: memory only. */
  constructor(
    backend: Backend,
    records?: SessionRecords,
    others?: EndpointReplicas,
    limits: EndpointLimits = {},
  ) {
    this.#backend = backend;
    this.#limits = limits;
    this.#others = others;
    others?.replicas.accept((request, response) => this.#forwarded(request, response));
    others?.replicas.onLapsed(() => void this.#sessions.recordAll());
    this.#sessions = new HttpSessions(backend, records, limits.maxSessions);
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  handle(request: IncomingMessage, response: ServerResponse, principal: string, caller?: Caller): void {
    const incoming = { request, response, principal, caller, direct: response };
    if (this.#others !== undefined && this.#isElsewhere(incoming, request, this.#others)) return;
    switch (request.method) {
      case 'POST':
        if (isJson(request.headers['content-type'] ?? '')) {
          readBody(request, (body) => this.#posted(incoming, body), this.#limits.maxBodyBytes);
        } else refuse(response, 415, NOT_JSON);
        break;
      case 'GET':
        this.#listen(incoming);
        break;
      case 'DELETE':
        this.#delete(incoming);
        break;
      default:
        refuseMethod(response);
    }
  }

  /** Handles a request whose body was read by the program that this endpoint is mounted in. */
  handleMounted(
    request: McpRequest,
    response: McpResponse,
    { principal, caller, body }: { readonly principal: string; readonly caller: Caller; readonly body: Body },
  ): void {
    this.#handleRead({ request, response, principal, caller, direct: undefined }, body);
  }

  /** Passes a request of a session that another process has to that process. */
  #isElsewhere(
    incoming: Incoming,
    request: IncomingMessage,
    { replicas, holderOf }: EndpointReplicas,
  ): boolean {
    const { [SESSION_HEADER]: id } = request.headers;
    if (typeof id !== 'string' || this.#sessions.has(id)) return false;
    const found = replicas.placeOf('session', id, holderOf(incoming.principal));
    // A session that this process gave up is continued by another one.
    const place = found === 'here' && replicas.state.isDraining ? (replicas.other() ?? found) : found;
    if (typeof place === 'string') return false;
    const { method } = request;
    if (method === 'POST')
      readBytes(request, (body) => {
        if (body === undefined) this.#posted(incoming, { status: 413 });
        else this.#toOwner(incoming, id, place, body);
      });
    else if (method === 'GET' || method === 'DELETE') this.#toOwner(incoming, id, place, NO_BODY);
    else return false;
    return true;
  }

  #toOwner(incoming: Incoming, id: string, peer: Peer, body: Buffer, attempt = 1): void {
    const { direct, principal } = incoming;
    if (this.#others === undefined || direct === undefined) return;
    const { replicas, holderOf } = this.#others;
    const repeat = async (): Promise<void> => {
      const place = attempt < MAX_ATTEMPTS ? await replicas.locate(id, holderOf(principal)) : 'unreachable';
      if (direct.destroyed) return;
      if (place === 'unreachable') {
        direct.setHeader('retry-after', '1');
        refuse(direct, 503, 'The replica that has this session cannot be reached');
      } else if (place === 'unknown') sessionGone(direct, null);
      else if (place === 'here') this.#handleRead(incoming, parsedBody(body));
      else this.#toOwner(incoming, id, place, body, attempt + 1);
    };
    passOn(
      replicas,
      peer,
      { ...incoming, response: direct, body },
      { repeat: () => void repeat(), lost: (request) => this.#lost(request) },
    );
  }

  #lost(id: RequestId): JsonRpcMessage {
    const lost = new PlugboardError(
      'CONNECTION_LOST',
      'The replica that ran this request stopped before its answer',
      { hint: 'It may have run. Check before you send it again.' },
    );
    const error = this.#backend.failureOf(lost, 'legacy').toJSON();
    return { jsonrpc: '2.0', id, error };
  }

  /** Handles a request that another process forwarded; false if a third one has its session now. */
  #forwarded(
    { method, headers, principal, body }: ForwardedRequest,
    response: McpResponse,
  ): boolean | Promise<boolean> {
    const handle = (): true => {
      const request = { method, headers };
      const incoming = { request, response, principal, caller: undefined, direct: undefined };
      this.#handleRead(incoming, parsedBody(Buffer.from(body)));
      return true;
    };
    const { [SESSION_HEADER]: id } = headers;
    if (this.#others === undefined || typeof id !== 'string' || this.#sessions.has(id)) return handle();
    const { replicas, holderOf } = this.#others;
    if (replicas.state.isDraining) return false;
    return replicas
      .locate(id, holderOf(principal))
      .then((place) => (place === 'here' || place === 'unknown' ? handle() : false));
  }

  #handleRead(incoming: Incoming, body: Body): void {
    const { request, response } = incoming;
    switch (request.method) {
      case 'POST':
        if (isJson(request.headers['content-type'] ?? '')) this.#posted(incoming, body);
        else refuse(response, 415, NOT_JSON);
        break;
      case 'GET':
        this.#listen(incoming);
        break;
      case 'DELETE':
        this.#delete(incoming);
        break;
      default:
        refuseMethod(response);
    }
  }

  /** Passes a request about work that another process holds to that process. */
  #isHeldElsewhere(incoming: Incoming, id: RequestId, method: string, params: Params): boolean {
    const { direct, principal } = incoming;
    if (this.#others === undefined || direct === undefined) return false;
    const { replicas } = this.#others;
    const handle = handleOf(params);
    if (handle === undefined) return false;
    const place = replicas.placeOf(handle.kind, handle.text, principal);
    if (typeof place === 'string') return false;
    const answerLost = (): void => endWith(direct, 200, messageText(this.#lost(id)));
    passOn(
      replicas,
      place,
      {
        ...incoming,
        response: direct,
        body: Buffer.from(messageText({ jsonrpc: '2.0', id, method, params })),
      },
      { repeat: answerLost, lost: (request) => this.#lost(request) },
    );
    return true;
  }

  /** Ends the sessions and streams of one principal; its requests are answered with the reason. */
  dismiss(principal: string, reason: PlugboardError): void {
    const error = this.#backend.failureOf(reason, 'legacy').toJSON();
    for (const exchange of this.#open.items())
      if (exchange.principal === principal) exchange.dismiss(error, reason);
    this.#sessions.dismiss(principal);
  }

  /**
   * Gives sessions up as soon as their requests have ended, while requests are still answered: balancers notice only
   * after a while that this process is not ready, and questions of running calls are still answered here.
   */
  async drain(): Promise<void> {
    const replicas = this.#others?.replicas;
    if (replicas?.other() === undefined) return;
    replicas.drain();
    const { clock, suspended } = this.#backend;
    const begun = clock.now();
    for (;;) {
      const busy = (await this.#sessions.releaseIdle()) + suspended.size;
      const passedMs = clock.now() - begun;
      if (passedMs >= DRAIN_LIMIT_MS || (busy === 0 && passedMs >= DRAIN_MS)) return;
      await new Promise<void>((resolve) => void clock.after(DRAIN_LOOK_MS, resolve));
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    const recorded = this.#sessions.close();
    for (const exchange of this.#open.items()) exchange.end();
    await recorded;
  }

  #posted(incoming: Incoming, body: Body): void {
    const { request, response } = incoming;
    if (!('value' in body)) {
      if (body.status === 413) response.setHeader('connection', 'close');
      body.status === 413
        ? refuse(response, 413, 'The body is too large')
        : refuse(response, 400, 'The body is not JSON, or nested too deep', RPC_PARSE_ERROR);
      return;
    }
    const { value } = body;
    if (Array.isArray(value)) {
      this.#batch(incoming, value);
      return;
    }
    if (!isMessage(value)) {
      refuse(response, 400, 'The body is not a JSON-RPC message', RPC_INVALID_REQUEST);
      return;
    }
    const { id } = value;
    if (id !== undefined && id !== null && !isId(id)) {
      refuse(response, 400, 'An id must be text or a number', RPC_INVALID_REQUEST);
      return;
    }
    if (isModern(request, value)) this.#modern(incoming, value);
    else this.#legacy(incoming, value);
  }

  #modern(incoming: Incoming, frame: Params): void {
    const { request, response, principal } = incoming;
    const { id, method, params } = frame;
    // The modern era has no other notifications over HTTP, and the target of these is gone.
    if (!isId(id) || typeof method !== 'string') return void response.writeHead(202).end();
    try {
      const given = isRecord(params) ? params : {};
      if (this.#others !== undefined && this.#isHeldElsewhere(incoming, id, method, given)) return;
      checkHeaders(request.headers, method, given);
      if (method === 'tools/call') this.#backend.checkCall?.(request.headers, given, principal);
    } catch (thrown) {
      answerFailure(response, id, thrown);
      return;
    }
    const exchange = this.#exchange(incoming);
    exchange.requests = id;
    this.#answer(exchange, this.#statelessConnection(principal).receive(frame, exchange), (answer) =>
      statusOf(answer, method),
    );
  }

  #legacy(incoming: Incoming, frame: Params): void {
    const { request, response, principal } = incoming;
    const version = request.headers['mcp-protocol-version'];
    const isOpening = frame['method'] === 'initialize' && version === MODERN_VERSION;
    if (typeof version === 'string' && !LEGACY_VERSIONS.includes(version) && !isOpening) {
      answerFailure(
        response,
        isId(frame['id']) ? frame['id'] : null,
        unsupportedVersion(version, [MODERN_VERSION, ...LEGACY_VERSIONS]),
      );
      return;
    }
    if (frame['method'] === 'initialize' && isId(frame['id']) && this.#limits.maxSessions !== 0) {
      const session = this.#sessions.open(principal);
      if (session === undefined) {
        refuse(response, 503, 'There are too many sessions');
        return;
      }
      const exchange = this.#exchange(incoming, { headers: { [SESSION_HEADER]: session.id } });
      exchange.requests = frame['id'];
      const answer = session.clientConnection.receive(frame, exchange);
      // Once a client has its session's id, the record exists.
      this.#answer(
        exchange,
        answer?.then((message) => session.recorded.then(() => message)),
        always200,
      );
      return;
    }
    const session = this.#sessionOf(incoming);
    if (session instanceof Promise) void session.then((found) => this.#received(incoming, frame, found));
    else this.#received(incoming, frame, session);
  }

  /** Handles one legacy message of a session, or of a client without one. */
  #received(incoming: Incoming, frame: Params, session: FoundSession): void {
    if (session === 'unknown') {
      sessionGone(incoming.response, frame['id']);
      return;
    }
    const clientConnection = session?.clientConnection ?? this.#statelessConnection(incoming.principal);
    const { id, method } = frame;
    if (!isId(id) || typeof method !== 'string') {
      void clientConnection.receive(frame, unreachable());
      return void incoming.response.writeHead(202).end();
    }
    const exchange = this.#exchange(incoming, {
      headers: undefined,
      resumable: session && id,
      onDropped: this.#onDropped(session),
    });
    exchange.requests = id;
    session?.announceLists(exchange);
    this.#answer(exchange, clientConnection.receive(frame, exchange), always200);
  }

  #batch(incoming: Incoming, frames: unknown[]): void {
    const { response } = incoming;
    if (frames.length === 0 || frames.length > MAX_BATCH || !frames.every(isMessage)) {
      refuse(response, 400, `A batch has 1 to ${MAX_BATCH} JSON-RPC messages.`, RPC_INVALID_REQUEST);
      return;
    }
    this.#withSession(incoming, (session) => {
      if (session === 'unknown') sessionGone(response, null);
      else this.#receivedBatch(incoming, frames, session);
    });
  }

  #receivedBatch(incoming: Incoming, frames: readonly Params[], session: HttpSession | undefined): void {
    const clientConnection = session?.clientConnection ?? this.#statelessConnection(incoming.principal);
    const exchange = this.#exchange(incoming, { onDropped: this.#onDropped(session) });
    exchange.requests = frames.flatMap(({ id, method }) =>
      isId(id) && typeof method === 'string' ? [id] : [],
    );
    const parts = frames.map(
      (): Exchange => ({
        send: (message) => exchange.send(message),
        onGone: undefined,
        headers: exchange.headers,
        caller: exchange.caller,
      }),
    );
    exchange.onGone = (reason: PlugboardError) => {
      for (const part of parts) part.onGone?.(reason);
    };
    const answers = frames.map((frame, at) => clientConnection.receive(frame, parts[at] ?? unreachable()));
    void Promise.all(answers).then((all) => {
      this.#closed(exchange);
      const given = all.filter((answer) => answer !== undefined);
      exchange.finish(200, given.length === 0 ? undefined : given);
    });
  }

  /** Returns the same function for every request of a session. */
  #onDropped(session: HttpSession | undefined): (exchange: HttpExchange) => void {
    if (session === undefined) return this.#droppedAlone;
    session.onDropped ??= (exchange) => this.#dropped(exchange, session);
    return session.onDropped;
  }

  /** Cancels work of a legacy client that dropped its connection and does not return within a time limit (F55). */
  #dropped(exchange: HttpExchange, session: HttpSession | undefined): void {
    const droppedAt = this.#backend.clock.now();
    this.#backend.clock.after(ABANDONED_MS, () => {
      if (exchange.isOver) return;
      if (session?.isPresentSince(droppedAt) === true) this.#dropped(exchange, session);
      else exchange.destroy();
    });
  }

  /** Returns undefined if the request names no session. A promise only while a session is restored. */
  #sessionOf({ request, principal }: Incoming): FoundSession | Promise<FoundSession> {
    const { [SESSION_HEADER]: id } = request.headers;
    if (typeof id !== 'string') return undefined;
    const found = this.#sessions.find(id, principal);
    if (found instanceof Promise) return found.then((session) => session ?? 'unknown');
    return found ?? 'unknown';
  }

  #withSession(incoming: Incoming, use: (session: FoundSession) => void): void {
    const session = this.#sessionOf(incoming);
    if (session instanceof Promise) void session.then(use);
    else use(session);
  }

  #statelessConnection(principal: string): ClientConnection {
    return new ClientConnection(this.#backend, { principal, stateless: true, broadcast: nobodyListens });
  }

  #listen(incoming: Incoming): void {
    const { request, response } = incoming;
    this.#withSession(incoming, (session) => {
      if (session === undefined) {
        response.setHeader('allow', 'POST');
        refuse(response, 405, 'A stream needs a session, and this request does not name one');
      } else if (session === 'unknown') sessionGone(response, null);
      else if (!takesStream(request)) refuse(response, 406, 'The client must accept text/event-stream');
      else this.#openStream(incoming, session);
    });
  }

  #openStream(incoming: Incoming, session: HttpSession): void {
    const { 'last-event-id': last } = incoming.request.headers;
    const lastEventId = typeof last === 'string' ? last : undefined;
    const exchange = this.#exchange(incoming);
    const call = callOfEvent(lastEventId);
    if (call === undefined) {
      session.listen(exchange, lastEventId);
      return;
    }
    const lost = new PlugboardError(
      'CONNECTION_LOST',
      'The connection of this request ended before its answer',
      { hint: 'It may have run. Its questions are no longer open.' },
    );
    exchange.openStream();
    this.#closed(exchange);
    const error = this.#backend.failureOf(lost, 'legacy').toJSON();
    exchange.finish(200, { jsonrpc: '2.0', id: call, error });
  }

  #delete(incoming: Incoming): void {
    const { response } = incoming;
    this.#withSession(incoming, (session) => {
      if (session === undefined) refuse(response, 400, 'The request names no session');
      else if (session === 'unknown') sessionGone(response, null);
      else
        void this.#sessions
          .delete(session, 'the client asked for it')
          .then(() => response.writeHead(200).end());
    });
  }

  #exchange(incoming: Incoming, options?: HttpExchangeOptions): HttpExchange {
    const exchange = new HttpExchange(incoming, takesStream(incoming.request), options);
    exchange.entry = this.#open.add(exchange);
    return exchange;
  }

  #closed(exchange: HttpExchange): void {
    if (exchange.entry !== undefined) this.#open.remove(exchange.entry);
    exchange.entry = undefined;
  }

  #answer(
    exchange: HttpExchange,
    answer: Promise<JsonRpcMessage | undefined> | undefined,
    status: (answer: JsonRpcMessage | undefined) => number,
  ): void {
    if (answer === undefined) {
      exchange.finish(202, undefined);
      return;
    }
    answer.then(
      (message) => {
        this.#closed(exchange);
        exchange.finish(status(message), message);
      },
      // A front handles its own failures; an error here means that the response could not be serialized.
      () => {
        this.#closed(exchange);
        exchange.finish(500, failure(null, RPC_INTERNAL_ERROR, 'The server could not answer'));
      },
    );
  }

  #sweep(): void {
    for (const exchange of this.#open.items()) {
      if (exchange.isOver) this.#closed(exchange);
      else if (++exchange.quietSweeps >= QUIET_SWEEPS) exchange.keepAlive();
    }
    this.#sessions.sweep();
  }
}

/** Returns the handle that a request is about: a question that waits, a task, or a long result. */
function handleOf({
  requestState,
  taskId,
  uri,
}: Params): { readonly kind: HandleKind; readonly text: string } | undefined {
  if (typeof requestState === 'string') return { kind: 'state', text: requestState };
  if (typeof taskId === 'string') return { kind: 'task', text: taskId };
  if (typeof uri === 'string' && uri.startsWith(OUTPUT_PREFIX))
    return { kind: 'output', text: uri.slice(OUTPUT_PREFIX.length) };
  return undefined;
}

/** The version in the body decides; a header alone still shows which era the client assumes. */
function isModern(request: McpRequest, { method, params }: Params): boolean {
  const given = isRecord(params) ? params : NO_PARAMS;
  if (isLegacyOpening(method, given)) return false;
  const meta = given['_meta'];
  if (isRecord(meta) && meta[META.protocolVersion] !== undefined) return true;
  return request.headers['mcp-protocol-version'] === MODERN_VERSION;
}

const NOT_JSON = 'The body must be application/json';

function refuseMethod(response: McpResponse): void {
  response.setHeader('allow', 'GET, POST, DELETE');
  refuse(response, 405, 'MCP uses POST, GET and DELETE');
}

function isJson(contentType: string): boolean {
  return contentType === 'application/json' || /^application\/json\s*(;|$)/i.test(contentType);
}

function takesStream({ headers }: McpRequest): boolean {
  const { accept = '' } = headers;
  return accept.includes('text/event-stream') || accept.includes('*/*');
}

function isMessage(value: unknown): value is Params {
  return isRecord(value) && value['jsonrpc'] === '2.0';
}

function isId(id: unknown): id is RequestId {
  return typeof id === 'string' || Number.isFinite(id);
}

function nobodyListens(): boolean {
  return false;
}

function unreachable(): Exchange {
  return { send: () => false, onGone: undefined };
}

function always200(): number {
  return 200;
}

function failure(id: RequestId | null, code: number, message: string): JsonRpcMessage {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

function answerFailure(response: McpResponse, id: RequestId | null, thrown: unknown): void {
  const error =
    thrown instanceof RpcFailure ? thrown.toJSON() : { code: RPC_INTERNAL_ERROR, message: 'It failed.' };
  endWith(response, 400, JSON.stringify({ jsonrpc: '2.0', id, error }));
}

/** Responds as the protocol requires: the client has to start a new session. */
function sessionGone(response: McpResponse, id: unknown): void {
  const answer = failure(isId(id) ? id : null, RPC_SESSION_NOT_FOUND, 'This session is not known here');
  endWith(response, 404, JSON.stringify(answer));
}

export function refuse(
  response: McpResponse,
  status: number,
  message: string,
  code: number = RPC_INVALID_REQUEST,
): void {
  endWith(response, status, JSON.stringify(failure(null, code, message)));
}
