/** Joins the session router with the work in progress of each process. */

import { Connection } from '../connection/connection.ts';
import type { ConnectionContext } from '../connection/connection-context.ts';
import type { ListEvent } from '../connection/live-connection.ts';
import type { Params } from '../connection/peer.ts';
import { whileOpen } from '../lib/cancellation.ts';
import { Emitter } from '../lib/emitter.ts';
import { HandedTasks } from './forwarded-task.ts';
import { type Asking, InFlight } from './in-flight-work.ts';
import type { Session } from './session.ts';
import { Berths, type BerthsOptions } from './session-router.ts';

export interface WorkplaceEvents {
  /** The state of a process changed. */
  readonly state: { readonly connection: Connection };
  readonly list: { readonly connection: Connection; readonly kind: ListEvent };
  /** A server reported the state of a task. */
  readonly task: { readonly connection: Connection; readonly state: Params };
}

export class Workplace {
  readonly inFlight: InFlight = new InFlight();
  readonly handed: HandedTasks = new HandedTasks();
  /** Events of every process of every server; the host's events cover only the first process of each. */
  readonly events: Emitter<WorkplaceEvents> = new Emitter();
  readonly berths: Berths;

  /** `twins`: the context that additional processes of a server are created with. */
  constructor(twins: ConnectionContext, options: Pick<BerthsOptions, 'manyAgents' | 'expectsRoots'>) {
    this.berths = new Berths({ clock: twins.clock, twin: this.#twinsIn(twins), ...options });
  }

  /** Handles a state that a server reports for a task. */
  taskChanged(connection: Connection, state: Params): void {
    this.handed.changed(connection, state);
    this.events.emit('task', { connection, state });
  }

  /** Returns the connection of a server that a session uses, if there is one. */
  of<C extends Connection | undefined>(primary: C, session: Session): Connection | C {
    return primary === undefined ? primary : this.berths.of(primary, session);
  }

  /** Returns the dedicated processes of the same server. */
  twinsOf({ name }: Connection): readonly Connection[] {
    return this.berths.twinsOf(name);
  }

  /** Handles changed roots of a session. */
  rootsChanged(session: Session): Promise<void> {
    return this.berths.roots.changed(session, this.berths.takesTurns);
  }

  /** Runs work other than a call for a session, in the process that serves it. */
  async attend<T>(
    primary: Connection,
    work: Asking,
    act: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const { session } = work;
    const wanted = this.of(primary, session);
    // The era is only known once the server is connected.
    const { berths } = this;
    if (berths.takesTurns && !wanted.isLive)
      await whileOpen(work, session.ended, (signal) => wanted.ready(signal));
    const berth = berths.takesTurns ? await berths.enter(wanted, session, work) : undefined;
    const connection = berth?.connection ?? wanted;
    this.inFlight.begin(connection, work);
    try {
      return await act(connection);
    } finally {
      this.inFlight.end(connection, work);
      if (berth !== undefined) berths.leave(berth, session);
    }
  }

  /**
   * Returns the id of the session that a process's messages are about, empty for several; undefined before any work.
   */
  whose(connection: Connection): string | undefined {
    const session = this.berths.ownerOf(connection) ?? this.inFlight.sessionOf(connection);
    return session === 'several' ? '' : session?.id;
  }

  /** Returns the factory of additional processes: the host gets lists and states only from the first one. */
  #twinsIn(context: ConnectionContext): (primary: Connection) => Connection {
    const own = {
      ...context,
      changed: (connection: Connection) => this.events.emit('state', { connection }),
      listChanged: (connection: Connection, kind: ListEvent) =>
        this.events.emit('list', { connection, kind }),
    };
    return ({ spec }) => new Connection(spec, { status: 'idle' }, own);
  }
}
