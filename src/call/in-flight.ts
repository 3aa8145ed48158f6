/** What each server works on now, and for whom: the only way to tell whom its questions are for. */

import type { SampleCount } from '../connection/questions-sample.ts';
import { type Cancellable, signalOf } from '../lib/cancellation.ts';
import type { Session } from './session.ts';

/** A call, or anything else that a server does for one caller. */
export interface Asking extends Cancellable, SampleCount {
  readonly session: Session;
}

export class InFlight {
  readonly #calls = new Map<string, Set<Asking>>();

  begin(server: string, call: Asking): void {
    const calls = this.#calls.get(server);
    if (calls === undefined) this.#calls.set(server, new Set([call]));
    else calls.add(call);
  }

  end(server: string, call: Asking): void {
    this.#calls.get(server)?.delete(call);
  }

  /**
   * The call that a question belongs to. In the modern era it comes inside the call, with its signal; a
   * legacy server does not say. Then it is taken for the call that was begun last, but only while all calls
   * are of one session: what one client has to say never answers another's call (A7).
   */
  whose(server: string, signal: AbortSignal | undefined): Asking | undefined {
    let last: Asking | undefined;
    let mixed = false;
    for (const call of this.#calls.get(server) ?? []) {
      if (signal !== undefined && signalOf(call) === signal) return call;
      mixed ||= last !== undefined && last.session !== call.session;
      last = call;
    }
    return mixed ? undefined : last;
  }
}
