/** Decides whether the answer of a search waits until the client has listed its tools again. */

import type { Work } from '../endpoint/work.ts';
import type { Clock } from '../lib/clock.ts';

/** Clients that list their tools once; they are not waited for unless they have listed again in this session. */
const LIST_ONCE: ReadonlySet<string> = new Set(['codex-mcp-client']);
/** Longest time that a search's answer is held for a client that may list again. */
const MAX_HOLD_MS = 1_000;

/**
 * One client's habit of listing again after `list_changed`. Found tools are of use to the model in its next
 * step only if the client has listed them before it gets the answer; a client that never lists again must not
 * pay for that more than once.
 */
export class Relisting {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #hasListed = false;
  /** When the client was first told of a change that it has not listed since; undefined if it has. */
  #toldAt: number | undefined;
  #follows: boolean | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The client has been sent `list_changed`. */
  told(): void {
    // A list that was never asked for is asked for anyway: that says nothing about later ones.
    if (this.#hasListed) this.#toldAt ??= this.#clock.now();
  }

  /** The client asks for its list. */
  listed(): void {
    this.#hasListed = true;
    if (this.#toldAt !== undefined) this.#follows = true;
    this.#toldAt = undefined;
    // After the list itself has been sent.
    for (const wake of this.#waiting) setImmediate(wake);
  }

  /** Resolves when the client has listed again, is not expected to, or has taken too long. */
  async hold(work: Work): Promise<void> {
    if (work.isCancelled || !this.#isExpected(work.asker.client?.name)) return;
    const toldAt = this.#toldAt;
    let stopTimer = (): void => {};
    let wake = (): void => {};
    await new Promise<void>((resolve) => {
      wake = resolve;
      this.#waiting.add(wake);
      work.onCancel(wake);
      stopTimer = this.#clock.after(MAX_HOLD_MS, () => {
        if (this.#toldAt === toldAt) this.#follows = false;
        resolve();
      });
    });
    stopTimer();
    this.#waiting.delete(wake);
    work.offCancel(wake);
  }

  #isExpected(client: string | undefined): boolean {
    if (this.#follows !== undefined || this.#toldAt === undefined) return this.#follows === true;
    if (client !== undefined && LIST_ONCE.has(client)) return false;
    return this.#clock.now() - this.#toldAt < MAX_HOLD_MS;
  }
}
