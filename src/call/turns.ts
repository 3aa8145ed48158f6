/** Lets sessions take turns at a server that does not say whom its questions are for. */

import type { Session } from './session.ts';

interface Holder {
  calls: number;
  canBeAsked: boolean;
}

interface Waiter {
  readonly session: Session;
  readonly canBeAsked: boolean;
  readonly admit: () => void;
}

/**
 * Calls of one session run beside each other. Those of another wait while somebody who can be asked has one
 * under way; sessions that cannot be asked anything never wait for each other.
 */
export class Turns {
  readonly #holders = new Map<Session, Holder>();
  /** How many of them can be asked. */
  #askable = 0;
  #waiting: Waiter[] = [];

  /** False when it has to wait; whoever waits already comes first. */
  tryEnter(session: Session): boolean {
    const canBeAsked = isAskable(session);
    if (this.#waiting.length > 0 || !this.#fits(session, canBeAsked)) return false;
    this.#hold(session, canBeAsked);
    return true;
  }

  /** Calls `admit` when it may enter, and has entered; the returned function gives up waiting. */
  wait(session: Session, admit: () => void): () => void {
    const waiter = { session, canBeAsked: isAskable(session), admit };
    this.#waiting.push(waiter);
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter);
      this.#admit();
    };
  }

  leave(session: Session): void {
    const holder = this.#holders.get(session);
    if (holder === undefined) return;
    holder.calls -= 1;
    if (holder.calls === 0) {
      this.#holders.delete(session);
      if (holder.canBeAsked) this.#askable -= 1;
    }
    this.#admit();
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#fits(next.session, next.canBeAsked)) return;
      this.#waiting.shift();
      this.#hold(next.session, next.canBeAsked);
      next.admit();
    }
  }

  #fits(session: Session, canBeAsked: boolean): boolean {
    if (this.#holders.size === 0) return true;
    if (this.#holders.size === 1 && this.#holders.has(session)) return true;
    return !canBeAsked && this.#askable === 0;
  }

  #hold(session: Session, canBeAsked: boolean): void {
    const holder = this.#holders.get(session);
    if (canBeAsked && holder?.canBeAsked !== true) this.#askable += 1;
    if (holder === undefined) this.#holders.set(session, { calls: 1, canBeAsked });
    else {
      holder.calls += 1;
      holder.canBeAsked ||= canBeAsked;
    }
  }
}

function isAskable({ canBeAsked, elicit, sample, roots }: Session): boolean {
  return canBeAsked?.() ?? (elicit ?? sample ?? roots) !== undefined;
}
