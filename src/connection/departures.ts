/** What has left a connection and is still on its way out: its successor, and whoever closes, waits here. */

import type { Live } from './live.ts';

export class Departures {
  readonly #closing = new Set<Promise<void>>();
  /** Replaced while calls ran on them. */
  readonly #outgrown = new Set<Live>();

  /** Closes it now. */
  close(live: Live): void {
    this.#outgrown.delete(live);
    this.track(live.close());
  }

  /** For connections without a process: closed once the answers that are on their way have arrived. */
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

  /** Resolves when everything that is being closed is closed. */
  async gone(): Promise<void> {
    while (this.#closing.size > 0) await Promise.all(this.#closing);
  }
}
