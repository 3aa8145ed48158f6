/** Where the work for each session is done, and what is in hand there. */

import { Connection } from '../connection/connection.ts';
import type { ConnectionContext } from '../connection/context.ts';
import type { ListEvent } from '../connection/live.ts';
import type { Params } from '../connection/peer.ts';
import { whileOpen } from '../lib/cancellation.ts';
import { Emitter } from '../lib/emitter.ts';
import { Berths, type BerthsOptions } from './berths.ts';
import { HandedTasks } from './handed-task.ts';
import { type Asking, InFlight } from './in-flight.ts';
import type { Session } from './session.ts';

export interface WorkplaceEvents {
  /** A process came, or went. */
  readonly state: { readonly connection: Connection };
  readonly list: { readonly connection: Connection; readonly kind: ListEvent };
  /** A server reports the state of a task. */
  readonly task: { readonly connection: Connection; readonly state: Params };
}

export class Workplace {
  readonly inFlight: InFlight = new InFlight();
  readonly handed: HandedTasks = new HandedTasks();
  /** Of every process of every server, where the events of a host know only of the first of each. */
  readonly events: Emitter<WorkplaceEvents> = new Emitter();
  readonly berths: Berths;

  /** `twins`: what more processes of a server are made from. */
  constructor(twins: ConnectionContext, options: Pick<BerthsOptions, 'manyAgents' | 'expectsRoots'>) {
    this.berths = new Berths({ clock: twins.clock, twin: this.#twinsIn(twins), ...options });
  }

  /** A server reports the state of a task. */
  taskChanged(connection: Connection, state: Params): void {
    this.handed.changed(connection, state);
    this.events.emit('task', { connection, state });
  }

  /** The connection that a session uses of a server, if there is one. */
  of<C extends Connection | undefined>(primary: C, session: Session): Connection | C {
    return primary === undefined ? primary : this.berths.of(primary, session);
  }

  /** Processes of the same server that work for one session each. */
  twinsOf({ name }: Connection): readonly Connection[] {
    return this.berths.twinsOf(name);
  }

  /** The roots of a session are others now. */
  rootsChanged(session: Session): Promise<void> {
    return this.berths.roots.changed(session, this.berths.takesTurns);
  }

  /** Has something other than a call done for a session, in the process that works for it. */
  async attend<T>(
    primary: Connection,
    work: Asking,
    act: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const { session } = work;
    const wanted = this.of(primary, session);
    // Only who is there says of which era it is.
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

  /** The id of the session that the words of a process are about, empty for several; undefined before all work. */
  whose(connection: Connection): string | undefined {
    const session = this.berths.ownerOf(connection) ?? this.inFlight.sessionOf(connection);
    return session === 'several' ? '' : session?.id;
  }

  /** One more process of a server: the host knows of its lists and states only what the first one says. */
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
