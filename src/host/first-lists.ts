/**
 * Lists without long waits: known items at once, new servers within a limit, and an event for later arrivals
 * (CON-16).
 */

import { isDeepStrictEqual } from 'node:util';
import { awaitedOwnerOf } from '../call/absent-server.ts';
import type { ContentList } from '../catalog/content-lists.ts';
import type { LastFailures } from '../catalog/last-failures.ts';
import { withCommands } from '../catalog/prompt-commands.ts';
import type { ListedPrompt } from '../catalog/prompts.ts';
import { presentResource, presentTemplate, type ResourceListing } from '../catalog/resources.ts';
import type { ServerSpec } from '../config/entry.ts';
import { DEFAULT_FIRST_LIST_WAIT_MS } from '../config/limits.ts';
import { setAlarm } from '../connection/alarm.ts';
import type { Connection } from '../connection/connection.ts';
import type { ListKind } from '../connection/listing.ts';
import { asPlugboardError, forServer, PlugboardError } from '../errors.ts';
import { ticksOf } from '../lib/clock.ts';
import { holdProcess } from '../lib/hold-process.ts';
import type { HostCore } from './host-core.ts';

/** Returns how long a caller waits for servers that are contacted for the first time; called only if there are any. */
export type ListWait = () => number | Promise<number>;

/** Servers whose lists are unknown, each with the reason. */
export interface Unreached {
  readonly unreached: readonly PlugboardError[];
}

type ContentKind = Exclude<ListKind, 'tools'>;

interface Gathered<T> extends Unreached {
  readonly found: readonly { readonly server: string; readonly item: T }[];
}

export class FirstLists {
  readonly #core: HostCore;
  /** The items last returned for each list, by server. */
  readonly #given = new Map<ContentKind, Map<string, readonly unknown[]>>();

  constructor(core: HostCore) {
    this.#core = core;
  }

  /** The configured wait; undefined if the configuration has none. */
  get configuredWaitMs(): number | undefined {
    return this.#core.config.settings.firstListWaitMs;
  }

  get waitMs(): number {
    return this.configuredWaitMs ?? DEFAULT_FIRST_LIST_WAIT_MS;
  }

  /**
   * Waits for the tools of servers that are contacted for the first time; undefined if there are none. `applies`: only
   * these servers.
   */
  tools(listWait: ListWait, applies?: (server: string) => boolean): Promise<void> | undefined {
    const { contact } = this.#core;
    if (!contact.isAwaited(applies)) return undefined;
    return (async () => contact.settled(await listWait(), applies))();
  }

  /** Returns servers whose tools are currently unknown, except those disabled or blocked by a person or a policy. */
  unreached(): readonly PlugboardError[] {
    return this.#candidates()
      .filter(({ name }) => !this.#core.isKnown(name))
      .map((connection) => this.#reasonOf(connection));
  }

  /** Whether the last start of a server failed, in this host or an earlier one. */
  failedLastTime(server: string): boolean {
    return this.#core.contact.lastFailure(server) !== undefined;
  }

  async resources(listWait: ListWait, only?: readonly string[]): Promise<ResourceListing & Unreached> {
    const { lists } = this.#core.content;
    const [resources, templates] = await Promise.all([
      this.#gather(lists.resources, listWait, only),
      this.#gather(lists.templates, listWait, only),
    ]);
    return {
      resources: resources.found.map(({ server, item }) => presentResource(server, item)),
      templates: templates.found.map(({ server, item }) => presentTemplate(server, item)),
      unreached: resources.unreached,
    };
  }

  async prompts(
    listWait: ListWait,
    only?: readonly string[],
  ): Promise<Unreached & { readonly prompts: readonly ListedPrompt[] }> {
    const { content, catalog } = this.#core;
    const { found, unreached } = await this.#gather(content.lists.prompts, listWait, only);
    return { prompts: withCommands(found, catalog.naming), unreached };
  }

  /**
   * Waits for the one server that a tool of this name could belong to; undefined if there is none to wait for.
   * `applies`: only these servers.
   */
  arrival(name: string, applies: (server: string) => boolean = () => true): Promise<void> | undefined {
    const { pool, catalog } = this.#core;
    const unknown = pool
      .all()
      .filter(
        ({ name: server, state }) =>
          (state.status === 'connecting' || state.status === 'idle') &&
          !this.#core.isKnown(server) &&
          applies(server),
      );
    return awaitedOwnerOf(name, catalog.naming, unknown)
      ?.connect()
      .catch(() => {});
  }

  /** Handles a new connection: clients that listed before are notified if it adds to their list. */
  connected(connection: Connection): void {
    if (this.#core.pool.get(connection.name) !== connection) return;
    const { resources, templates, prompts } = this.#core.content.lists;
    for (const list of [resources, templates, prompts]) {
      if (this.#given.has(list.kind)) void this.#refresh(list, connection);
    }
  }

  /** Handles a list that was read from its server. */
  read(kind: ContentKind, connection: Connection, items: readonly unknown[], isNews: boolean): void {
    const { name } = connection;
    this.#core.contact.listRead(connection, kind);
    const given = this.#given.get(kind);
    const isChanged = given === undefined ? isNews : !isDeepStrictEqual(given.get(name) ?? [], items);
    if (!isChanged) return;
    given?.set(name, items);
    this.#core.events.emit(kind === 'prompts' ? 'prompts' : 'resources', { server: name });
  }

  async #gather<T>(list: ContentList<T>, listWait: ListWait, only?: readonly string[]): Promise<Gathered<T>> {
    const wanted = this.#candidates().filter(({ name }) => only === undefined || only.includes(name));
    const denials = wanted.flatMap(({ name }) => this.#core.approvals.contentDenial(name) ?? []);
    const asked = wanted
      .filter(({ name }) => !denials.some(({ server }) => server === name))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    await Promise.all(asked.map((connection) => this.#bringUp(list, connection, listWait)));
    const given = this.#given.get(list.kind) ?? new Map<string, readonly unknown[]>();
    this.#given.set(list.kind, given);
    // A list of all servers omits them; a list of one server returns why it is empty.
    const unreached: PlugboardError[] = only?.length === 1 ? denials : [];
    const found = asked.flatMap((connection) => {
      const { name: server } = connection;
      const known = list.knownNow(connection);
      given.set(server, known?.items ?? []);
      if (known !== undefined) {
        // Idle servers are not started to refresh an old list: it is reread when they connect.
        if (known.state === 'old' && connection.isLive) void this.#refresh(list, connection);
        return known.items.map((item) => ({ server, item }));
      }
      if (!this.#core.loader.lacked(server, list.capability)) unreached.push(this.#reasonOf(connection));
      return [];
    });
    return { found, unreached };
  }

  /** Resolves when the list of a server is known, or when its wait is over. */
  async #bringUp<T>(list: ContentList<T>, connection: Connection, listWait: ListWait): Promise<void> {
    const known = await list.known(connection);
    if (known?.state === 'good' || known?.state === 'old') return;
    const { name, state } = connection;
    const { contact } = this.#core;
    if (known === undefined && !connection.isLive && this.#core.loader.lacked(name, list.capability)) return;
    // A server that failed last time is not started for a list; it may already be connecting.
    const isOnItsWay = connection.isLive || state.status === 'connecting';
    if (!isOnItsWay && contact.lastFailure(name) !== undefined) return;
    const reading = this.#refresh(list, connection);
    if (await contact.wasListLate(connection, list.kind)) return;
    await this.#within(contact.remainingMs(connection, await listWait()), reading, () => {
      if (connection.isLive) contact.listLate(connection, list.kind, noAnswerWithin(name, this.waitMs));
    });
  }

  async #within(ms: number, work: Promise<void>, late: () => void): Promise<void> {
    if (ms <= 0) return;
    const release = holdProcess();
    const alarm = setAlarm(this.#core.clock, ms, late);
    await Promise.race([work, alarm.due]);
    alarm.cancel();
    release();
  }

  async #refresh(list: Pick<ContentList<unknown>, 'of'>, connection: Connection): Promise<void> {
    try {
      await list.of(connection);
    } catch (error) {
      // The state of a server that did not connect has the reason.
      if (connection.isLive) this.#core.log(connection.name, 'warning', asPlugboardError(error).message);
    }
  }

  /** Servers that may be contacted: not disabled, blocked or waiting for consent. */
  #candidates(): Connection[] {
    const absent = ['disabled', 'blocked', 'untrusted', 'disconnected'];
    return this.#core.pool.all().filter(({ state }) => !absent.includes(state.status));
  }

  #reasonOf({ name, state }: Connection): PlugboardError {
    const error = 'error' in state ? state.error : this.#core.contact.lastFailure(name);
    return error === undefined ? noAnswerWithin(name, this.waitMs) : forServer(error, name);
  }
}

/** Decides which servers a first list waits for: those with unknown tools that did not fail last time. */
export class FirstContact {
  readonly #core: HostCore;
  readonly #failures: LastFailures;
  /** Servers whose last start failed, in this host or an earlier one. */
  readonly #failed = new Map<string, PlugboardError>();
  /** Running starts, each with the function that stops its timer. */
  readonly #starting = new Map<string, () => void>();
  readonly #watchers = new Set<() => void>();
  /** Serializes writes in the order of the events. */
  #writing: Promise<void> = Promise.resolve();

  constructor(core: HostCore, failures: LastFailures) {
    this.#core = core;
    this.#failures = failures;
  }

  /** Reads how the last start of each server ended; `keys` maps servers to their `startKeyOf`. */
  recall(keys: ReadonlyMap<string, string>): void {
    for (const [server, key] of keys) {
      const failure = this.#failures.get(key);
      if (failure === undefined) this.#failed.delete(server);
      else this.#failed.set(server, failure);
    }
  }

  /** The error of a server's last start; undefined if it succeeded or there was none. */
  lastFailure(server: string): PlugboardError | undefined {
    return this.#failed.get(server);
  }

  /** Returns how long a list may still wait for a server to connect. */
  remainingMs({ name, state }: Connection, listWaitMs: number): number {
    if (this.#failed.has(name)) return 0;
    if (state.status !== 'connecting') return listWaitMs;
    const elapsed = Math.max(0, ticksOf(this.#core.clock) - state.since);
    return Math.max(0, listWaitMs - elapsed);
  }

  /** Records that a connected server did not respond to a list in time. */
  listLate({ spec }: Connection, kind: ListKind, error: PlugboardError): void {
    this.#write(spec, (key) => this.#failures.failed(listKey(key, kind), error));
  }

  /** Records that a connected server responded to a list. */
  listRead({ spec }: Connection, kind: ListKind): void {
    this.#write(spec, (key) => this.#failures.recovered(listKey(key, kind)));
  }

  /** Whether a server did not respond to this list in time when it was last requested. */
  async wasListLate({ spec }: Connection, kind: ListKind): Promise<boolean> {
    const key = await this.#core.loader.startKeyOf(spec);
    return key !== undefined && this.#failures.get(listKey(key, kind)) !== undefined;
  }

  /** Whether the tools of some server may arrive while a client waits. */
  isAwaited(applies?: (server: string) => boolean): boolean {
    return this.#awaited(Number.POSITIVE_INFINITY, applies).length > 0;
  }

  /** Resolves when, for each awaited server, its tools are known, it has failed, or its time is over. */
  async settled(listWaitMs: number, applies?: (server: string) => boolean): Promise<void> {
    const longest = Math.max(0, ...this.#awaited(listWaitMs, applies));
    if (longest === 0) return;
    const release = holdProcess();
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#awaited(listWaitMs, applies).length > 0) return;
        this.#watchers.delete(look);
        stop();
        resolve();
      };
      const stop = this.#core.clock.after(longest, () => {
        this.#watchers.delete(look);
        resolve();
      });
      this.#watchers.add(look);
    });
    release();
  }

  /** Handles a state change of a connection. */
  changed(connection: Connection): void {
    // Dedicated processes of a server do not affect its first contact.
    if (this.#core.pool.get(connection.name) !== connection) return;
    const { name, spec, state } = connection;
    this.#starting.get(name)?.();
    const wasStarting = this.#starting.delete(name);
    switch (state.status) {
      case 'connecting':
        this.#starting.set(name, this.#watch(connection));
        break;
      case 'connected':
        this.#failed.delete(name);
        this.#write(spec, (key) => this.#failures.recovered(key));
        break;
      case 'failed':
      case 'needs_auth':
      case 'needs_client_registration': {
        const { error } = state;
        // A crash during work does not mean that the server starts slowly.
        if (!wasStarting || error.code === 'CANCELLED') break;
        this.#failed.set(name, error);
        this.#write(spec, (key) => this.#failures.failed(key, error));
        break;
      }
    }
    for (const look of [...this.#watchers]) look();
  }

  /** Resolves when everything is on disk. */
  async close(): Promise<void> {
    for (const stop of this.#starting.values()) stop();
    this.#starting.clear();
    await this.#writing;
    await this.#failures.flush();
  }

  /** Returns the remaining wait of each awaited server. */
  #awaited(listWaitMs: number, applies: (server: string) => boolean = () => true): number[] {
    return this.#core.pool
      .all()
      .filter(
        ({ name, state }) => state.status === 'connecting' && !this.#core.isKnown(name) && applies(name),
      )
      .map((connection) => this.remainingMs(connection, listWaitMs))
      .filter((ms) => ms > 0);
  }

  /**
   * Records a start that outlasts the wait at that moment instead of when it ends: this process may be killed before,
   * as agents do with sessions that they give up on.
   */
  #watch({ name, spec }: Connection): () => void {
    const { clock, firstLists } = this.#core;
    const ms = firstLists.waitMs;
    return clock.after(ms, () => {
      const late = noAnswerWithin(name, ms);
      this.#write(spec, (key) => this.#failures.failed(key, late));
    });
  }

  #write(spec: ServerSpec, note: (key: string) => void): void {
    this.#writing = this.#writing.then(async () => {
      const key = await this.#core.loader.startKeyOf(spec);
      if (key !== undefined) note(key);
    });
  }
}

function listKey(key: string, kind: ListKind): string {
  return `${key}-${kind}`;
}

function noAnswerWithin(server: string, ms: number): PlugboardError {
  return new PlugboardError('TIMEOUT', `${server} did not answer within ${ms / 1000} s`, { server });
}
