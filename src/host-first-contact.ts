/** Decides which servers a first list waits for: those whose tools are unknown and that did not fail last time (CON-16). */

import type { LastFailures } from './catalog/last-failures.ts';
import type { ServerSpec } from './config/entry.ts';
import type { Connection } from './connection/connection.ts';
import type { ListKind } from './connection/listing.ts';
import type { Pool } from './connection/pool.ts';
import { PlugboardError } from './errors.ts';
import { type Clock, ticksOf } from './lib/clock.ts';
import { holdProcess } from './lib/hold-process.ts';

export interface FirstContactOptions {
  readonly clock: Clock;
  readonly pool: () => Pick<Pool, 'all' | 'get'>;
  readonly failures: LastFailures;
  /** The key of how its start ended; undefined while a variable of its entry is missing. */
  readonly keyOf: (spec: ServerSpec) => Promise<string | undefined>;
  /** Whether the tools of a server are known, from the cache or from itself. */
  readonly isKnown: (server: string) => boolean;
  /** How long a list waits for a server, unless its client has more patience. */
  readonly waitMs: () => number;
}

export class FirstContact {
  readonly #options: FirstContactOptions;
  /** Servers whose last start failed, in this host or an earlier one. */
  readonly #failed = new Map<string, PlugboardError>();
  /** Running starts, each with what stops its timer. */
  readonly #starting = new Map<string, () => void>();
  readonly #watchers = new Set<() => void>();
  /** Writes happen in the order of the events. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: FirstContactOptions) {
    this.#options = options;
  }

  /** Looks up how the last start of each server ended; `keys` are those of `keyOf`, by server. */
  recall(keys: ReadonlyMap<string, string>): void {
    for (const [server, key] of keys) {
      const failure = this.#options.failures.get(key);
      if (failure === undefined) this.#failed.delete(server);
      else this.#failed.set(server, failure);
    }
  }

  /** Why the last start of a server failed; undefined: it did not, or there was none. */
  lastFailure(server: string): PlugboardError | undefined {
    return this.#failed.get(server);
  }

  /** How long a list may still wait for a server to connect. */
  remainingMs({ name, state }: Connection, patienceMs: number): number {
    if (this.#failed.has(name)) return 0;
    if (state.status !== 'connecting') return patienceMs;
    const elapsed = Math.max(0, ticksOf(this.#options.clock) - state.since);
    return Math.max(0, patienceMs - elapsed);
  }

  /** A connected server did not answer a list in time. */
  listLate({ spec }: Connection, kind: ListKind, error: PlugboardError): void {
    this.#write(spec, (key) => this.#options.failures.failed(listKey(key, kind), error));
  }

  /** A connected server answered a list. */
  listRead({ spec }: Connection, kind: ListKind): void {
    this.#write(spec, (key) => this.#options.failures.recovered(listKey(key, kind)));
  }

  /** Whether a server did not answer this list in time when it was last asked. */
  async wasListLate({ spec }: Connection, kind: ListKind): Promise<boolean> {
    const key = await this.#options.keyOf(spec);
    return key !== undefined && this.#options.failures.get(listKey(key, kind)) !== undefined;
  }

  /** Whether the tools of a server may arrive within the patience of a client. */
  get isAwaited(): boolean {
    return this.#awaited(Number.POSITIVE_INFINITY).length > 0;
  }

  /** Resolves when the tools of every server that is waited for are known, it has failed, or its time is over. */
  async settled(patienceMs: number): Promise<void> {
    const longest = Math.max(0, ...this.#awaited(patienceMs));
    if (longest === 0) return;
    const release = holdProcess();
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#awaited(patienceMs).length > 0) return;
        this.#watchers.delete(look);
        stop();
        resolve();
      };
      const stop = this.#options.clock.after(longest, () => {
        this.#watchers.delete(look);
        resolve();
      });
      this.#watchers.add(look);
    });
    release();
  }

  /** A connection has another state. */
  changed(connection: Connection): void {
    // Further processes of a server say nothing about its first contact.
    if (this.#options.pool().get(connection.name) !== connection) return;
    const { name, spec, state } = connection;
    this.#starting.get(name)?.();
    const wasStarting = this.#starting.delete(name);
    switch (state.status) {
      case 'connecting':
        this.#starting.set(name, this.#watch(connection));
        break;
      case 'connected':
        this.#failed.delete(name);
        this.#write(spec, (key) => this.#options.failures.recovered(key));
        break;
      case 'failed':
      case 'needs_auth':
      case 'needs_client_registration': {
        const { error } = state;
        // A server that crashed at work is no slower to start for that.
        if (!wasStarting || error.code === 'CANCELLED') break;
        this.#failed.set(name, error);
        this.#write(spec, (key) => this.#options.failures.failed(key, error));
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
    await this.#options.failures.flush();
  }

  /** What is left of the time of each server that is waited for. */
  #awaited(patienceMs: number): number[] {
    return this.#options
      .pool()
      .all()
      .filter(({ name, state }) => state.status === 'connecting' && !this.#options.isKnown(name))
      .map((connection) => this.remainingMs(connection, patienceMs))
      .filter((ms) => ms > 0);
  }

  /**
   * A start that outlasts the wait is recorded at that moment, and not when it ends: this process may be killed
   * before, as agents do with sessions that they give up on.
   */
  #watch({ name, spec }: Connection): () => void {
    const { clock, waitMs, failures } = this.#options;
    const ms = waitMs();
    return clock.after(ms, () => {
      const late = noAnswerWithin(name, ms);
      this.#write(spec, (key) => failures.failed(key, late));
    });
  }

  #write(spec: ServerSpec, note: (key: string) => void): void {
    this.#writing = this.#writing.then(async () => {
      const key = await this.#options.keyOf(spec);
      if (key !== undefined) note(key);
    });
  }
}

function listKey(key: string, kind: ListKind): string {
  return `${key}-${kind}`;
}

export function noAnswerWithin(server: string, ms: number): PlugboardError {
  return new PlugboardError('TIMEOUT', `${server} did not answer within ${ms / 1000} s`, { server });
}
