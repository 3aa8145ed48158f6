/** Tracks the current work of each server process and its session: the only way to route its questions. */

import type { Connection } from '../connection/connection.ts';
import type { SampleCount } from '../connection/questions-sample.ts';
import { type Cancellable, signalOf } from '../lib/cancellation.ts';
import type { Session } from './session.ts';

/** A call, or other work that a server does for one caller. */
export interface ServerWork extends Cancellable, SampleCount {
  /** The id of a call; other work has none. */
  readonly id?: string;
  readonly session: Session;
}

interface ProcessWork {
  readonly works: Set<ServerWork>;
  /** The only session that it has worked for so far, or 'several'. */
  user: Session | 'several';
}

export class InFlightWork {
  readonly #byProcess = new WeakMap<Connection, ProcessWork>();
  /** Work that a modern server has interrupted with questions: until they are answered it is inactive. */
  readonly #waiting = new Set<ServerWork>();

  begin(connection: Connection, work: ServerWork): void {
    const processWork = this.#byProcess.get(connection);
    if (processWork === undefined) {
      this.#byProcess.set(connection, { works: new Set([work]), user: work.session });
      return;
    }
    processWork.works.add(work);
    if (processWork.user !== work.session) processWork.user = 'several';
  }

  end(connection: Connection, work: ServerWork): void {
    this.#byProcess.get(connection)?.works.delete(work);
  }

  /** Marks work as waiting for the answer to a question that came with the server's response. */
  async waitFor<T>(work: ServerWork, answer: Promise<T>): Promise<T> {
    this.#waiting.add(work);
    try {
      return await answer;
    } finally {
      this.#waiting.delete(work);
    }
  }

  /**
   * Returns the work that a question belongs to. In the modern era it comes with the response to a request, and
   * `owner` or its signal identifies the work; a legacy server does not identify it. Then it is attributed to the
   * work that was begun last, but only while all work is of one session: one client never answers a question about
   * another's call (A7).
   */
  workOf(connection: Connection, signal: AbortSignal | undefined, owner?: object): ServerWork | undefined {
    let last: ServerWork | undefined;
    let mixed = false;
    for (const work of this.#byProcess.get(connection)?.works ?? []) {
      if (owner === undefined ? signal !== undefined && signalOf(work) === signal : work === owner)
        return work;
      mixed ||= last !== undefined && last.session !== work.session;
      last = work;
    }
    return mixed ? undefined : last;
  }

  /**
   * Returns the session that a process's messages are about: the only one that it works for now. Messages of an idle
   * process may be about earlier work. Undefined before any work.
   */
  sessionOf(connection: Connection): Session | 'several' | undefined {
    const processWork = this.#byProcess.get(connection);
    const [first, ...others] = [...(processWork?.works ?? [])].filter((work) => !this.#waiting.has(work));
    if (first === undefined) return processWork?.user;
    return others.every(({ session }) => session === first.session) ? first.session : 'several';
  }
}
