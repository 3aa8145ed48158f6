/** The lifecycle of one server connection: start, use, loss, reconnect and close. */

import { isRemote, type ServerEntry, type ServerSpec } from '../config/entry.ts';
import { TRANSPORTS, type TransportKind } from '../config/transport-kinds.ts';
import { asPlugboardError, forServer, type PlugboardError } from '../errors.ts';
import { whileOpen } from '../lib/cancellation.ts';
import { ticksOf } from '../lib/clock.ts';
import { decideRetry, isSignedOut } from '../lib/retry.ts';
import { fallsBackToSse } from '../transport/create-transport.ts';
import { type Alarm, abortable, setAlarm } from './alarm.ts';
import type { ConnectionContext } from './connection-context.ts';
import type { Negotiated } from './eras.ts';
import type { ListKind, ListResult } from './listing.ts';
import { RetryingLister } from './listing.ts';
import { ClosingConnections, Live, ServerReceiver } from './live-connection.ts';
import { LogGate } from './log-gate.ts';
import type { LogLevel } from './log-levels.ts';
import { openServer, type Phase } from './open.ts';
import type { Params, RequestOptions } from './peer.ts';
import { absenceOf, byRequest, gone, refusalOf, startTimeout } from './reasons.ts';
import { type AnswerQuestion, asksForInput, finishRounds } from './rounds.ts';
import { type ConnectionState, transition } from './state.ts';

/** A start in progress. Once aborted it is ending, and a new start may follow it. */
interface Start {
  readonly attempt: AbortController;
  readonly done: Promise<void>;
}

export class Connection {
  readonly spec: ServerSpec;
  readonly #context: ConnectionContext;
  readonly #log: LogGate;
  /** Separate from the server's own log, so that its rate limit never drops our messages about the server. */
  readonly #notices: LogGate;
  readonly #closingConnections = new ClosingConnections();
  readonly #lister: RetryingLister;
  readonly #answer: AnswerQuestion;
  #state: ConnectionState;
  #live: Live | undefined;
  #starting: Start | undefined;
  #retry: Alarm | undefined;
  #phases: readonly Phase[] = [];
  #transportKind: TransportKind | undefined;
  #everConnected = false;
  readonly #watchedTasks: string[] = [];
  #closed = false;

  constructor(spec: ServerSpec, initial: ConnectionState, context: ConnectionContext) {
    this.spec = spec;
    this.#state = initial;
    this.#context = context;
    this.#log = new LogGate(context.clock, (message) => context.logged(this, message));
    this.#notices = new LogGate(context.clock, (message) => context.logged(this, message));
    this.#lister = new RetryingLister({ clock: context.clock, random: Math.random });
    this.#answer = context.questions.of(this);
  }

  get name(): string {
    return this.spec.name;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get isLive(): boolean {
    return this.#live !== undefined;
  }

  /** The state that exists only while the server is connected. */
  get live(): Live | undefined {
    return this.#live;
  }

  get negotiated(): Negotiated | undefined {
    return this.#live?.negotiated;
  }

  get tools(): ListResult | undefined {
    return this.#live?.tools;
  }

  get pid(): number | undefined {
    return this.#live?.peer.transport.pid;
  }

  /** The transport in use, once connected: an HTTP entry may have fallen back to SSE. */
  get transportKind(): TransportKind | undefined {
    return this.#transportKind;
  }

  /** Whether requests carry the arguments that a tool mirrors into headers. */
  get mirrorsHeaders(): boolean {
    return this.#transportKind !== undefined && TRANSPORTS[this.#transportKind].mirrorsHeaders === true;
  }

  /** The phases of the last start, with their durations. */
  get phases(): readonly Phase[] {
    return this.#phases;
  }

  /** Starts the server unless it is connected; concurrent callers share one start. */
  connect(): Promise<void> {
    const refused = refusalOf(this.name, this.#state, this.#closed);
    if (refused !== undefined) return Promise.reject(refused);
    if (this.#live !== undefined) return Promise.resolve();
    if (this.#starting === undefined || this.#starting.attempt.signal.aborted) this.#begin(this.#starting);
    return this.#joined();
  }

  /** Connects, or waits for the scheduled reconnect; rejects with an actionable error. */
  async ready(signal?: AbortSignal): Promise<void> {
    await this.#need(signal);
  }

  /**
   * Sends one request to the server and connects first if necessary. Repeats it once if the server never received it or
   * has forgotten our session; never otherwise.
   */
  request(method: string, params: Params, options: RequestOptions = {}): Promise<unknown> {
    const live = this.#live;
    return live === undefined || live.levelSet !== undefined
      ? this.#requestLater(method, params, options)
      : this.#requestNow(live, method, params, options);
  }

  async #requestLater(
    method: string,
    params: Params,
    options: RequestOptions,
    repeated?: true,
  ): Promise<unknown> {
    const live = this.#live ?? (await whileOpen(options, options.until, (signal) => this.#need(signal)));
    if (live.levelSet !== undefined) await live.levelSet;
    return this.#requestNow(live, method, params, options, repeated);
  }

  /** Without `async`: every call takes this path, and each promise on it has a cost. */
  #requestNow(
    live: Live,
    method: string,
    params: Params,
    options: RequestOptions,
    repeated?: true,
  ): Promise<unknown> {
    const { peer } = live;
    const startedAt = peer.now();
    const failed = (thrown: unknown): Promise<unknown> => {
      live.end();
      const error = forServer(asPlugboardError(thrown), this.name);
      if (repeated === true || !this.#canRepeat(live, error)) throw error;
      return this.#requestLater(method, params, options, true);
    };
    live.begin();
    return peer.request(method, params, options).then((first) => {
      if (asksForInput(first)) {
        const asking = { method, params, options, answer: this.#answer, startedAt, first };
        return finishRounds(peer, asking).then((result) => {
          live.end();
          return result;
        }, failed);
      }
      live.end();
      return first;
    }, failed);
  }

  /** Sends a notification and connects first if necessary; resolves when it is sent. */
  async notify(method: string, params: Params, signal?: AbortSignal): Promise<void> {
    const live = this.#live ?? (await this.#need(signal));
    live.begin();
    try {
      await live.peer.notify(method, params);
    } catch (thrown) {
      throw forServer(asPlugboardError(thrown), this.name);
    } finally {
      live.end();
    }
  }

  /** Reads a whole list, and retries while the server reports that it is busy: lists are safe to repeat. */
  async list(kind: ListKind, signal?: AbortSignal): Promise<ListResult> {
    const live = this.#live ?? (await this.#need(signal));
    try {
      return await this.#lister.list(live.peer, kind, signal);
    } catch (thrown) {
      const error = forServer(asPlugboardError(thrown), this.name);
      if (!this.#canRepeat(live, error)) throw error;
      return await this.#lister.list((await this.#need(signal)).peer, kind, signal);
    }
  }

  /** Reads the tool list again now; changes have been emitted as an event when this resolves. */
  async reread(): Promise<void> {
    await this.#live?.reread();
  }

  /** Sets the resources whose updates a modern server should announce. */
  watchResources(uris: readonly string[]): void {
    this.#live?.watchResources(uris);
  }

  /** Makes a modern server report the states of a task until the returned function is called. */
  watchTask(taskId: string): () => void {
    this.#watchedTasks.push(taskId);
    this.#live?.watchTasks(this.#watchedTasks);
    return () => {
      const at = this.#watchedTasks.indexOf(taskId);
      if (at >= 0) this.#watchedTasks.splice(at, 1);
      this.#live?.watchTasks(this.#watchedTasks);
    };
  }

  /** Keeps the server from being stopped for idleness until the returned function is called. */
  hold(): () => void {
    const live = this.#live;
    let isHeld = live !== undefined;
    live?.begin();
    return () => {
      if (isHeld) live?.end();
      isHeld = false;
    };
  }

  /** Sets the minimum log level requested from a legacy server. */
  setLogLevel(level: LogLevel): void {
    this.#live?.setLogLevel(level);
  }

  /** Notifies a legacy server that the roots have changed; it requests them again if it needs them. */
  rootsChanged(): void {
    const live = this.#live;
    if (live?.negotiated.era !== 'legacy') return;
    live.peer.notify('notifications/roots/list_changed').catch(() => {});
  }

  /** Sends the sandbox state to a server that declared support for it. */
  async pushSandboxState(): Promise<void> {
    await this.#live?.pushSandboxState(this.#context.sandboxState());
  }

  /** Stops the server and starts it again, for example after a login; does nothing if it is not running. */
  async reconnect(): Promise<void> {
    const { status } = this.#state;
    if (status === 'idle' || status === 'disconnected') return;
    if (refusalOf(this.name, this.#state, this.#closed) !== undefined) return;
    this.#stop(byRequest(this.name, 'is being reconnected'));
    this.#move(transition(this.#state, { type: 'renew', at: ticksOf(this.#context.clock) }));
    await this.connect();
  }

  /** Stops the server on request; calls do not start it again, only an explicit connect does. */
  async disconnect(): Promise<void> {
    await this.#end('was disconnected');
  }

  /** Stops an idle server until the next call needs it. */
  rest(): void {
    if (this.#live === undefined) return;
    this.#retire(this.#live);
    this.#move(transition(this.#state, { type: 'rest' }));
  }

  /** Closes the connection for good and emits no further events. May be called twice. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end('was closed');
  }

  // Start.

  #begin(before: Start | undefined): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    const attempt = new AbortController();
    const done = this.#start(attempt, before).finally(() => {
      if (this.#starting?.attempt === attempt) this.#starting = undefined;
    });
    done.catch(() => {}); // each waiting caller gets the rejection
    this.#starting = { attempt, done };
    this.#move(transition(this.#state, { type: 'connect', at: ticksOf(this.#context.clock) }));
  }

  /** Waits for the current start, and for its replacement if it was aborted in favour of a new start. */
  async #joined(): Promise<void> {
    for (;;) {
      const start = this.#starting;
      if (start === undefined) return;
      try {
        return await start.done;
      } catch (error) {
        if (this.#starting === undefined) throw error;
      }
    }
  }

  async #start(attempt: AbortController, before: Start | undefined): Promise<void> {
    const { clock } = this.#context;
    await before?.done.catch(() => {});
    // A replaced connection is closed before its successor opens.
    await this.#closingConnections.gone();
    let cancelTimer = (): void => {};
    let entry: ServerEntry | undefined;
    try {
      attempt.signal.throwIfAborted();
      entry = await this.#context.expand(this.spec);
      attempt.signal.throwIfAborted();
      const limit = this.#context.startupTimeoutMs(entry);
      const isProgram = 'command' in entry;
      cancelTimer = clock.after(limit, () => attempt.abort(startTimeout(this.name, limit, isProgram)));
      await this.#open(entry, attempt.signal);
    } catch (thrown) {
      const error = forServer(asPlugboardError(thrown), this.name);
      if (entry !== undefined && error.code !== 'CANCELLED' && !isSignedOut(error)) {
        this.#context.eraCache(this.spec).forget(entry);
      }
      // A start that was replaced by a newer one must not set the state.
      if (this.#starting?.attempt === attempt) this.#broke(error);
      throw error;
    } finally {
      cancelTimer();
    }
  }

  async #open(entry: ServerEntry, signal: AbortSignal): Promise<void> {
    const context = this.#context;
    const phases: Phase[] = [];
    this.#phases = phases;
    const receiver = new ServerReceiver({
      answer: this.#answer,
      lost: (live, error) => this.#lost(live, error ?? gone()),
      notice: ({ level, message }) => (level === 'warning' ? this.#notices : this.#log).pass(level, message),
    });
    let aheadMs = 0;
    const opened = await openServer({
      transport: async (choice) => {
        const transport = await context.openTransport(this.spec, entry, choice);
        this.#transportKind = transport.kind;
        aheadMs = transport.aheadMs ?? 0;
        return transport;
      },
      fallsBackToSse: (error) => fallsBackToSse(entry, error),
      owner: receiver,
      clock: context.clock,
      client: context.client,
      capabilities: context.capabilities(),
      logLevel: context.logLevel(),
      verdict: context.eraCache(this.spec).get(entry),
      signal,
      phases,
      notice: (message) => this.#notices.pass('warning', message),
      closing: (done) => this.#closingConnections.track(done),
    });
    if (signal.aborted || this.#closed) {
      this.#closingConnections.track(opened.peer.close());
      throw asPlugboardError(signal.reason, 'CANCELLED');
    }
    if (opened.certain) context.eraCache(this.spec).remember(entry, opened.negotiated);
    const live = new Live(opened, {
      clock: context.clock,
      random: Math.random,
      logLevel: context.logLevel(this),
      idleAfterMs: context.idleAfterMs(entry),
      rest: () => this.rest(),
      relist: (whose) => this.#relist(whose),
      listChanged: (kind) => context.listChanged(this, kind),
      missed: () => context.notificationsMissed(this),
      resourceUpdated: (uri) => context.resourceUpdated(this, uri),
      pageDone: (elicitationId) => context.pageDone(this, elicitationId),
      taskChanged: (state) => context.taskChanged(this, state),
      log: (params) => this.#log.passNotification(params),
      warn: (message) => this.#notices.pass('warning', message),
    });
    this.#live = live;
    if (this.#watchedTasks.length > 0) live.watchTasks(this.#watchedTasks);
    this.#everConnected = true;
    this.#move(transition(this.#state, { type: 'opened', at: ticksOf(context.clock), aheadMs }));
    void this.pushSandboxState();
    receiver.settle(live);
  }

  // Refresh.

  /** Reads the tool list for `live`. On an outage the new connection reads the list itself. */
  async #relist(live: Live): Promise<ListResult> {
    try {
      return await this.#lister.list(live.peer, 'tools');
    } catch (error) {
      this.#canRepeat(live, asPlugboardError(error));
      throw error;
    }
  }

  // Stop and reconnect.

  /** True if the request may be repeated over a new connection; that connection is then being opened. */
  #canRepeat(live: Live, error: PlugboardError): boolean {
    if (this.#closed) return false;
    const decision = decideRetry('request', error);
    switch (decision) {
      case 'renew':
        if (this.#live === live) {
          this.#drain(live);
          this.#move(transition(this.#state, { type: 'renew', at: ticksOf(this.#context.clock) }));
          this.connect().catch(() => {});
        }
        return true;
      case 'reconnect':
      case 'disconnect':
        // The transport itself cannot detect these failures.
        if (this.#live === live) {
          this.#drain(live);
          this.#broke(forServer(error, this.name));
        }
        return decision === 'reconnect';
      case 'check':
        if (!live.peer.isClosed) live.refresh();
        return false;
      case 'fail':
        return false;
      default:
        return decision satisfies never;
    }
  }

  #lost(live: Live, error: PlugboardError): void {
    if (this.#live === live && error.detail.atRest) this.rest();
    if (this.#live !== live) return;
    this.#retire(live);
    this.#broke(forServer(error, this.name));
  }

  #broke(error: PlugboardError): void {
    const { clock } = this.#context;
    const remote = isRemote(this.spec.entry);
    const retry =
      !this.#closed && (this.#everConnected || (remote && decideRetry('start', error) === 'repeat'));
    this.#move(
      transition(this.#state, { type: 'broke', at: ticksOf(clock), error, retry, jitter: Math.random() }),
    );
    if (this.#state.status !== 'failed' || this.#state.retryAt === undefined) return;
    this.#retry = setAlarm(clock, this.#state.retryAt - ticksOf(clock), () => {
      this.connect().catch(() => {});
    });
  }

  /** Returns a live connection, after a start or a wait if necessary; rejects with an actionable error. */
  async #need(signal: AbortSignal | undefined): Promise<Live> {
    for (;;) {
      const absent = absenceOf(this.name, this.#state);
      if (absent !== undefined) throw absent;
      if (this.#state.status !== 'failed' || this.#retry === undefined) break;
      // A call during backoff waits for the scheduled retry and does not trigger one early.
      await abortable(this.#retry.due, signal);
    }
    await abortable(this.connect(), signal);
    const live = this.#live;
    if (live === undefined) throw absenceOf(this.name, this.#state) ?? forServer(gone(), this.name);
    return live;
  }

  async #end(how: string): Promise<void> {
    const start = this.#starting;
    this.#stop(byRequest(this.name, how));
    this.#move(transition(this.#state, { type: 'disconnect' }));
    await start?.done.catch(() => {});
    await this.#closingConnections.gone();
  }

  #stop(reason: PlugboardError): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#lister.hurry();
    this.#starting?.attempt.abort(reason);
    if (this.#live !== undefined) this.#retire(this.#live);
    this.#closingConnections.hurry();
  }

  #drain(live: Live): void {
    this.#live = undefined;
    this.#closingConnections.drain(live);
  }

  #retire(live: Live): void {
    if (this.#live === live) this.#live = undefined;
    this.#closingConnections.close(live);
  }

  #move(next: ConnectionState): void {
    if (next === this.#state) return;
    this.#state = next;
    if (!this.#closed) this.#context.stateChanged(this);
  }
}
