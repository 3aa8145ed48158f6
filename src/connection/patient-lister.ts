/** Reads lists from a server that may say that it is busy: lists are safe to ask for again (F43). */

import { asPlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { type ListKind, type ListResult, listAll } from './listing.ts';
import type { Peer } from './peer.ts';
import { type Alarm, abortable, setAlarm } from './wait.ts';

export const MAX_LIST_TRIES = 4;
const MAX_RETRY_AFTER_MS = 10_000;

export class PatientLister {
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

  /** The connection ends: nobody waits any longer. */
  hurry(): void {
    for (const pause of this.#pauses) pause.cancel();
  }

  /** Jittered, so that many clients of one busy server do not come back together. */
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
