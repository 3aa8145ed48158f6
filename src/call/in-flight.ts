/** Which calls each server works on now: the only way to tell whom its questions are for. */

import { signalOf } from '../lib/cancellation.ts';
import type { Call } from './call.ts';

export class InFlight {
  readonly #calls = new Map<string, Set<Call>>();

  begin(server: string, call: Call): void {
    const calls = this.#calls.get(server);
    if (calls === undefined) this.#calls.set(server, new Set([call]));
    else calls.add(call);
  }

  end(server: string, call: Call): void {
    this.#calls.get(server)?.delete(call);
  }

  /**
   * The call that a question belongs to. In the modern era it comes inside the call, with its signal; a
   * legacy server does not say. Then it is taken for the call that was begun last, but only while all calls
   * are of one session: what one client has to say never answers another's call (A7).
   */
  whose(server: string, signal: AbortSignal | undefined): Call | undefined {
    let last: Call | undefined;
    let mixed = false;
    for (const call of this.#calls.get(server) ?? []) {
      if (signal !== undefined && signalOf(call) === signal) return call;
      mixed ||= last !== undefined && last.session !== call.session;
      last = call;
    }
    return mixed ? undefined : last;
  }
}
