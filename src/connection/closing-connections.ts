/** Tracks connections that are closing; their successor and `close()` wait for them. */

import type { Live } from './live-connection.ts';

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
