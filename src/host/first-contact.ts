/** Decides which servers a first list waits for: those with unknown tools that did not fail last time (CON-16). */

import type { LastFailures } from '../catalog/last-failures.ts';
import type { ServerSpec } from '../config/entry.ts';
import type { Connection } from '../connection/connection.ts';
import type { ListKind } from '../connection/listing.ts';
import { PlugboardError } from '../errors.ts';
import { ticksOf } from '../lib/clock.ts';
import { holdProcess } from '../lib/hold-process.ts';
import type { HostCore } from './host-core.ts';

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
  get isAwaited(): boolean {
    return this.#awaited(Number.POSITIVE_INFINITY).length > 0;
  }

  /** Resolves when, for each awaited server, its tools are known, it has failed, or its time is over. */
  async settled(listWaitMs: number): Promise<void> {
    const longest = Math.max(0, ...this.#awaited(listWaitMs));
    if (longest === 0) return;
    const release = holdProcess();
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#awaited(listWaitMs).length > 0) return;
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
  #awaited(listWaitMs: number): number[] {
    return this.#core.pool
      .all()
      .filter(({ name, state }) => state.status === 'connecting' && !this.#core.isKnown(name))
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

export function noAnswerWithin(server: string, ms: number): PlugboardError {
  return new PlugboardError('TIMEOUT', `${server} did not answer within ${ms / 1000} s`, { server });
}
