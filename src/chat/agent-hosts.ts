/** Creates hosts for threads with their own folder or limits, shares them between alike threads, closes idle ones. */

import { createHost, type Host } from '../host/host.ts';
import type { HostOptions } from '../host/host-options.ts';
import type { Clock } from '../lib/clock.ts';

/** How long an idle host keeps its servers for the next reply. */
const IDLE_MS = 10 * 60_000;
/** Maximum number of idle hosts: callers choose folders and limits, so there could be many. */
const MAX_IDLE = 4;

/** Options of a thread's host that differ from the gateway's own host. */
export type HostLimits = Pick<HostOptions, 'cwd' | 'sandbox' | 'sandboxState' | 'toolSearch' | 'model'>;

interface Kept {
  readonly host: Promise<Host>;
  users: number;
  /** Cancels the timer that closes the host. */
  stay: (() => void) | undefined;
}

export class AgentHosts {
  readonly #options: HostOptions;
  readonly #clock: Clock;
  /** Keyed by their limits; the most recently used is last. */
  readonly #kept = new Map<string, Kept>();
  readonly #closing = new Set<Promise<void>>();

  /** `options`: those of the gateway's own host. */
  constructor(options: HostOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  async use<T>(limits: HostLimits, work: (host: Host) => Promise<T>): Promise<T> {
    const key = JSON.stringify(limits);
    const kept = this.#kept.get(key) ?? {
      host: createHost({ ...this.#options, ...limits }),
      users: 0,
      stay: undefined,
    };
    kept.users += 1;
    kept.stay?.();
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    try {
      const host = await kept.host.catch((thrown: unknown) => {
        // Removed so that the next turn tries again.
        if (this.#kept.get(key) === kept) this.#kept.delete(key);
        throw thrown;
      });
      return await work(host);
    } finally {
      kept.users -= 1;
      if (kept.users === 0) this.#rest(key, kept);
    }
  }

  /** Closes every host, including those in use. */
  async close(): Promise<void> {
    for (const [key, kept] of this.#kept) this.#end(key, kept);
    await Promise.all(this.#closing);
  }

  #rest(key: string, kept: Kept): void {
    if (this.#kept.get(key) !== kept) return;
    kept.stay = this.#clock.after(IDLE_MS, () => this.#end(key, kept));
    const idle = [...this.#kept].filter(([, { users }]) => users === 0);
    for (const [oldest, each] of idle.slice(0, -MAX_IDLE)) this.#end(oldest, each);
  }

  #end(key: string, kept: Kept): void {
    kept.stay?.();
    if (this.#kept.get(key) === kept) this.#kept.delete(key);
    const closed = kept.host.then((host) => host.close()).catch(() => {});
    this.#closing.add(closed);
    void closed.finally(() => this.#closing.delete(closed));
  }
}
