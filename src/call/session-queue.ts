/** Lets sessions take turns at a server that does not identify the call of its questions. */

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
 * Calls of one session run in parallel. Those of another wait while a session with question callbacks has one
 * running; sessions without callbacks never wait for each other.
 */
export class SessionQueue {
  /** Weak, for the sake of its tables: those that a `Map` leaves behind keep ended sessions alive. */
  readonly #holders = new WeakMap<Session, Holder>();
  #held = 0;
  /** Number of holders with question callbacks. */
  #askable = 0;
  #waiting: Waiter[] = [];

  /** Enters without waiting; false if it has to wait. Sessions that are already waiting come first. */
  tryEnter(session: Session): boolean {
    const canBeAsked = isAskable(session);
    if (this.#waiting.length > 0 || !this.#fits(session, canBeAsked)) return false;
    this.#hold(session, canBeAsked);
    return true;
  }

  /** Calls `admit` once the session has entered; the returned function stops waiting. */
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
      this.#held -= 1;
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
    if (this.#held === 0) return true;
    if (this.#held === 1 && this.#holders.has(session)) return true;
    return !canBeAsked && this.#askable === 0;
  }

  #hold(session: Session, canBeAsked: boolean): void {
    const holder = this.#holders.get(session);
    if (canBeAsked && holder?.canBeAsked !== true) this.#askable += 1;
    if (holder === undefined) {
      this.#holders.set(session, { calls: 1, canBeAsked });
      this.#held += 1;
    } else {
      holder.calls += 1;
      holder.canBeAsked ||= canBeAsked;
    }
  }
}

function isAskable({ canBeAsked, elicit, sample, roots }: Session): boolean {
  return canBeAsked?.() ?? (elicit ?? sample ?? roots) !== undefined;
}
