/**
 * Which process of a server works for which session, where sessions are different agents (CON-11).
 *
 * Most servers are shared. One that keeps state has a process for each party: a session, or all sessions of one
 * principal. No party gets a process that another one has used. One of the legacy era may ask something without saying
 * whose call it is about: sessions take turns at it, and a session that would wait long gets a process of its own. One
 * that asked for roots works only for sessions with the same roots from then on; sessions with other roots share others.
 */

import { isInProcess, isStdio, type ServerEntry } from '../config/entry.ts';
import { servesOneConnection } from '../config/in-process.ts';
import { isShareable } from '../config/shareable.ts';
import type { Connection } from '../connection/connection.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { type Cancellable, whileOpen } from '../lib/cancellation.ts';
import type { Clock } from '../lib/clock.ts';
import { type Place, partyAt, rootsKeyOf, rootsParty } from './place.ts';
import { RootSets } from './root-sets.ts';
import { RootsRouter } from './roots-router.ts';
import { type Party, partyOf, type Session } from './session.ts';
import { Turns } from './turns.ts';

/** How long a call waits for its turn before its session gets a process of its own. */
const TURN_MS = 1_000;
/** Processes of one server after the first; a client that comes then waits for a turn, or is refused where state is kept. */
const MAX_TWINS = 64;

const REFUSED: ReadonlySet<string> = new Set(['disabled', 'blocked', 'untrusted', 'disconnected']);

/**
 * Why a session has a process of its own: the server keeps state, it was told the roots of another session, or another
 * session kept it busy for too long.
 */
export type DedicatedReason = 'state' | 'roots' | 'busy';

/** Where one piece of work is done, and whether `leave` has to be called when it is over. */
export interface Berth {
  readonly connection: Connection;
  readonly hasTurn: boolean;
}

export interface BerthsOptions {
  readonly clock: Clock;
  /** One more process of the same server, known to nobody else. */
  readonly twin: (primary: Connection) => Connection;
  /** Sessions are different agents. Sessions of one agent take turns too, if they can be asked something. */
  readonly manyAgents: boolean;
  /** Whether sessions will come that can be asked for roots. */
  readonly expectsRoots: boolean;
}

export class Berths {
  readonly #options: BerthsOptions;
  readonly #places = new Map<string, Place>();
  readonly #ending = new Set<Promise<void>>();
  readonly #reasons = new WeakMap<Connection, DedicatedReason>();
  /** Of connections that several sessions may use. */
  readonly #turns = new WeakMap<Connection, Turns>();
  /** Which process was given which roots. */
  readonly roots: RootsRouter;
  /** Sessions that can be asked something. */
  #askable = 0;
  /** Sessions of each named party that have used a server that keeps state. */
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
    // Also for the first one: another may come while its call is under way.
    return this.#options.manyAgents || this.#askable > 0;
  }

  /** A session has come. */
  opened(session: Session): void {
    if (hasQuestions(session)) this.#askable += 1;
    this.roots.opened(session);
  }

  /** The connection that this session uses: the one for all, or its own. Throws if there are too many processes. */
  of(primary: Connection, session: Session): Connection {
    const place = this.#place(primary);
    if (!isShareable(primary.spec.entry)) return this.#dedicated(place, session);
    if (!this.takesTurns) return primary;
    const { roots, twins } = place;
    const key = roots.keyOf(session);
    // Whether the first process has the session's roots is known when it enters.
    return twins.get(session) ?? (key === roots.given ? undefined : twins.get(rootsParty(key))) ?? primary;
  }

  /** The process that keeps the state of this session's party. */
  #dedicated(place: Place, session: Session): Connection {
    const { primary, twins } = place;
    const party = partyOf(session);
    if (typeof party === 'string')
      this.#present.set(party, (this.#present.get(party) ?? new Set()).add(session));
    const own = twins.get(party);
    if (own !== undefined) return own;
    // It reports itself why it is not available.
    if (REFUSED.has(primary.state.status)) return primary;
    // The state of a party that has left ended with its process.
    const { holder } = place;
    if (holder === undefined || (this.#hasLeft(holder) && !isRunning(primary))) place.holder = party;
    if (place.holder === party) return primary;
    return this.#twinOr(place, party, 'state');
  }

  /** Ends the process of a party that has left: its state is lost, not shared. */
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

  /** Undefined when this session has to wait before it may have work done there: then `enter` does. */
  tryEnter(connection: Connection, session: Session): Berth | undefined {
    if (!this.takesTurns || !isShareable(connection.spec.entry)) return { connection, hasTurn: false };
    const place = this.#places.get(connection.name);
    if (place?.primary === connection && place.roots.isOpenFor(session)) return undefined;
    return this.#tryTurn(place, connection, session);
  }

  #tryTurn(place: Place | undefined, connection: Connection, session: Session): Berth | undefined {
    // A process of one session alone has no turns.
    const isOwn = place === undefined || place.twins.get(session) === connection;
    if (isOwn || connection.negotiated?.era !== 'legacy') return { connection, hasTurn: false };
    return this.#turnsAt(connection).tryEnter(session) ? { connection, hasTurn: true } : undefined;
  }

  /** Rejects when the work is cancelled, and if there are too many processes. */
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
      // While the session waited for its turn, the process was given the roots of another one.
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
      // Only a connected server shows of which era it is.
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

  /** The session that a process was started for; undefined if others use it or may come to use it. */
  dedicatedTo(connection: Connection): Session | undefined {
    const place = this.#places.get(connection.name);
    const party = place === undefined ? undefined : partyAt(place, connection);
    return typeof party === 'object' ? party : undefined;
  }

  /** The session that a process belongs to now, if to one only. */
  ownerOf(connection: Connection): Session | undefined {
    const place = this.#places.get(connection.name);
    const party = place === undefined ? undefined : partyAt(place, connection);
    if (place === undefined || party === undefined) return undefined;
    if (typeof party === 'object') return party;
    const [only, ...others] = place.roots.sessionsWith(rootsKeyOf(party));
    return others.length === 0 ? only : undefined;
  }

  /** Whether a session has used this first process of a server, or it has asked for roots. */
  knows(primary: Connection): boolean {
    return this.#places.get(primary.name)?.primary === primary;
  }

  /** Why a process of a server beside the first one was started. */
  reasonOf(connection: Connection): DedicatedReason | undefined {
    return this.#reasons.get(connection);
  }

  twinsOf(server: string): readonly Connection[] {
    return [...(this.#places.get(server)?.twins.values() ?? [])];
  }

  /** The session is over: what was its alone ends with it. */
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

  /** Ends a process that was given the roots of this session and of no other. */
  #endAt({ primary, roots, twins }: Place, session: Session): void {
    const key = roots.forget(session);
    // One request of many by the same client: the process rests when none has come for a while.
    if (key === undefined || session.isStateless || roots.sessionsWith(key).length > 0) return;
    if (key === roots.given) {
      roots.given = undefined;
      // Sessions of one agent share its state: the process stays, and asks again.
      if (this.takesTurns) primary.rest();
      else primary.rootsChanged();
      return;
    }
    this.#close(twins.get(rootsParty(key)));
    twins.delete(rootsParty(key));
  }

  /** The server is gone, or is another one now. */
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

  /** True when it is this session's turn, false when that took too long. */
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

/** A remote server has no process to save, and an object that serves one connection can have no second one. */
function patienceFor(entry: ServerEntry): number {
  if (isStdio(entry)) return TURN_MS;
  return isInProcess(entry) && servesOneConnection(entry.inProcess) ? Number.POSITIVE_INFINITY : 0;
}

/** Whether a process runs or is being started: it may hold the state of who used it. */
function isRunning({ isLive, state }: Connection): boolean {
  return isLive || state.status === 'connecting';
}

function hasQuestions({ elicit, sample, roots }: Session): boolean {
  return (elicit ?? sample ?? roots) !== undefined;
}
