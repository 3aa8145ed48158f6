/** A connected server: its peer, its latest tool list, and the subscription and timers that keep the list fresh. */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { inTime } from '../lib/waits.ts';
import type { Notice } from '../transport/contract.ts';
import type { Negotiated } from './eras.ts';
import { type ChangingList, declaresChanges, Subscription } from './listen.ts';
import type { ListResult } from './listing.ts';
import type { LogLevel } from './log-levels.ts';
import type { Opened } from './open.ts';
import { isRemote, type Params, type Peer, type PeerOwner } from './peer.ts';
import { freshForMs, Refresher } from './refresh.ts';
import type { AnswerQuestion } from './rounds.ts';
import { pushSandboxState } from './sandbox-state.ts';

/** Setting the log level is best effort: how long to wait for the response. */
const SET_LEVEL_MS = 10_000;
/** Over HTTP, how long requests wait for a changed level: HTTP requests have no order. */
const LEVEL_FIRST_MS = 1_000;

export type ListEvent = ChangingList;

export interface LiveHooks {
  readonly clock: Clock;
  readonly random: () => number;
  /** The initial minimum log level for a legacy server. */
  readonly logLevel: LogLevel;
  /** Idle time after which `rest` is called; undefined: never. */
  readonly idleAfterMs: number | undefined;
  readonly rest: () => void;
  /** Reads the tool list again, with the connection owner's retries. */
  readonly relist: (live: Live) => Promise<ListResult>;
  readonly listChanged: (kind: ListEvent) => void;
  /** Change notifications may have been lost: every list may have changed. */
  readonly missed: () => void;
  readonly resourceUpdated: (uri: string) => void;
  /** The page of a URL elicitation is complete. */
  readonly pageDone: (elicitationId: string) => void;
  /** The server reports the state of a task. */
  readonly taskChanged: (state: Params) => void;
  /** A log message of the server: the params of its notification. */
  readonly log: (params: Params) => void;
  /** Logs one of our own warnings about the server. */
  readonly warn: (message: string) => void;
}

export class Live {
  readonly peer: Peer;
  readonly negotiated: Negotiated;
  readonly #hooks: LiveHooks;
  readonly #refresher: Refresher;
  readonly #subscription: Subscription | undefined;
  readonly #rest: IdleTimer | undefined;
  #watching = false;
  #logLevel: LogLevel | undefined;
  #levelSet: Promise<void> | undefined;
  #tools: ListResult;
  #readAt: number;
  /** A listing in progress, shared by all callers that need a new list. */
  #reading: Promise<boolean> | undefined;
  #closed = false;

  constructor(opened: Opened, hooks: LiveHooks) {
    this.peer = opened.peer;
    this.negotiated = opened.negotiated;
    this.#tools = opened.tools;
    this.#readAt = hooks.clock.now();
    this.#hooks = hooks;
    this.#refresher = new Refresher({ clock: hooks.clock, run: () => this.#readAgain() });
    const { idleAfterMs } = hooks;
    this.#rest = idleAfterMs === undefined ? undefined : new IdleTimer(hooks.clock, idleAfterMs, hooks.rest);
    const { cut, remark } = opened.tools;
    if (cut !== undefined) hooks.warn(`the tool list was cut short: ${cut}`);
    if (remark !== undefined) hooks.warn(`the tool list: ${remark}`);
    this.#subscription =
      this.negotiated.era === 'modern'
        ? new Subscription(this.peer, {
            clock: hooks.clock,
            random: hooks.random,
            capabilities: this.negotiated.capabilities,
            warn: hooks.warn,
            resumed: () => {
              this.refresh();
              hooks.missed();
            },
          })
        : undefined;
    this.setLogLevel(hooks.logLevel);
  }

  /** Sends the minimum log level to a legacy server; a modern server gets it with every request. */
  setLogLevel(level: LogLevel): void {
    const { era, capabilities } = this.negotiated;
    if (era === 'modern' || capabilities['logging'] === undefined) return;
    if (level === this.#logLevel || this.#closed) return;
    this.#logLevel = level;
    const { clock } = this.#hooks;
    const set = this.peer
      .request('logging/setLevel', { level }, { idleMs: SET_LEVEL_MS })
      .then(() => {})
      .catch(() => {});
    if (!isRemote(this.peer.transport)) return;
    const settled = inTime(set, LEVEL_FIRST_MS, clock, undefined).then(() => {
      if (this.#levelSet === settled) this.#levelSet = undefined;
    });
    this.#levelSet = settled;
  }

  /** Pending while a `logging/setLevel` request and the next request could arrive out of order. */
  get levelSet(): Promise<void> | undefined {
    return this.#levelSet;
  }

  /** The latest complete list. */
  get tools(): ListResult {
    return this.#tools;
  }

  /** A request is in progress: the server is not idle. */
  begin(): void {
    this.#rest?.begin();
  }

  end(): void {
    this.#rest?.end();
  }

  /** Schedules a refresh of the tool list; calls in a row cause one listing. */
  refresh(): void {
    this.#refresher.request();
  }

  /** Reads the tool list again; a listing that is already in progress is not reused. */
  async reread(): Promise<void> {
    await this.#reading;
    await this.#readAgain();
  }

  /** Called before the tool list is used: refreshes a stale list in the background. */
  freshen(): void {
    if (this.isStale) this.#refresher.expired();
  }

  /** Reads the tools again in the background, whether they are stale or not. */
  relist(): void {
    this.#refresher.request();
  }

  /** Whether the tool list must be read again before a tool can be reported as missing. */
  get isStale(): boolean {
    const { era } = this.negotiated;
    const hints = { era, ttlMs: this.#tools.ttlMs, announced: this.announces('tools') };
    const freshMs = freshForMs(hints, Number.POSITIVE_INFINITY);
    return this.#hooks.clock.now() - this.#readAt >= freshMs;
  }

  /** Whether a tool that is not in the list may exist. */
  get mayHaveMore(): boolean {
    return this.isStale || !this.announces('tools');
  }

  /** Whether the server announces changes of a list: declared, and in the modern era also acknowledged. */
  announces(kind: ListEvent): boolean {
    return this.#subscription?.announces(kind) ?? declaresChanges(this.negotiated.capabilities, kind);
  }

  /** Resolves when a modern server has acknowledged changes of a resource. */
  async agreed(uri: string): Promise<void> {
    await this.#subscription?.agreed(uri);
  }

  /** Sets the resources whose updates a modern server should announce. */
  watchResources(uris: readonly string[]): void {
    this.#subscription?.watch(uris);
    const watching = uris.length > 0;
    if (watching && !this.#watching) this.begin();
    if (!watching && this.#watching) this.end();
    this.#watching = watching;
  }

  /** Sets the tasks whose states a modern server should report. */
  watchTasks(ids: readonly string[]): void {
    this.#subscription?.watchTasks(ids);
  }

  async pushSandboxState(state: unknown): Promise<void> {
    await pushSandboxState(this.peer, this.negotiated, state).catch((error: unknown) => {
      this.#hooks.warn(`the sandbox state was not taken: ${asPlugboardError(error).message}`);
    });
  }

  notified(method: string, params: Params): void {
    // Ignore notifications of streams that have ended or belong to another client.
    if (this.#subscription?.owns(params) === false) return;
    switch (method) {
      case 'notifications/tools/list_changed':
        this.refresh();
        break;
      case 'notifications/resources/list_changed':
        this.#hooks.listChanged('resources');
        break;
      case 'notifications/prompts/list_changed':
        this.#hooks.listChanged('prompts');
        break;
      case 'notifications/subscriptions/acknowledged':
        for (const uri of this.#subscription?.acknowledged(params) ?? [])
          this.#hooks.warn(`it no longer announces changes of ${uri}`);
        break;
      case 'notifications/resources/updated':
        if (typeof params['uri'] === 'string') this.#hooks.resourceUpdated(params['uri']);
        break;
      case 'notifications/elicitation/complete':
        if (typeof params['elicitationId'] === 'string') this.#hooks.pageDone(params['elicitationId']);
        break;
      case 'notifications/tasks':
      case 'notifications/tasks/status':
        this.#hooks.taskChanged(params);
        break;
      case 'notifications/message':
        this.#hooks.log(params);
        break;
    }
  }

  /** Starts nothing new on this connection; pending requests may finish. */
  retire(): void {
    this.#closed = true;
    this.#refresher.stop();
    this.#rest?.stop();
    this.#subscription?.stop();
  }

  close(): Promise<void> {
    this.retire();
    return this.peer.close();
  }

  /** Returns true if the list changed. Keeps the previous list if the listing fails or is incomplete. */
  #readAgain(): Promise<boolean> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<boolean> {
    try {
      const next = await this.#hooks.relist(this);
      if (this.#closed) return false;
      if (next.cut !== undefined) throw new PlugboardError('LIMIT_EXCEEDED', next.cut);
      this.#readAt = this.#hooks.clock.now();
      const isSame = JSON.stringify(next.items) === JSON.stringify(this.#tools.items);
      this.#tools = next;
      if (isSame) return false;
      this.#hooks.listChanged('tools');
      return true;
    } catch (error) {
      if (this.#closed) return false;
      this.#hooks.warn(`the tool list could not be read again: ${asPlugboardError(error).message}`);
      return false;
    }
  }
}

/** Detects that a server is idle, so that it can be stopped until it is needed again. */
class IdleTimer {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #rest: () => void;
  #busy = 0;
  #usedAt: number;
  #cancelTimer: () => void;

  constructor(clock: Clock, afterMs: number, rest: () => void) {
    this.#clock = clock;
    this.#afterMs = afterMs;
    this.#rest = rest;
    this.#usedAt = clock.now();
    this.#cancelTimer = clock.after(afterMs, () => this.#check());
  }

  begin(): void {
    this.#busy += 1;
  }

  end(): void {
    this.#busy -= 1;
    this.#usedAt = this.#clock.now();
  }

  stop(): void {
    this.#cancelTimer();
  }

  /** Reschedules one timer instead of moving a timer on every call. */
  #check(): void {
    const idleFor = this.#clock.now() - this.#usedAt;
    if (this.#busy === 0 && idleFor >= this.#afterMs) {
      this.#rest();
      return;
    }
    const wait = this.#busy > 0 ? this.#afterMs : this.#afterMs - idleFor;
    this.#cancelTimer = this.#clock.after(wait, () => this.#check());
  }
}

/** Tracks connections that are closing; their successor and `close()` wait for them. */
export class ClosingConnections {
  readonly #closing = new Set<Promise<void>>();
  /** Connections that were replaced while calls ran on them. */
  readonly #draining = new Set<Live>();

  /** Closes the connection now. */
  close(live: Live): void {
    this.#draining.delete(live);
    this.track(live.close());
  }

  /** For connections without a process: closes after the pending responses have arrived. */
  drain(live: Live): void {
    live.retire();
    this.#draining.add(live);
    void live.peer.idle().then(() => {
      if (this.#draining.has(live)) this.close(live);
    });
  }

  hurry(): void {
    for (const live of this.#draining) this.close(live);
  }

  track(done: Promise<void>): void {
    const tracked = done.catch(() => {}).finally(() => this.#closing.delete(tracked));
    this.#closing.add(tracked);
  }

  /** Resolves when all tracked connections are closed. */
  async gone(): Promise<void> {
    while (this.#closing.size > 0) await Promise.all(this.#closing);
  }
}

/** Further notifications before the connection is established are dropped. */
const MAX_EARLY_NOTIFICATIONS = 100;

interface ServerReceiverHooks {
  readonly answer: AnswerQuestion;
  readonly lost: (live: Live, error: PlugboardError | undefined) => void;
  readonly notice: (notice: Notice) => void;
}

/** Receives a server's messages from its first byte on, and buffers notifications until it is connected. */
export class ServerReceiver implements PeerOwner {
  readonly #hooks: ServerReceiverHooks;
  #early: [method: string, params: Params][] = [];
  #live: Live | undefined;
  #endedBy: PlugboardError | undefined;

  constructor(hooks: ServerReceiverHooks) {
    this.#hooks = hooks;
  }

  /** The server is connected: forwards buffered and all further notifications to `live`. */
  settle(live: Live): void {
    this.#live = live;
    for (const [method, params] of this.#early) live.notified(method, params);
    this.#early = [];
    // The server may have exited after its last response.
    if (live.peer.isClosed) this.#hooks.lost(live, this.#endedBy);
  }

  async request(method: string, params: Params, signal: AbortSignal): Promise<unknown> {
    // In the legacy era a question is not linked to a call: pause the timeouts of all calls while the person is asked.
    const resume = this.#live?.peer.pauseClocks();
    try {
      return await this.#hooks.answer(method, params, signal);
    } finally {
      resume?.();
    }
  }

  notification(method: string, params: Params): void {
    if (this.#live !== undefined) this.#live.notified(method, params);
    else if (this.#early.length < MAX_EARLY_NOTIFICATIONS) this.#early.push([method, params]);
  }

  closed(error?: PlugboardError): void {
    this.#endedBy = error;
    if (this.#live !== undefined) this.#hooks.lost(this.#live, error);
  }

  notice(notice: Notice): void {
    this.#hooks.notice(notice);
  }
}
