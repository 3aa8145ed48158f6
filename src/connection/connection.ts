/** One server's life: it is started, used, lost, started again and ended here, by one owner. */

import type { ServerEntry, ServerSpec } from '../config/entry.ts';
import { isStdio } from '../config/entry.ts';
import { asPlugboardError, forServer, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { holdProcess } from '../lib/hold-process.ts';
import type { Transport } from '../transport/contract.ts';
import type { Implementation, Negotiated } from './eras.ts';
import { type ListKind, type ListResult, listAll } from './listing.ts';
import { type ListEvent, Live } from './live.ts';
import { LogGate, type LogLevel, type LogMessage } from './log-gate.ts';
import { openServer, type Phase, type TransportChoice } from './open.ts';
import type { Params, PeerOwner, RequestOptions } from './peer.ts';
import { type AnswerQuestion, requestWithRounds } from './rounds.ts';
import { type ConnectionState, transition } from './state.ts';
import type { Verdicts } from './verdicts.ts';

/** Lists are asked again this often when a server says that it is busy (F43). */
const MAX_LIST_TRIES = 4;
const MAX_RETRY_AFTER_MS = 10_000;

/** What a connection needs from the host that owns it. */
export interface ConnectionContext {
  readonly clock: Clock;
  /** 0 to 1; injected so that backoff can be tested. */
  readonly random: () => number;
  readonly client: Implementation;
  readonly logLevel: LogLevel;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly verdicts: Verdicts;
  /** The entry with its variables filled in; throws by name when one is missing. */
  readonly expand: (spec: ServerSpec) => ServerEntry;
  readonly transport: (spec: ServerSpec, entry: ServerEntry, choice: TransportChoice) => Promise<Transport>;
  readonly fallsBackToSse: (entry: ServerEntry, error: PlugboardError) => boolean;
  readonly startupTimeoutMs: (entry: ServerEntry) => number;
  /** After how long without work a server is ended until it is needed; undefined: never. */
  readonly restAfterMs: (entry: ServerEntry) => number | undefined;
  /** Answers what a server asks: elicitation, sampling, roots. */
  readonly answer: (server: string, method: string, params: Params, signal?: AbortSignal) => Promise<unknown>;
  readonly sandboxState: () => unknown;
  readonly changed: (connection: Connection) => void;
  readonly listChanged: (connection: Connection, kind: ListEvent) => void;
  readonly resourceUpdated: (connection: Connection, uri: string) => void;
  readonly log: (connection: Connection, message: LogMessage) => void;
}

export class Connection {
  readonly spec: ServerSpec;
  readonly #context: ConnectionContext;
  readonly #log: LogGate;
  readonly #closing = new Set<Promise<void>>();
  #state: ConnectionState;
  #live: Live | undefined;
  #starting: Promise<void> | undefined;
  #attempt: AbortController | undefined;
  #retry: { readonly due: Promise<void>; readonly cancel: () => void } | undefined;
  #phases: readonly Phase[] = [];
  #transportKind: Transport['kind'] | undefined;
  #everConnected = false;
  #closed = false;

  constructor(spec: ServerSpec, initial: ConnectionState, context: ConnectionContext) {
    this.spec = spec;
    this.#state = initial;
    this.#context = context;
    this.#log = new LogGate(context.clock, (message) => context.log(this, message));
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

  get negotiated(): Negotiated | undefined {
    return this.#live?.negotiated;
  }

  get tools(): ListResult | undefined {
    return this.#live?.tools;
  }

  get pid(): number | undefined {
    return this.#live?.peer.transport.pid;
  }

  /** How the bytes really travel, once that is known: an entry for HTTP may have ended on SSE. */
  get transportKind(): Transport['kind'] | undefined {
    return this.#transportKind;
  }

  /** The steps of the last start, with their times. */
  get phases(): readonly Phase[] {
    return this.#phases;
  }

  /** Starts the server unless it is there; many callers share one start. */
  connect(): Promise<void> {
    const refused = this.#refusal();
    if (refused !== undefined) return Promise.reject(refused);
    if (this.#live !== undefined) return Promise.resolve();
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Resolves when no start is under way; never rejects. */
  async settled(): Promise<void> {
    await this.#starting?.catch(() => {});
  }

  /** Connects, or waits for the reconnect that is due; rejects with a reason a person can act on. */
  async ready(signal?: AbortSignal): Promise<void> {
    await this.#need(signal);
  }

  /**
   * One request to the server, connecting first where necessary. Repeated once when it is known that the
   * server never saw it, or when it forgot our session; never otherwise.
   */
  async request(method: string, params: Params, options: RequestOptions = {}): Promise<unknown> {
    const live = this.#live ?? (await this.#need(options.signal));
    try {
      return await this.#send(live, method, params, options);
    } catch (thrown) {
      const error = forServer(asPlugboardError(thrown), this.name);
      if (!this.#canRepeat(live, error)) throw error;
      const again = await this.#need(options.signal);
      try {
        return await this.#send(again, method, params, options);
      } catch (second) {
        throw forServer(asPlugboardError(second), this.name);
      }
    }
  }

  /** A whole list, tried again while the server says that it is busy: lists are safe to repeat. */
  async list(kind: ListKind, signal?: AbortSignal): Promise<ListResult> {
    for (let tries = 1; ; tries += 1) {
      const live = this.#live ?? (await this.#need(signal));
      try {
        return await listAll(live.peer, kind, { signal });
      } catch (thrown) {
        const error = forServer(asPlugboardError(thrown), this.name);
        const { retryAfterMs } = error.detail;
        const busy = retryAfterMs !== undefined && tries < MAX_LIST_TRIES;
        if (!busy && !(tries === 1 && this.#canRepeat(live, error))) throw error;
        if (busy)
          await this.#pause(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) * (1 + this.#context.random() / 4));
      }
    }
  }

  /** Reads the tool list again now and waits for it; what differs has arrived as an event by then. */
  async reread(): Promise<void> {
    await this.#live?.reread();
  }

  /** The resources whose updates a modern server should tell about. */
  watchResources(uris: readonly string[]): void {
    this.#live?.watchResources(uris);
  }

  /** Tells a server that asked for it about a changed sandbox. */
  async pushSandboxState(): Promise<void> {
    await this.#live?.pushSandboxState(this.#context.sandboxState());
  }

  /** Ends the server and starts it again, as after a login; one that is not running stays as it is. */
  async reconnect(): Promise<void> {
    const { status } = this.#state;
    if (status === 'idle' || status === 'disconnected' || this.#refusal() !== undefined) return;
    this.#stop(new PlugboardError('CANCELLED', `${this.name} is connected anew`, { server: this.name }));
    await this.settled();
    if (this.#state.status === 'connected') {
      this.#move(transition(this.#state, { type: 'renew', at: this.#context.clock.now() }));
    }
    await this.connect();
  }

  /** Ends the server by request: it stays away until it is asked for again. */
  async disconnect(): Promise<void> {
    this.#stop(new PlugboardError('CANCELLED', `${this.name} was disconnected`, { server: this.name }));
    this.#move(transition(this.#state, { type: 'disconnect' }));
    await this.#gone();
  }

  /** Ends the server for good. May be called twice. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stop(new PlugboardError('CANCELLED', `${this.name} was closed`, { server: this.name }));
    await this.#gone();
  }

  // Starting.

  async #start(): Promise<void> {
    const { clock } = this.#context;
    this.#retry?.cancel();
    this.#retry = undefined;
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#move(transition(this.#state, { type: 'connect', at: clock.now() }));
    // A replaced connection is closed before its successor opens.
    await this.#gone();
    let cancelTimer = (): void => {};
    try {
      const entry = this.#context.expand(this.spec);
      const limit = this.#context.startupTimeoutMs(entry);
      cancelTimer = clock.after(limit, () => attempt.abort(startTimeout(this.name, limit)));
      await this.#open(entry, attempt.signal);
    } catch (thrown) {
      const error = forServer(asPlugboardError(thrown), this.name);
      this.#broke(error);
      throw error;
    } finally {
      cancelTimer();
    }
  }

  async #open(entry: ServerEntry, signal: AbortSignal): Promise<void> {
    const context = this.#context;
    const phases: Phase[] = [];
    this.#phases = phases;
    let live: Live | undefined;
    const owner: PeerOwner = {
      request: (method, params, abort) => this.#served(live, method, params, abort),
      notification: (method, params) => live?.notified(method, params),
      closed: (error) => {
        if (live !== undefined) this.#lost(live, error ?? gone());
      },
      notice: (notice) => this.#log.pass(notice.level, notice.message),
    };
    const opened = await openServer({
      transport: async (choice) => {
        const transport = await context.transport(this.spec, entry, choice);
        this.#transportKind = transport.kind;
        return transport;
      },
      fallsBackToSse: (error) => context.fallsBackToSse(entry, error),
      owner,
      clock: context.clock,
      client: context.client,
      capabilities: context.capabilities,
      logLevel: context.logLevel,
      verdict: context.verdicts.get(entry),
      signal,
      phases,
      notice: (message) => this.#log.pass('warning', message),
      closing: (done) => this.#track(done),
    });
    if (signal.aborted || this.#closed) {
      this.#track(opened.peer.close());
      throw asPlugboardError(signal.reason, 'CANCELLED');
    }
    context.verdicts.remember(entry, opened.negotiated);
    live = new Live(opened, {
      clock: context.clock,
      random: context.random,
      logLevel: context.logLevel,
      restAfterMs: context.restAfterMs(entry),
      rest: () => this.#goToRest(),
      relist: () => this.list('tools'),
      listChanged: (kind) => context.listChanged(this, kind),
      resourceUpdated: (uri) => context.resourceUpdated(this, uri),
      log: (level, data) => this.#log.pass(level, data),
    });
    this.#live = live;
    this.#everConnected = true;
    this.#move(transition(this.#state, { type: 'opened', at: context.clock.now() }));
    void this.pushSandboxState();
    // It may have died between its last answer and here.
    if (opened.peer.isClosed) this.#lost(live, gone());
  }

  // Living.

  async #send(live: Live, method: string, params: Params, options: RequestOptions): Promise<unknown> {
    live.begin();
    try {
      return await requestWithRounds(live.peer, method, params, options, this.#answer);
    } finally {
      live.end();
    }
  }

  readonly #answer: AnswerQuestion = (method, params, signal) =>
    this.#context.answer(this.name, method, params, signal);

  async #served(
    live: Live | undefined,
    method: string,
    params: Params,
    signal: AbortSignal,
  ): Promise<unknown> {
    // In the legacy era nothing says which call a question belongs to: all clocks wait with the person.
    const resume = live?.peer.pauseClocks();
    try {
      return await this.#answer(method, params, signal);
    } finally {
      resume?.();
    }
  }

  // Ending, and coming back.

  /** True when the request may be sent once more over a new connection, which is then on its way. */
  #canRepeat(live: Live, error: PlugboardError): boolean {
    if (this.#closed) return false;
    if (error.detail.sessionExpired) {
      if (this.#live === live) {
        this.#retire(live);
        this.#move(transition(this.#state, { type: 'renew', at: this.#context.clock.now() }));
        this.connect().catch(() => {});
      }
      return true;
    }
    // Nobody listens at that address any more; the transport itself cannot notice.
    const unreachable = error.code === 'CONNECT_FAILED' && error.detail.notSent === true;
    if (unreachable) this.#lost(live, error);
    return unreachable;
  }

  #goToRest(): void {
    if (this.#live === undefined) return;
    this.#retire(this.#live);
    this.#move(transition(this.#state, { type: 'rest' }));
  }

  #lost(live: Live, error: PlugboardError): void {
    if (this.#live !== live) return;
    this.#retire(live);
    this.#broke(forServer(error, this.name));
  }

  #broke(error: PlugboardError): void {
    const { clock, random } = this.#context;
    const remote = !isStdio(this.spec.entry);
    const retry = !this.#closed && (this.#everConnected || (remote && isOutage(error)));
    this.#move(transition(this.#state, { type: 'broke', at: clock.now(), error, retry, jitter: random() }));
    if (this.#state.status !== 'failed' || this.#state.retryAt === undefined) return;
    const wait = this.#state.retryAt - clock.now();
    let cancelTimer = (): void => {};
    let wake = (): void => {};
    const due = new Promise<void>((resolve) => {
      wake = resolve;
      cancelTimer = clock.after(wait, () => {
        resolve();
        this.connect().catch(() => {});
      });
    });
    const cancel = (): void => {
      cancelTimer();
      wake();
    };
    this.#retry = { due, cancel };
  }

  /** A live connection, started or waited for; rejects with the reason a person can act on. */
  async #need(signal: AbortSignal | undefined): Promise<Live> {
    const state = this.#state;
    if (state.status === 'failed' && state.breaker) throw state.error;
    if (state.status === 'disconnected') {
      throw new PlugboardError('CONNECTION_LOST', `${this.name} is disconnected`, {
        server: this.name,
        hint: `Connect it again first.`,
      });
    }
    // A call during backoff waits for the try that is due instead of hurrying it.
    if (state.status === 'failed' && this.#retry !== undefined) await abortable(this.#retry.due, signal);
    await abortable(this.connect(), signal);
    const live = this.#live;
    if (live === undefined) throw forServer(gone(), this.name);
    return live;
  }

  #stop(reason: PlugboardError): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#attempt?.abort(reason);
    if (this.#live !== undefined) this.#retire(this.#live);
  }

  /** Takes a connection out of use and closes it behind our back. */
  #retire(live: Live): void {
    if (this.#live === live) this.#live = undefined;
    this.#track(live.close());
  }

  #track(done: Promise<void>): void {
    const tracked = done.catch(() => {}).finally(() => this.#closing.delete(tracked));
    this.#closing.add(tracked);
  }

  async #gone(): Promise<void> {
    while (this.#closing.size > 0) await Promise.all(this.#closing);
  }

  #refusal(): PlugboardError | undefined {
    const { name } = this;
    if (this.#closed) return new PlugboardError('CONNECTION_LOST', `${name} was closed`, { server: name });
    if (this.#state.status === 'disabled') {
      return new PlugboardError('BLOCKED_BY_POLICY', `${name} is disabled`, {
        server: name,
        hint: `Enable it with: plugboard enable ${name}`,
      });
    }
    if (this.#state.status === 'blocked' || this.#state.status === 'untrusted') return this.#state.error;
    return undefined;
  }

  #move(next: ConnectionState): void {
    if (next === this.#state) return;
    this.#state = next;
    if (!this.#closed) this.#context.changed(this);
  }

  async #pause(ms: number): Promise<void> {
    const release = holdProcess();
    await new Promise<void>((resolve) => {
      this.#context.clock.after(ms, resolve);
    });
    release();
  }
}

/** Failures that time may mend; what a server refuses for good is not among them. */
function isOutage(error: PlugboardError): boolean {
  return error.code === 'CONNECT_FAILED' || error.code === 'TIMEOUT' || error.code === 'CONNECTION_LOST';
}

function gone(): PlugboardError {
  return new PlugboardError('CONNECTION_LOST', 'the server ended the connection');
}

function startTimeout(name: string, ms: number): PlugboardError {
  return new PlugboardError('TIMEOUT', `${name} did not finish starting within ${ms / 1000} s`, {
    server: name,
    hint: 'Raise startupTimeoutMs if it only needs longer (a first npx download does).',
  });
}

/** Waits for a start or a retry, unless the caller gives up before. */
function abortable(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  const release = holdProcess();
  const held = work.finally(release);
  if (signal === undefined) return held;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(asPlugboardError(signal.reason, 'CANCELLED'));
    };
    if (signal.aborted) {
      held.catch(() => {});
      return onAbort();
    }
    signal.addEventListener('abort', onAbort, { once: true });
    held.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
