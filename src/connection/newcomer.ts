/** Hears a server from its first byte on: what it says while it is still being connected is not lost. */

import type { PlugboardError } from '../errors.ts';
import type { Notice } from '../transport/contract.ts';
import type { Live } from './live.ts';
import type { Params, PeerOwner } from './peer.ts';
import type { AnswerQuestion } from './rounds.ts';

/** A server that talks more than this before it is connected is not heard to the end. */
const MAX_EARLY_NOTIFICATIONS = 100;

export interface NewcomerHooks {
  readonly answer: AnswerQuestion;
  readonly lost: (live: Live, error: PlugboardError | undefined) => void;
  readonly notice: (notice: Notice) => void;
}

export class Newcomer implements PeerOwner {
  readonly #hooks: NewcomerHooks;
  #early: [method: string, params: Params][] = [];
  #live: Live | undefined;
  #endedBy: PlugboardError | undefined;

  constructor(hooks: NewcomerHooks) {
    this.#hooks = hooks;
  }

  /** It is connected: from here on everything goes to that connection, beginning with what came before. */
  settle(live: Live): void {
    this.#live = live;
    for (const [method, params] of this.#early) live.notified(method, params);
    this.#early = [];
    // It may have died between its last answer and here.
    if (live.peer.isClosed) this.#hooks.lost(live, this.#endedBy);
  }

  async request(method: string, params: Params, signal: AbortSignal): Promise<unknown> {
    // In the legacy era nothing says which call a question belongs to: all clocks wait with the person.
    const resume = this.#live?.peer.pauseClocks();
    try {
      return await this.#hooks.answer(method, params, signal);
    } finally {
      resume?.();
    }
  }

  notification(method: string, params: Params): void {
    if (this.#live !== undefined) this.#live.notified(method, params);
    else if (this.#early.length < MAX_EARLY_NOTIFICATIONS) this.#early.push([method, params]);
  }

  closed(error?: PlugboardError): void {
    this.#endedBy = error;
    if (this.#live !== undefined) this.#hooks.lost(this.#live, error);
  }

  notice(notice: Notice): void {
    this.#hooks.notice(notice);
  }
}
