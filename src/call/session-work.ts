/** The work of sessions at server processes: which process serves it, and what each process works on now. */

import { Connection } from '../connection/connection.ts';
import type { ConnectionContext } from '../connection/connection-context.ts';
import type { ListEvent } from '../connection/live-connection.ts';
import type { Params } from '../connection/peer.ts';
import type { SampleCount } from '../connection/questions-sample.ts';
import { type Cancellable, signalOf, whileOpen } from '../lib/cancellation.ts';
import { Emitter } from '../lib/emitter.ts';
import { LinkedList, type ListEntry } from '../lib/linked-list.ts';
import { ForwardedTasks } from './call-tasks.ts';
import type { Session } from './session.ts';
import { SessionRouter, type SessionRouterOptions } from './session-router.ts';

export interface ProcessEvents {
  /** The state of a process changed. */
  readonly state: { readonly connection: Connection };
  readonly list: { readonly connection: Connection; readonly kind: ListEvent };
  /** A server reported the state of a task. */
  readonly task: { readonly connection: Connection; readonly state: Params };
}

export class SessionWork {
  readonly inFlight: InFlightWork = new InFlightWork();
  readonly forwardedTasks: ForwardedTasks = new ForwardedTasks();
  /** Events of every process of every server; the host's events cover only the first process of each. */
  readonly events: Emitter<ProcessEvents> = new Emitter();
  readonly router: SessionRouter;

  /** `dedicated`: the context that additional processes of a server are created with. */
  constructor(
    dedicated: ConnectionContext,
    options: Pick<SessionRouterOptions, 'manyAgents' | 'expectsRoots'>,
  ) {
    this.router = new SessionRouter({
      clock: dedicated.clock,
      createDedicated: ({ spec }) => new Connection(spec, { status: 'idle' }, dedicated),
      ...options,
    });
  }

  /** Handles a state that a server reports for a task. */
  taskChanged(connection: Connection, state: Params): void {
    this.forwardedTasks.changed(connection, state);
    this.events.emit('task', { connection, state });
  }

  /** Returns the connection of a server that a session uses, if there is one. */
  of<C extends Connection | undefined>(primary: C, session: Session): Connection | C {
    return primary === undefined ? primary : this.router.of(primary, session);
  }

  /** Returns the dedicated processes of the same server. */
  dedicatedOf({ name }: Connection): readonly Connection[] {
    return this.router.dedicatedOf(name);
  }

  /** Handles changed roots of a session. */
  rootsChanged(session: Session): Promise<void> {
    return this.router.roots.changed(session, this.router.takesTurns);
  }

  /** Runs work other than a call for a session, in the process that serves it. */
  async run<T>(
    primary: Connection,
    work: ServerWork,
    act: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const { session } = work;
    const wanted = this.of(primary, session);
    // The era is only known once the server is connected.
    const { router } = this;
    if (router.takesTurns && !wanted.isLive)
      await whileOpen(work, session.ended, (signal) => wanted.ready(signal));
    const placement = router.takesTurns ? await router.enter(wanted, session, work) : undefined;
    const connection = placement?.connection ?? wanted;
    const begun = this.inFlight.begin(connection, work);
    try {
      return await act(connection);
    } finally {
      this.inFlight.end(connection, begun);
      if (placement !== undefined) router.leave(placement, session);
    }
  }

  /**
   * Returns the id of the session that a process's messages are about, empty for several; undefined before any work.
   */
  sessionIdOf(connection: Connection): string | undefined {
    const session = this.router.ownerOf(connection) ?? this.inFlight.sessionOf(connection);
    return session === 'several' ? '' : session?.id;
  }
}

/** A call, or other work that a server does for one caller. */
export interface ServerWork extends Cancellable, SampleCount {
  /** The id of a call; other work has none. */
  readonly id?: string;
  readonly session: Session;
}

interface ProcessWork {
  readonly works: LinkedList<ServerWork>;
  /** The only session that it has worked for so far, or 'several'. */
  user: Session | 'several';
}

class InFlightWork {
  readonly #byProcess = new WeakMap<Connection, ProcessWork>();
  /** Work that a modern server has interrupted with questions: until they are answered it is inactive. */
  readonly #waiting = new Set<ServerWork>();

  /** Returns the entry for `end`. */
  begin(connection: Connection, work: ServerWork): ListEntry<ServerWork> {
    let processWork = this.#byProcess.get(connection);
    if (processWork === undefined) {
      processWork = { works: new LinkedList(), user: work.session };
      this.#byProcess.set(connection, processWork);
    } else if (processWork.user !== work.session) processWork.user = 'several';
    return processWork.works.add(work);
  }

  end(connection: Connection, begun: ListEntry<ServerWork>): void {
    this.#byProcess.get(connection)?.works.remove(begun);
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
    for (const work of this.#byProcess.get(connection)?.works.items() ?? []) {
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
    const works = processWork?.works.items() ?? [];
    const [first, ...others] = works.filter((work) => !this.#waiting.has(work));
    if (first === undefined) return processWork?.user;
    return others.every(({ session }) => session === first.session) ? first.session : 'several';
  }
}
