/** What exists only while a server is connected: its peer, its newest tool list, and what keeps that list fresh. */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Negotiated } from './eras.ts';
import { freshForMs } from './freshness.ts';
import { type ChangingList, declaresChanges, Subscription } from './listen.ts';
import type { ListResult } from './listing.ts';
import type { LogLevel } from './log-levels.ts';
import type { Opened } from './open.ts';
import { isRemote, type Params, type Peer } from './peer.ts';
import { Refresher } from './refresh.ts';
import { Rest } from './rest.ts';
import { pushSandboxState } from './sandbox-state.ts';

/** Log levels are a wish: a server that does not answer is not waited for. */
const SET_LEVEL_MS = 10_000;
/** Over HTTP, how long requests wait for a changed level: there, two requests have no order. */
const LEVEL_FIRST_MS = 1_000;

export type ListEvent = ChangingList;

export interface LiveHooks {
  readonly clock: Clock;
  readonly random: () => number;
  /** The least severe log messages that are wanted of a legacy server at first. */
  readonly logLevel: LogLevel;
  /** After how long without work `rest` is called; undefined: never. */
  readonly restAfterMs: number | undefined;
  readonly rest: () => void;
  /** Reads the tool list again, with the patience of whoever owns the connection. */
  readonly relist: (live: Live) => Promise<ListResult>;
  readonly listChanged: (kind: ListEvent) => void;
  /** Announcements may have been lost: every list may be another one now. */
  readonly missed: () => void;
  readonly resourceUpdated: (uri: string) => void;
  /** A page that the server had asked to open is done. */
  readonly pageDone: (elicitationId: string) => void;
  /** The server reports the state of a task. */
  readonly taskChanged: (state: Params) => void;
  /** A log message of the server, as its notification carried it. */
  readonly log: (params: Params) => void;
  /** What we say about it. */
  readonly warn: (message: string) => void;
}

export class Live {
  readonly peer: Peer;
  readonly negotiated: Negotiated;
  readonly #hooks: LiveHooks;
  readonly #refresher: Refresher;
  readonly #subscription: Subscription | undefined;
  readonly #rest: Rest | undefined;
  #watching = false;
  #logLevel: LogLevel | undefined;
  #levelSet: Promise<void> | undefined;
  #tools: ListResult;
  #readAt: number;
  /** A listing under way, for all who need a new list. */
  #reading: Promise<boolean> | undefined;
  #closed = false;

  constructor(opened: Opened, hooks: LiveHooks) {
    this.peer = opened.peer;
    this.negotiated = opened.negotiated;
    this.#tools = opened.tools;
    this.#readAt = hooks.clock.now();
    this.#hooks = hooks;
    this.#refresher = new Refresher({ clock: hooks.clock, run: () => this.#readAgain() });
    const { restAfterMs } = hooks;
    this.#rest = restAfterMs === undefined ? undefined : new Rest(hooks.clock, restAfterMs, hooks.rest);
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

  /** Tells a legacy server which log messages are wanted; a modern one learns it from every request. */
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
    const late = new Promise<void>((resolve) => clock.after(LEVEL_FIRST_MS, resolve));
    const settled = Promise.race([set, late]).then(() => {
      if (this.#levelSet === settled) this.#levelSet = undefined;
    });
    this.#levelSet = settled;
  }

  /** Pending while a level that was set may overtake, or be overtaken by, the next request. */
  get levelSet(): Promise<void> | undefined {
    return this.#levelSet;
  }

  /** The newest good list. */
  get tools(): ListResult {
    return this.#tools;
  }

  /** A request is under way: no time to rest. */
  begin(): void {
    this.#rest?.begin();
  }

  end(): void {
    this.#rest?.end();
  }

  /** Reads the tool list again soon; calls in a row become one listing. */
  refresh(): void {
    this.#refresher.request();
  }

  /** Reads the tool list again; a listing that began before does not stand in for it. */
  async reread(): Promise<void> {
    await this.#reading;
    await this.#readAgain();
  }

  /** The tool list is about to be used: one that is stale is read again in the background. */
  freshen(): void {
    if (this.isStale) this.#refresher.expired();
  }

  /** Whether the tool list has to be read again before it says that something is not there. */
  get isStale(): boolean {
    const { era } = this.negotiated;
    const hints = { era, ttlMs: this.#tools.ttlMs, announced: this.announces('tools') };
    const freshMs = freshForMs(hints, Number.POSITIVE_INFINITY);
    return this.#hooks.clock.now() - this.#readAt >= freshMs;
  }

  /** Whether a tool that is not in the list may exist all the same. */
  get mayHaveMore(): boolean {
    return this.isStale || !this.announces('tools');
  }

  /** Whether the server announces changes of a list: declared, and in the modern era also acknowledged. */
  announces(kind: ListEvent): boolean {
    return this.#subscription?.announces(kind) ?? declaresChanges(this.negotiated.capabilities, kind);
  }

  /** Resolves when a modern server has agreed to announce changes of a resource. */
  async agreed(uri: string): Promise<void> {
    await this.#subscription?.agreed(uri);
  }

  /** The resources whose updates a modern server should tell about. */
  watchResources(uris: readonly string[]): void {
    this.#subscription?.watch(uris);
    const watching = uris.length > 0;
    if (watching && !this.#watching) this.begin();
    if (!watching && this.#watching) this.end();
    this.#watching = watching;
  }

  /** The tasks whose states a modern server should report. */
  watchTasks(ids: readonly string[]): void {
    this.#subscription?.watchTasks(ids);
  }

  async pushSandboxState(state: unknown): Promise<void> {
    await pushSandboxState(this.peer, this.negotiated, state).catch((error: unknown) => {
      this.#hooks.warn(`the sandbox state was not taken: ${asPlugboardError(error).message}`);
    });
  }

  notified(method: string, params: Params): void {
    // What belongs to a stream that has ended, or to one of another client, says nothing about ours.
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

  /** Nothing new is begun on it; what is under way may end. */
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

  /** True when the list changed. A listing that fails or is cut keeps the last good one. */
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
