/**
 * Session router: decides which process of a server serves which session, where sessions are different agents
 * (CON-11).
 *
 * Most servers are shared. A stateful one gets a process for each party: a session, or all sessions of one principal.
 * No party gets a process that another one has used. A legacy server may send a question without identifying the call:
 * sessions take turns at it, and a session that would wait long gets a dedicated process. A server that requested roots
 * serves only sessions with the same roots from then on; sessions with other roots share other processes.
 */

import { isInProcess, isStdio, type ServerEntry } from '../config/entry.ts';
import { servesOneConnection } from '../config/in-process.ts';
import { isShareable } from '../config/shareable.ts';
import type { Connection } from '../connection/connection.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { type Cancellable, whileOpen } from '../lib/cancellation.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { Call, Handler, Stage } from './call.ts';
import { resolvedCall } from './resolved-call.ts';
import {
  partyAt,
  RootSets,
  RootsRouter,
  rootsKeyOf,
  rootsParty,
  type ServerProcesses,
} from './roots-router.ts';
import { type Party, partyOf, type Session } from './session.ts';
import { SessionQueue } from './session-queue.ts';

/** How long a call waits for its turn before its session gets a dedicated process. */
const TURN_MS = 1_000;
/**
 * Limit on processes of one server besides the first; further clients wait for a turn, or are refused if the server
 * is stateful.
 */
const MAX_DEDICATED = 64;

const REFUSED: ReadonlySet<string> = new Set(['disabled', 'blocked', 'untrusted', 'disconnected']);

/**
 * Why a session has a dedicated process: the server is stateful, it received the roots of another session, or another
 * session kept it busy for too long.
 */
export type DedicatedReason = 'state' | 'roots' | 'busy';

/** The process that serves one piece of work, and whether `leave` must be called when it is over. */
export interface Placement {
  readonly connection: Connection;
  readonly hasTurn: boolean;
}

export interface SessionRouterOptions {
  readonly clock: Clock;
  /** Creates another process of the same server, used only by the router. */
  readonly createDedicated: (primary: Connection) => Connection;
  /** Sessions are different agents. Sessions of one agent take turns too, if they have question callbacks. */
  readonly manyAgents: boolean;
  /** Whether sessions that can provide roots are expected. */
  readonly expectsRoots: boolean;
}

export class SessionRouter {
  readonly #options: SessionRouterOptions;
  readonly #allProcesses = new Map<string, ServerProcesses>();
  readonly #ending = new Set<Promise<void>>();
  readonly #reasons = new WeakMap<Connection, DedicatedReason>();
  /** The turns at connections that several sessions may use. */
  readonly #queues = new WeakMap<Connection, SessionQueue>();
  /** Tracks which process received which roots. */
  readonly roots: RootsRouter;
  /** Number of sessions with question callbacks. */
  #askable = 0;
  /** Sessions of each named party that have used a stateful server. */
  readonly #present = new Map<string, Set<Session>>();

  constructor(options: SessionRouterOptions) {
    this.#options = options;
    this.roots = new RootsRouter({
      clock: options.clock,
      expectsRoots: options.expectsRoots,
      allProcesses: this.#allProcesses,
      processesOf: (connection) => this.#processes(connection),
    });
  }

  get takesTurns(): boolean {
    // Also for the first session: another may start while its call is running.
    return this.#options.manyAgents || this.#askable > 0;
  }

  /** Registers a new session. */
  opened(session: Session): void {
    if (hasQuestions(session)) this.#askable += 1;
    this.roots.opened(session);
  }

  /**
   * Returns the connection for this session: the shared or the dedicated one. Throws if there are too many processes.
   */
  of(primary: Connection, session: Session): Connection {
    const processes = this.#processes(primary);
    if (!isShareable(primary.spec.entry)) return this.#stateProcess(processes, session);
    if (!this.takesTurns) return primary;
    const { roots, dedicated } = processes;
    const key = roots.keyOf(session);
    // Whether the first process has the session's roots is only known on entry.
    return (
      dedicated.get(session) ?? (key === roots.given ? undefined : dedicated.get(rootsParty(key))) ?? primary
    );
  }

  /** Returns the process that holds the state of this session's party. */
  #stateProcess(processes: ServerProcesses, session: Session): Connection {
    const { primary, dedicated } = processes;
    const party = partyOf(session);
    if (typeof party === 'string')
      this.#present.set(party, (this.#present.get(party) ?? new Set()).add(session));
    const own = dedicated.get(party);
    if (own !== undefined) return own;
    // The connection's state has the reason why it is not available.
    if (REFUSED.has(primary.state.status)) return primary;
    // The state of a party that has left ended with its process.
    const { holder } = processes;
    if (holder === undefined || (this.#hasLeft(holder) && !isRunning(primary))) processes.holder = party;
    if (processes.holder === party) return primary;
    return this.#dedicatedOrThrow(processes, party, 'state');
  }

  /** Stops the process of a party that has left: its state is lost, not shared. */
  #makeRoom({ dedicated }: ServerProcesses): void {
    const parties = [...dedicated].filter(([party, each]) => this.#hasLeft(party) || !isRunning(each));
    const [party, connection] = parties.find(([, each]) => !isRunning(each)) ?? parties[0] ?? [];
    if (party === undefined) return;
    this.#close(connection);
    dedicated.delete(party);
  }

  #hasLeft(party: Party): boolean {
    return typeof party === 'string' && !this.#present.has(party);
  }

  /** Enters without waiting; undefined if this session has to wait: then use `enter`. */
  tryEnter(connection: Connection, session: Session): Placement | undefined {
    if (!this.takesTurns || !isShareable(connection.spec.entry)) return { connection, hasTurn: false };
    const processes = this.#allProcesses.get(connection.name);
    if (processes?.primary === connection && processes.roots.isOpenFor(session)) return undefined;
    return this.#tryTurn(processes, connection, session);
  }

  #tryTurn(
    processes: ServerProcesses | undefined,
    connection: Connection,
    session: Session,
  ): Placement | undefined {
    // A dedicated process has no turns.
    const isOwn = processes === undefined || processes.dedicated.get(session) === connection;
    if (isOwn || connection.negotiated?.era !== 'legacy') return { connection, hasTurn: false };
    return this.#queueAt(connection).tryEnter(session) ? { connection, hasTurn: true } : undefined;
  }

  /** Waits for a turn and enters. Rejects if the work is cancelled, or if there are too many processes. */
  async enter(wanted: Connection, session: Session, waiting: Cancellable): Promise<Placement> {
    if (!isShareable(wanted.spec.entry)) return { connection: wanted, hasTurn: false };
    const processes = this.#allProcesses.get(wanted.name);
    if (processes === undefined) return { connection: wanted, hasTurn: false };
    for (;;) {
      const { roots, primary } = processes;
      const before = roots.given;
      const placement = await whileOpen(waiting, session.ended, (signal) =>
        this.#enterOnce(processes, wanted, session, signal),
      );
      const isUnchanged = roots.given === before || !roots.isOpenFor(session);
      if (placement.connection !== primary || isUnchanged) return placement;
      // While the session waited for its turn, the process received the roots of another one.
      this.leave(placement, session);
    }
  }

  async #enterOnce(
    processes: ServerProcesses,
    wanted: Connection,
    session: Session,
    signal: AbortSignal | undefined,
  ): Promise<Placement> {
    let connection = wanted;
    if (processes.primary === wanted && processes.roots.isOpenFor(session)) {
      const party = await this.roots.partyFor(processes, session);
      if (party !== undefined) connection = this.#dedicatedOrThrow(processes, party, 'roots');
      // The era is only known once the server is connected.
      if (!connection.isLive) await connection.ready(signal);
    }
    const placement = this.#tryTurn(processes, connection, session);
    if (placement !== undefined) return placement;
    if (await this.#turn(connection, session, signal)) return { connection, hasTurn: true };
    const dedicated = this.#dedicated(processes, session, 'busy');
    if (dedicated !== undefined) return { connection: dedicated, hasTurn: false };
    await this.#turn(connection, session, signal, Number.POSITIVE_INFINITY);
    return { connection, hasTurn: true };
  }

  leave({ connection, hasTurn }: Placement, session: Session): void {
    if (hasTurn) this.#queueAt(connection).leave(session);
  }

  /** Returns the session that a process was started for; undefined if other sessions use it or may use it. */
  dedicatedTo(connection: Connection): Session | undefined {
    const processes = this.#allProcesses.get(connection.name);
    const party = processes === undefined ? undefined : partyAt(processes, connection);
    return typeof party === 'object' ? party : undefined;
  }

  /** Returns the session that currently owns a process, if it is exactly one. */
  ownerOf(connection: Connection): Session | undefined {
    const processes = this.#allProcesses.get(connection.name);
    const party = processes === undefined ? undefined : partyAt(processes, connection);
    if (processes === undefined || party === undefined) return undefined;
    if (typeof party === 'object') return party;
    const [only, ...others] = processes.roots.sessionsWith(rootsKeyOf(party));
    return others.length === 0 ? only : undefined;
  }

  /** Whether a session has used this first process of a server, or it has requested roots. */
  knows(primary: Connection): boolean {
    return this.#allProcesses.get(primary.name)?.primary === primary;
  }

  /** Returns why an additional process of a server was started. */
  reasonOf(connection: Connection): DedicatedReason | undefined {
    return this.#reasons.get(connection);
  }

  dedicatedOf(server: string): readonly Connection[] {
    return [...(this.#allProcesses.get(server)?.dedicated.values() ?? [])];
  }

  /** Removes a session and stops its dedicated processes. */
  end(session: Session): void {
    const { partyName } = session;
    if (this.roots.ended(session) && hasQuestions(session)) this.#askable -= 1;
    const present = partyName === undefined ? undefined : this.#present.get(partyName);
    if (partyName !== undefined && present?.delete(session) && present.size === 0)
      this.#present.delete(partyName);
    for (const processes of this.#allProcesses.values()) {
      if (processes.holder === session) {
        processes.holder = undefined;
        processes.primary.rest();
      }
      if (processes.dedicated.size > 0) {
        this.#close(processes.dedicated.get(session));
        processes.dedicated.delete(session);
      }
      this.#endAt(processes, session);
    }
  }

  /** Stops a process that received the roots of this session and of no other. */
  #endAt({ primary, roots, dedicated }: ServerProcesses, session: Session): void {
    const key = roots.forget(session);
    // A stateless session is one request of many by the same client: the process is stopped when it has been idle for
    // a while.
    if (key === undefined || session.isStateless || roots.sessionsWith(key).length > 0) return;
    if (key === roots.given) {
      roots.given = undefined;
      // Sessions of one agent share its state: the process keeps running, and requests roots again.
      if (this.takesTurns) primary.rest();
      else primary.rootsChanged();
      return;
    }
    this.#close(dedicated.get(rootsParty(key)));
    dedicated.delete(rootsParty(key));
  }

  /** Drops a server that was removed or replaced. */
  drop(server: string): void {
    for (const each of this.dedicatedOf(server)) this.#close(each);
    this.#allProcesses.delete(server);
  }

  async close(): Promise<void> {
    for (const server of [...this.#allProcesses.keys()]) this.drop(server);
    await Promise.all(this.#ending);
  }

  #processes(primary: Connection): ServerProcesses {
    const known = this.#allProcesses.get(primary.name);
    if (known?.primary === primary) return known;
    this.drop(primary.name);
    const processes: ServerProcesses = {
      primary,
      holder: undefined,
      roots: new RootSets(),
      rootsGiven: () => {},
      dedicated: new Map(),
    };
    this.#allProcesses.set(primary.name, processes);
    return processes;
  }

  #queueAt(connection: Connection): SessionQueue {
    return getOrMake(this.#queues, connection, () => new SessionQueue());
  }

  #dedicatedOrThrow(processes: ServerProcesses, party: Party, reason: DedicatedReason): Connection {
    if (processes.dedicated.size >= MAX_DEDICATED) this.#makeRoom(processes);
    const dedicated = this.#dedicated(processes, party, reason);
    if (dedicated !== undefined) return dedicated;
    const { name } = processes.primary;
    throw new PlugboardError('LIMIT_EXCEEDED', `${MAX_DEDICATED + 1} processes of ${name} are in use`, {
      server: name,
      hint: 'End a session, or wait until one is idle.',
    });
  }

  #dedicated(processes: ServerProcesses, party: Party, reason: DedicatedReason): Connection | undefined {
    const known = processes.dedicated.get(party);
    if (known !== undefined) return known;
    if (processes.dedicated.size >= MAX_DEDICATED) return undefined;
    const dedicated = this.#options.createDedicated(processes.primary);
    this.#reasons.set(dedicated, reason);
    processes.dedicated.set(party, dedicated);
    return dedicated;
  }

  #close(connection: Connection | undefined): void {
    if (connection === undefined) return;
    const ended = connection.close().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  /** Resolves with true when it is this session's turn, false if that took too long. */
  #turn(
    connection: Connection,
    session: Session,
    signal: AbortSignal | undefined,
    patienceMs: number = patienceFor(connection.spec.entry),
  ): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const done = (finish: () => void): void => {
        stopTimer();
        signal?.removeEventListener('abort', aborted);
        finish();
      };
      const giveUp = this.#queueAt(connection).wait(session, () => done(() => resolve(true)));
      const aborted = (): void =>
        done(() => {
          giveUp();
          reject(asPlugboardError(signal?.reason, 'CANCELLED'));
        });
      const stopTimer =
        patienceMs === Number.POSITIVE_INFINITY
          ? () => {}
          : this.#options.clock.after(patienceMs, () =>
              done(() => {
                giveUp();
                resolve(false);
              }),
            );
      signal?.addEventListener('abort', aborted, { once: true });
      if (signal?.aborted) aborted();
    });
  }
}

/**
 * How long to wait for a turn: a remote server has no process to save, and an object that serves one connection
 * cannot have a second one.
 */
function patienceFor(entry: ServerEntry): number {
  if (isStdio(entry)) return TURN_MS;
  return isInProcess(entry) && servesOneConnection(entry.inProcess) ? Number.POSITIVE_INFINITY : 0;
}

/** Whether a process runs or is being started: it may hold the state of its users. */
function isRunning({ isLive, state }: Connection): boolean {
  return isLive || state.status === 'connecting';
}

function hasQuestions({ elicit, sample, roots }: Session): boolean {
  return (elicit ?? sample ?? roots) !== undefined;
}

// Pipeline stage: finds the process for this call's session, and waits for its turn there.

export const routeSession: Stage = ({ work: { router } }, next) => {
  return (call) => {
    // If no session can be asked questions, no call waits for a turn.
    if (!router.takesTurns) return next(call);
    const at = router.tryEnter(resolvedCall(call).connection, call.session);
    if (at === undefined) return waited(router, call, next);
    return at.hasTurn ? inTurn(router, at, call, next) : next(call);
  };
};

async function waited(router: SessionRouter, call: Call, next: Handler): ReturnType<Handler> {
  const at = await router.enter(resolvedCall(call).connection, call.session, call);
  call.connection = at.connection;
  return inTurn(router, at, call, next);
}

async function inTurn(router: SessionRouter, at: Placement, call: Call, next: Handler): ReturnType<Handler> {
  try {
    return await next(call);
  } finally {
    router.leave(at, call.session);
  }
}
