/** Reads lists and retries while the server reports that it is busy: lists are safe to repeat (F43). */

import { asPlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { type Alarm, abortable, setAlarm } from './alarm.ts';
import { type ListKind, type ListResult, listAll } from './listing.ts';
import type { Peer } from './peer.ts';

export const MAX_LIST_TRIES = 4;
const MAX_RETRY_AFTER_MS = 10_000;

export class RetryingLister {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #pauses = new Set<Alarm>();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: () => number }) {
    this.#clock = clock;
    this.#random = random;
  }

  async list(peer: Peer, kind: ListKind, signal?: AbortSignal): Promise<ListResult> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await listAll(peer, kind, { signal });
      } catch (thrown) {
        const { retryAfterMs } = asPlugboardError(thrown).detail;
        if (retryAfterMs === undefined || tries === MAX_LIST_TRIES) throw thrown;
        await this.#pause(Math.min(retryAfterMs, MAX_RETRY_AFTER_MS), signal);
        if (peer.isClosed) throw thrown;
      }
    }
  }

  /** Ends all waits, because the connection is closing. */
  hurry(): void {
    for (const pause of this.#pauses) pause.cancel();
  }

  /** Waits with jitter, so that the clients of one busy server do not retry at the same time. */
  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const pause = setAlarm(this.#clock, ms * (1 + this.#random() / 4));
    this.#pauses.add(pause);
    try {
      await abortable(pause.due, signal);
    } finally {
      pause.cancel();
      this.#pauses.delete(pause);
    }
  }
}
