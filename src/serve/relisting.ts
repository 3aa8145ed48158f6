/** Decides whether the response of a search waits until the client has listed its tools again. */

import type { Work } from '../endpoint/work.ts';
import type { Clock } from '../lib/clock.ts';

/** Clients that list their tools once; they are not awaited unless they have listed again in this session. */
const LIST_ONCE: ReadonlySet<string> = new Set(['codex-mcp-client']);
/** Longest delay of a search's response for a client that may list again. */
const MAX_HOLD_MS = 1_000;

/**
 * Tracks whether one client lists again after `list_changed`. The model can use found tools in its next step only if
 * the client has listed them before it gets the response; a client that never lists again must be delayed at most
 * once.
 */
export class Relisting {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #hasListed = false;
  /** When the client was first notified of a change that it has not listed since; undefined if it has. */
  #notifiedAt: number | undefined;
  #follows: boolean | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records that `list_changed` was sent to the client. */
  notified(): void {
    // The first list is requested anyway: it does not show whether later ones will be.
    if (this.#hasListed) this.#notifiedAt ??= this.#clock.now();
  }

  /** Records that the client requests its list. */
  listed(): void {
    this.#hasListed = true;
    if (this.#notifiedAt !== undefined) this.#follows = true;
    this.#notifiedAt = undefined;
    // After the list itself has been sent.
    for (const wake of this.#waiting) setImmediate(wake);
  }

  /** Resolves when the client has listed again, is not expected to, or has taken too long. */
  async hold(work: Work): Promise<void> {
    if (work.isCancelled || !this.#isExpected(work.clientInfo.client?.name)) return;
    const notifiedAt = this.#notifiedAt;
    let stopTimer = (): void => {};
    let wake = (): void => {};
    await new Promise<void>((resolve) => {
      wake = resolve;
      this.#waiting.add(wake);
      work.onCancel(wake);
      stopTimer = this.#clock.after(MAX_HOLD_MS, () => {
        if (this.#notifiedAt === notifiedAt) this.#follows = false;
        resolve();
      });
    });
    stopTimer();
    this.#waiting.delete(wake);
    work.offCancel(wake);
  }

  #isExpected(client: string | undefined): boolean {
    if (this.#follows !== undefined || this.#notifiedAt === undefined) return this.#follows === true;
    if (client !== undefined && LIST_ONCE.has(client)) return false;
    return this.#clock.now() - this.#notifiedAt < MAX_HOLD_MS;
  }
}
