/** Receives a server's messages from its first byte on, and buffers notifications until it is connected. */

import type { PlugboardError } from '../errors.ts';
import type { Notice } from '../transport/contract.ts';
import type { Live } from './live-connection.ts';
import type { Params, PeerOwner } from './peer.ts';
import type { AnswerQuestion } from './rounds.ts';

/** Further notifications before the connection is established are dropped. */
const MAX_EARLY_NOTIFICATIONS = 100;

export interface ServerReceiverHooks {
  readonly answer: AnswerQuestion;
  readonly lost: (live: Live, error: PlugboardError | undefined) => void;
  readonly notice: (notice: Notice) => void;
}

export class ServerReceiver implements PeerOwner {
  readonly #hooks: ServerReceiverHooks;
  #early: [method: string, params: Params][] = [];
  #live: Live | undefined;
  #endedBy: PlugboardError | undefined;

  constructor(hooks: ServerReceiverHooks) {
    this.#hooks = hooks;
  }

  /** The server is connected: forwards buffered and all further notifications to `live`. */
  settle(live: Live): void {
    this.#live = live;
    for (const [method, params] of this.#early) live.notified(method, params);
    this.#early = [];
    // The server may have exited after its last response.
    if (live.peer.isClosed) this.#hooks.lost(live, this.#endedBy);
  }

  async request(method: string, params: Params, signal: AbortSignal): Promise<unknown> {
    // In the legacy era a question is not linked to a call: pause the timeouts of all calls while the person is asked.
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
