/** Tracks connections that are closing; their successor and `close()` wait for them. */

import type { Live } from './live-connection.ts';

export class Departures {
  readonly #closing = new Set<Promise<void>>();
  /** Connections that were replaced while calls ran on them. */
  readonly #outgrown = new Set<Live>();

  /** Closes the connection now. */
  close(live: Live): void {
    this.#outgrown.delete(live);
    this.track(live.close());
  }

  /** For connections without a process: closes after the pending responses have arrived. */
  outgrow(live: Live): void {
    live.retire();
    this.#outgrown.add(live);
    void live.peer.idle().then(() => {
      if (this.#outgrown.has(live)) this.close(live);
    });
  }

  hurry(): void {
    for (const live of this.#outgrown) this.close(live);
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
