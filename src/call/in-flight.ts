/** What each server's process works on now, and for whom: the only way to tell whom its questions are for. */

import type { Connection } from '../connection/connection.ts';
import type { SampleCount } from '../connection/questions-sample.ts';
import { type Cancellable, signalOf } from '../lib/cancellation.ts';
import type { Session } from './session.ts';

/** A call, or anything else that a server does for one caller. */
export interface Asking extends Cancellable, SampleCount {
  readonly session: Session;
}

export class InFlight {
  readonly #work = new WeakMap<Connection, Set<Asking>>();

  begin(connection: Connection, work: Asking): void {
    const known = this.#work.get(connection);
    if (known === undefined) this.#work.set(connection, new Set([work]));
    else known.add(work);
  }

  end(connection: Connection, work: Asking): void {
    this.#work.get(connection)?.delete(work);
  }

  /**
   * What a question belongs to. In the modern era it comes inside the call, with its signal; a legacy server
   * does not say. Then it is taken for what was begun last, but only while all work is of one session: what
   * one client has to say never answers another's call (A7).
   */
  whose(connection: Connection, signal: AbortSignal | undefined): Asking | undefined {
    let last: Asking | undefined;
    let mixed = false;
    for (const work of this.#work.get(connection) ?? []) {
      if (signal !== undefined && signalOf(work) === signal) return work;
      mixed ||= last !== undefined && last.session !== work.session;
      last = work;
    }
    return mixed ? undefined : last;
  }

  /** The only session that a server works for now. */
  sessionOf(connection: Connection): Session | undefined {
    return this.whose(connection, undefined)?.session;
  }
}
