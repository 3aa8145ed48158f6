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
import { RootSets } from './root-sets.ts';
import { RootsRouter } from './roots-router.ts';
import { type Place, partyAt, rootsKeyOf, rootsParty } from './server-processes.ts';
import { type Party, partyOf, type Session } from './session.ts';
import { Turns } from './session-queue.ts';

/** How long a call waits for its turn before its session gets a dedicated process. */
const TURN_MS = 1_000;
/**
 * Limit on processes of one server besides the first; further clients wait for a turn, or are refused if the server
 * is stateful.
 */
const MAX_TWINS = 64;

const REFUSED: ReadonlySet<string> = new Set(['disabled', 'blocked', 'untrusted', 'disconnected']);

/**
 * Why a session has a dedicated process: the server is stateful, it received the roots of another session, or another
 * session kept it busy for too long.
 */
export type DedicatedReason = 'state' | 'roots' | 'busy';

/** The process that serves one piece of work, and whether `leave` has to be called when it is over. */
export interface Berth {
  readonly connection: Connection;
  readonly hasTurn: boolean;
}

export interface BerthsOptions {
  readonly clock: Clock;
  /** Creates another process of the same server, used only by the router. */
  readonly twin: (primary: Connection) => Connection;
  /** Sessions are different agents. Sessions of one agent take turns too, if they have question callbacks. */
  readonly manyAgents: boolean;
  /** Whether sessions that can provide roots are expected. */
  readonly expectsRoots: boolean;
}

export class Berths {
  readonly #options: BerthsOptions;
  readonly #places = new Map<string, Place>();
  readonly #ending = new Set<Promise<void>>();
  readonly #reasons = new WeakMap<Connection, DedicatedReason>();
  /** The turns at connections that several sessions may use. */
  readonly #turns = new WeakMap<Connection, Turns>();
  /** Tracks which process received which roots. */
  readonly roots: RootsRouter;
  /** Number of sessions with question callbacks. */
  #askable = 0;
  /** Sessions of each named party that have used a stateful server. */
  readonly #present = new Map<string, Set<Session>>();

  constructor(options: BerthsOptions) {
    this.#options = options;
    this.roots = new RootsRouter({
      clock: options.clock,
      expectsRoots: options.expectsRoots,
      places: this.#places,
      placeOf: (connection) => this.#place(connection),
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
    const place = this.#place(primary);
    if (!isShareable(primary.spec.entry)) return this.#dedicated(place, session);
    if (!this.takesTurns) return primary;
    const { roots, twins } = place;
    const key = roots.keyOf(session);
    // Whether the first process has the session's roots is only known on entry.
    return twins.get(session) ?? (key === roots.given ? undefined : twins.get(rootsParty(key))) ?? primary;
  }

  /** Returns the process that holds the state of this session's party. */
  #dedicated(place: Place, session: Session): Connection {
    const { primary, twins } = place;
    const party = partyOf(session);
    if (typeof party === 'string')
      this.#present.set(party, (this.#present.get(party) ?? new Set()).add(session));
    const own = twins.get(party);
    if (own !== undefined) return own;
    // The connection's state has the reason why it is not available.
    if (REFUSED.has(primary.state.status)) return primary;
    // The state of a party that has left ended with its process.
    const { holder } = place;
    if (holder === undefined || (this.#hasLeft(holder) && !isRunning(primary))) place.holder = party;
    if (place.holder === party) return primary;
    return this.#twinOr(place, party, 'state');
  }

  /** Stops the process of a party that has left: its state is lost, not shared. */
  #makeRoom({ twins }: Place): void {
    const parties = [...twins].filter(([party, twin]) => this.#hasLeft(party) || !isRunning(twin));
    const [party, twin] = parties.find(([, each]) => !isRunning(each)) ?? parties[0] ?? [];
    if (party === undefined) return;
    this.#close(twin);
    twins.delete(party);
  }

  #hasLeft(party: Party): boolean {
    return typeof party === 'string' && !this.#present.has(party);
  }

  /** Enters without waiting; undefined if this session has to wait: then use `enter`. */
  tryEnter(connection: Connection, session: Session): Berth | undefined {
    if (!this.takesTurns || !isShareable(connection.spec.entry)) return { connection, hasTurn: false };
    const place = this.#places.get(connection.name);
    if (place?.primary === connection && place.roots.isOpenFor(session)) return undefined;
    return this.#tryTurn(place, connection, session);
  }

  #tryTurn(place: Place | undefined, connection: Connection, session: Session): Berth | undefined {
    // A dedicated process has no turns.
    const isOwn = place === undefined || place.twins.get(session) === connection;
    if (isOwn || connection.negotiated?.era !== 'legacy') return { connection, hasTurn: false };
    return this.#turnsAt(connection).tryEnter(session) ? { connection, hasTurn: true } : undefined;
  }

  /** Waits for a turn and enters. Rejects if the work is cancelled, or if there are too many processes. */
  async enter(wanted: Connection, session: Session, waiting: Cancellable): Promise<Berth> {
    if (!isShareable(wanted.spec.entry)) return { connection: wanted, hasTurn: false };
    const place = this.#places.get(wanted.name);
    if (place === undefined) return { connection: wanted, hasTurn: false };
    for (;;) {
      const { roots, primary } = place;
      const before = roots.given;
      const berth = await whileOpen(waiting, session.ended, (signal) =>
        this.#enterOnce(place, wanted, session, signal),
      );
      const isUnchanged = roots.given === before || !roots.isOpenFor(session);
      if (berth.connection !== primary || isUnchanged) return berth;
      // While the session waited for its turn, the process received the roots of another one.
      this.leave(berth, session);
    }
  }

  async #enterOnce(
    place: Place,
    wanted: Connection,
    session: Session,
    signal: AbortSignal | undefined,
  ): Promise<Berth> {
    let connection = wanted;
    if (place.primary === wanted && place.roots.isOpenFor(session)) {
      const party = await this.roots.partyFor(place, session);
      if (party !== undefined) connection = this.#twinOr(place, party, 'roots');
      // The era is only known once the server is connected.
      if (!connection.isLive) await connection.ready(signal);
    }
    const berth = this.#tryTurn(place, connection, session);
    if (berth !== undefined) return berth;
    if (await this.#turn(connection, session, signal)) return { connection, hasTurn: true };
    const twin = this.#twin(place, session, 'busy');
    if (twin !== undefined) return { connection: twin, hasTurn: false };
    await this.#turn(connection, session, signal, Number.POSITIVE_INFINITY);
    return { connection, hasTurn: true };
  }

  leave({ connection, hasTurn }: Berth, session: Session): void {
    if (hasTurn) this.#turnsAt(connection).leave(session);
  }

  /** Returns the session that a process was started for; undefined if other sessions use it or may use it. */
  dedicatedTo(connection: Connection): Session | undefined {
    const place = this.#places.get(connection.name);
    const party = place === undefined ? undefined : partyAt(place, connection);
    return typeof party === 'object' ? party : undefined;
  }

  /** Returns the session that currently owns a process, if it is exactly one. */
  ownerOf(connection: Connection): Session | undefined {
    const place = this.#places.get(connection.name);
    const party = place === undefined ? undefined : partyAt(place, connection);
    if (place === undefined || party === undefined) return undefined;
    if (typeof party === 'object') return party;
    const [only, ...others] = place.roots.sessionsWith(rootsKeyOf(party));
    return others.length === 0 ? only : undefined;
  }

  /** Whether a session has used this first process of a server, or it has requested roots. */
  knows(primary: Connection): boolean {
    return this.#places.get(primary.name)?.primary === primary;
  }

  /** Returns why an additional process of a server was started. */
  reasonOf(connection: Connection): DedicatedReason | undefined {
    return this.#reasons.get(connection);
  }

  twinsOf(server: string): readonly Connection[] {
    return [...(this.#places.get(server)?.twins.values() ?? [])];
  }

  /** Removes a session and stops its dedicated processes. */
  end(session: Session): void {
    const { partyName } = session;
    if (this.roots.ended(session) && hasQuestions(session)) this.#askable -= 1;
    const present = partyName === undefined ? undefined : this.#present.get(partyName);
    if (partyName !== undefined && present?.delete(session) && present.size === 0)
      this.#present.delete(partyName);
    for (const place of this.#places.values()) {
      if (place.holder === session) {
        place.holder = undefined;
        place.primary.rest();
      }
      this.#close(place.twins.get(session));
      place.twins.delete(session);
      this.#endAt(place, session);
    }
  }

  /** Stops a process that received the roots of this session and of no other. */
  #endAt({ primary, roots, twins }: Place, session: Session): void {
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
    this.#close(twins.get(rootsParty(key)));
    twins.delete(rootsParty(key));
  }

  /** Drops a server that was removed or replaced. */
  drop(server: string): void {
    for (const twin of this.twinsOf(server)) this.#close(twin);
    this.#places.delete(server);
  }

  async close(): Promise<void> {
    for (const server of [...this.#places.keys()]) this.drop(server);
    await Promise.all(this.#ending);
  }

  #place(primary: Connection): Place {
    const known = this.#places.get(primary.name);
    if (known?.primary === primary) return known;
    this.drop(primary.name);
    const place: Place = {
      primary,
      holder: undefined,
      roots: new RootSets(),
      rootsGiven: () => {},
      twins: new Map(),
    };
    this.#places.set(primary.name, place);
    return place;
  }

  #turnsAt(connection: Connection): Turns {
    const known = this.#turns.get(connection);
    if (known !== undefined) return known;
    const turns = new Turns();
    this.#turns.set(connection, turns);
    return turns;
  }

  #twinOr(place: Place, party: Party, reason: DedicatedReason): Connection {
    if (place.twins.size >= MAX_TWINS) this.#makeRoom(place);
    const twin = this.#twin(place, party, reason);
    if (twin !== undefined) return twin;
    const { name } = place.primary;
    throw new PlugboardError('LIMIT_EXCEEDED', `${MAX_TWINS + 1} processes of ${name} are in use`, {
      server: name,
      hint: 'End a session, or wait until one is idle.',
    });
  }

  #twin(place: Place, party: Party, reason: DedicatedReason): Connection | undefined {
    const known = place.twins.get(party);
    if (known !== undefined) return known;
    if (place.twins.size >= MAX_TWINS) return undefined;
    const twin = this.#options.twin(place.primary);
    this.#reasons.set(twin, reason);
    place.twins.set(party, twin);
    return twin;
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
      const giveUp = this.#turnsAt(connection).wait(session, () => done(() => resolve(true)));
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
