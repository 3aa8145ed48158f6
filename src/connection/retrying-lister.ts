/** Reads lists and retries while the server reports that it is busy: lists are safe to repeat (F43). */

import { asPlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { decideRetry, listDelayMs, MAX_LIST_TRIES } from '../lib/retry.ts';
import { type Alarm, abortable, setAlarm } from './alarm.ts';
import { type ListKind, type ListResult, listAll } from './listing.ts';
import type { Peer } from './peer.ts';

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
        const error = asPlugboardError(thrown);
        if (decideRetry('list', error) === 'fail' || tries === MAX_LIST_TRIES) throw thrown;
        await this.#pause(listDelayMs(error.detail.retryAfterMs ?? 0, this.#random()), signal);
        if (peer.isClosed) throw thrown;
      }
    }
  }

  /** Ends all waits, because the connection is closing. */
  hurry(): void {
    for (const pause of this.#pauses) pause.cancel();
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const pause = setAlarm(this.#clock, ms);
    this.#pauses.add(pause);
    try {
      await abortable(pause.due, signal);
    } finally {
      pause.cancel();
      this.#pauses.delete(pause);
    }
  }
}
