/** Loads and caches one kind of list (resources, templates or prompts) until it may have changed. */

import { isDeepStrictEqual } from 'node:util';
import type { Connection } from '../connection/connection.ts';
import type { Negotiated } from '../connection/eras.ts';
import type { ListKind } from '../connection/listing.ts';
import { freshForMs, Refresher } from '../connection/refresh.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { cleanValue } from '../policy/clean-value.ts';
import type { HiddenReport } from '../policy/once-report.ts';
import type { PinnedPart } from '../policy/pins.ts';
import type { Pins } from '../policy/pins-store.ts';
import type { AcceptedList } from './accept-lists.ts';
import type { ContentCache } from './catalog-cache.ts';

/** A server that does not answer must not delay the lists of all others. */
const LIST_TIMEOUT_MS = 30_000;
/** How long a legacy list without change notifications is valid. */
const UNANNOUNCED_MS = 60_000;
/** Limit on warnings about single items of a list. */
const MAX_COMPLAINTS = 10;

export const CAPABILITIES = ['resources', 'prompts'] as const;
export type Capability = (typeof CAPABILITIES)[number];

export function isDeclared({ capabilities }: Negotiated, capability: Capability): boolean {
  const declared = capabilities[capability];
  return declared !== undefined && declared !== null && declared !== false;
}

export interface ContentListOptions<T> {
  readonly kind: Exclude<ListKind, 'tools'>;
  /** The capability that a server must have declared before it is asked. */
  readonly capability: Capability;
  readonly accept: (raw: unknown) => AcceptedList<T>;
  readonly clock: Clock;
  readonly warn: (server: string, message: string) => void;
  readonly hidden: HiddenReport;
  readonly cache: ContentCache;
  /** Returns the cache key of a server; undefined while a variable of its entry is missing. */
  readonly keyOf: (connection: Connection) => Promise<string | undefined>;
  /** Decides which items are held by the pins; it compares their definitions. */
  readonly pins: Pick<Pins, 'checkParts' | 'generation'>;
  readonly partOf: (item: T) => PinnedPart;
  /** Called after a list was read from its server; `isNews`: it differs from the one that callers received before. */
  readonly read: (connection: Connection, items: readonly unknown[], isNews: boolean) => void;
}

/** The last read list: `good` (valid), `old`, or `changed` (its server announced a change). */
export interface KnownList<T> {
  readonly items: readonly T[];
  readonly state: 'good' | 'old' | 'changed';
}

interface LastRead<T> {
  readonly items: readonly T[];
  readonly by: Negotiated | undefined;
  readonly at: number;
  readonly goodUntil: number;
}

interface Recalled<T> {
  readonly items: readonly T[];
  readonly fresh: boolean;
}

export class ContentList<T> {
  readonly #options: ContentListOptions<T>;
  readonly #asking = new WeakMap<Connection, Promise<readonly T[]>>();
  readonly #last = new WeakMap<Connection, LastRead<T>>();
  /** Lists from the disk cache, written by an earlier host. */
  readonly #recalled = new WeakMap<Connection, Recalled<T> | undefined>();
  /** Servers that announced a change since their list was read. */
  readonly #changed = new WeakSet<Connection>();
  /** By list: its items without held ones, for a generation of the pins. */
  readonly #admitted = new WeakMap<
    readonly T[],
    { readonly generation: number; readonly items: readonly T[] }
  >();
  readonly #refreshers = new WeakMap<Connection, Refresher>();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: ContentListOptions<T>) {
    this.#options = options;
  }

  get kind(): Exclude<ListKind, 'tools'> {
    return this.#options.kind;
  }

  get capability(): Capability {
    return this.#options.capability;
  }

  /** Returns the list of one server; connects it if necessary. */
  async of(connection: Connection): Promise<readonly T[]> {
    return this.#admit(connection, await this.#whole(connection));
  }

  /** Applies the pins again; true if the admitted items changed. */
  review(connection: Connection): boolean {
    const items = this.#last.get(connection)?.items ?? this.#recalled.get(connection)?.items;
    if (items === undefined) return false;
    const before = this.#admitted.get(items)?.items;
    return before !== undefined && before.length !== this.#admit(connection, items).length;
  }

  #admit(connection: Connection, items: readonly T[]): readonly T[] {
    const { pins, kind, partOf, warn } = this.#options;
    const known = this.#admitted.get(items);
    if (known?.generation === pins.generation) return known.items;
    const held = pins.checkParts(connection.spec, kind, items.map(partOf), (message) =>
      warn(connection.name, message),
    );
    const admitted = held.size === 0 ? items : items.filter((item) => !held.has(partOf(item).id));
    this.#admitted.set(items, { generation: pins.generation, items: admitted });
    return admitted;
  }

  #whole(connection: Connection): Promise<readonly T[]> {
    const last = this.#last.get(connection);
    if (last !== undefined && this.#isOfNow(last, connection)) {
      this.freshen(connection);
      return Promise.resolve(last.items);
    }
    return this.#read(connection);
  }

  /** Refreshes a stale list in the background before it is used. */
  freshen(connection: Connection): void {
    const last = this.#last.get(connection);
    if (last === undefined || !connection.isLive || this.#isGood(last, connection)) return;
    this.#refresherOf(connection).expired();
  }

  /** Refreshes a list in the background if it was returned before, because notifications may have been lost. */
  recheck(connection: Connection): void {
    if (this.#last.has(connection)) this.#refresherOf(connection).request();
  }

  #refresherOf(connection: Connection): Refresher {
    return getOrMake(this.#refreshers, connection, () => {
      const { clock } = this.#options;
      const readAt = this.#last.get(connection)?.at;
      return new Refresher({ clock, readAt, run: () => this.#refresh(connection) });
    });
  }

  /** True if the list changed. If the request fails, the last good list is kept. */
  async #refresh(connection: Connection): Promise<boolean> {
    const before = this.#last.get(connection)?.items;
    if (!connection.isLive) return false;
    try {
      return !isDeepStrictEqual(await this.#read(connection), before);
    } catch (error) {
      if (connection.isLive) this.#options.warn(connection.name, asPlugboardError(error).message);
      return false;
    }
  }

  #read(connection: Connection): Promise<readonly T[]> {
    const asking = this.#asking.get(connection);
    if (asking !== undefined) return asking;
    const asked = this.#ask(connection, () => this.#asking.get(connection) === asked);
    this.#asking.set(connection, asked);
    const done = (): void => {
      if (this.#asking.get(connection) === asked) this.#asking.delete(connection);
    };
    asked.then(done, done);
    return asked;
  }

  /** Returns the list without asking the server: as last read by this host, otherwise from the disk cache. */
  async known(connection: Connection): Promise<KnownList<T> | undefined> {
    if (!this.#last.has(connection) && !this.#recalled.has(connection)) {
      this.#recalled.set(connection, await this.#recall(connection));
    }
    return this.knownNow(connection);
  }

  /** Like `known`, without reading the disk cache. */
  knownNow(connection: Connection): KnownList<T> | undefined {
    const last = this.#last.get(connection);
    const recalled = this.#recalled.get(connection);
    const whole = last?.items ?? recalled?.items;
    if (whole === undefined) return undefined;
    const items = this.#admit(connection, whole);
    if (this.#changed.has(connection)) return { items, state: 'changed' };
    const good =
      last === undefined
        ? recalled?.fresh === true && connection.state.status === 'idle'
        : this.#isGood(last, connection);
    return { items, state: good ? 'good' : 'old' };
  }

  /** Handles a change notification: an answer in flight may be the old list. */
  drop(connection: Connection): void {
    this.#asking.delete(connection);
    this.#changed.add(connection);
  }

  /** Resolves when every list that was read is on disk. */
  flush(): Promise<void> {
    return this.#writing;
  }

  #isGood(last: LastRead<T>, connection: Connection): boolean {
    return this.#isOfNow(last, connection) && this.#options.clock.now() < last.goodUntil;
  }

  /** True if a list belongs to the current connection and no change was announced; it may be stale. */
  #isOfNow({ by }: LastRead<T>, connection: Connection): boolean {
    const { negotiated, state } = connection;
    if (this.#changed.has(connection)) return false;
    // An idle server keeps its list; a restarted one may have another.
    return negotiated === undefined ? state.status === 'idle' : negotiated === by;
  }

  /** `isNewest`: true if no change was announced while this answer was in flight. */
  async #ask(connection: Connection, isNewest: () => boolean): Promise<readonly T[]> {
    const { kind, capability, accept, clock } = this.#options;
    await connection.ready();
    const { negotiated } = connection;
    if (negotiated === undefined || !isDeclared(negotiated, capability)) {
      const none = { items: [], by: negotiated, at: clock.now(), goodUntil: Number.POSITIVE_INFINITY };
      this.#keep(connection, none, isNewest());
      return [];
    }
    const late = new AbortController();
    const stop = clock.after(LIST_TIMEOUT_MS, () => late.abort(this.#tooLate(connection)));
    const { items, ttlMs, cut, remark } = await connection.list(kind, late.signal).finally(stop);
    const announced = connection.live?.announces(capability) === true;
    const goodForMs = freshForMs({ era: negotiated.era, ttlMs, announced }, UNANNOUNCED_MS);
    const list = accept(items);
    this.#complain(connection.name, list, { cut, remark });
    if (cleanValue(list.accepted) !== list.accepted)
      this.#options.hidden(connection.name, `the list of ${NAMES[kind]}`);
    // A truncated list is used but not cached.
    if (cut === undefined) this.#write(connection, items, ttlMs);
    const at = clock.now();
    const read = { items: list.accepted, by: connection.negotiated, at, goodUntil: at + goodForMs };
    this.#keep(connection, read, isNewest());
    return list.accepted;
  }

  #keep(connection: Connection, read: LastRead<T>, isNewest: boolean): void {
    const before = this.#last.get(connection);
    // An announced change has already been reported.
    const isNews =
      before !== undefined && !this.#changed.has(connection) && !isDeepStrictEqual(before.items, read.items);
    if (isNewest) this.#changed.delete(connection);
    this.#last.set(connection, read);
    this.#options.read(connection, this.#admit(connection, read.items), isNews);
  }

  #write(connection: Connection, items: readonly unknown[], ttlMs: number | undefined): void {
    const { keyOf, cache, kind } = this.#options;
    this.#writing = this.#writing.then(async () => {
      const key = await keyOf(connection);
      if (key !== undefined) cache.write(key, kind, items, ttlMs);
    });
  }

  async #recall(connection: Connection): Promise<Recalled<T> | undefined> {
    const { keyOf, cache, kind, accept } = this.#options;
    const key = await keyOf(connection);
    const found = key === undefined ? undefined : await cache.read(key, kind);
    return found === undefined ? undefined : { items: accept(found.items).accepted, fresh: found.fresh };
  }

  #complain(
    server: string,
    { rejected, repaired }: AcceptedList<T>,
    { cut, remark }: { readonly cut: string | undefined; readonly remark: string | undefined },
  ): void {
    const { kind, warn } = this.#options;
    if (remark !== undefined) warn(server, `the list of ${NAMES[kind]}: ${remark}`);
    if (cut !== undefined) warn(server, `the list of ${NAMES[kind]} was cut short: ${cut}`);
    const complaints = [
      ...rejected.map(({ name, reason }) => `${name} is left out: ${reason}`),
      ...repaired.map(({ name, notes }) => `${name}: ${notes.join('; ')}`),
    ];
    for (const complaint of complaints.slice(0, MAX_COMPLAINTS)) warn(server, `${NAMES[kind]}: ${complaint}`);
    const more = complaints.length - MAX_COMPLAINTS;
    if (more > 0) warn(server, `${NAMES[kind]}: ${more} more of them have something wrong`);
  }

  #tooLate({ name }: Connection): PlugboardError {
    const what = NAMES[this.#options.kind];
    return new PlugboardError(
      'TIMEOUT',
      `${name} did not list its ${what} within ${LIST_TIMEOUT_MS / 1000} s`,
      {
        server: name,
        hint: 'The server is running but does not answer; restart it, or look at its log.',
      },
    );
  }
}

const NAMES = {
  resources: 'resources',
  resourceTemplates: 'resource templates',
  prompts: 'prompts',
} as const;
