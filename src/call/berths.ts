/**
 * Which process of a server works for which session, where sessions are different agents (CON-11).
 *
 * Most servers are shared. One that keeps state has a process for each party: a session, or all sessions of one
 * principal. No party gets a process that another one has used. One of the legacy era may ask something without saying
 * whose call it is about: sessions take turns at it, and who would wait long gets a process of its own. One that was
 * told a session's roots works only for sessions with the same roots from then on.
 */

import { isStdio } from '../config/entry.ts';
import { isShareable } from '../config/shareable.ts';
import type { Connection } from '../connection/connection.ts';
import { type Root, rootsOf } from '../connection/questions.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { type Cancellable, signalOf } from '../lib/cancellation.ts';
import type { Clock } from '../lib/clock.ts';
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
  /** Sessions are different agents: they take turns at legacy servers, and roots keep them apart. */
  readonly takesTurns: boolean;
}

interface Place {
  readonly primary: Connection;
  /** The party whose state the primary keeps, if the server is not shared. */
  holder: Party | undefined;
  /** The session that the primary belongs to, if to one only. */
  owner: Session | undefined;
  /** Why it does. */
  ownerReason: DedicatedReason;
  /** The roots that it was told, if it was. */
  rootsKey: string | undefined;
  /** Sessions beside the owner that have the same roots. */
  readonly sharers: Set<Session>;
  readonly twins: Map<Party, Connection>;
  readonly turns: Turns;
}

export class Berths {
  readonly #options: BerthsOptions;
  readonly #places = new Map<string, Place>();
  readonly #ending = new Set<Promise<void>>();
  readonly #reasons = new WeakMap<Connection, DedicatedReason>();
  /** Sessions of each named party that have used a server that keeps state. */
  readonly #present = new Map<string, Set<Session>>();

  constructor(options: BerthsOptions) {
    this.#options = options;
  }

  get takesTurns(): boolean {
    return this.#options.takesTurns;
  }

  /** The connection that this session uses: the one for all, or its own. Throws if there are too many processes. */
  of(primary: Connection, session: Session): Connection {
    const place = this.#place(primary);
    if (!isShareable(primary.spec.entry)) return this.#dedicated(place, session);
    if (!this.takesTurns) return primary;
    if (place.owner === session || place.sharers.has(session)) return primary;
    const own = place.twins.get(session);
    if (own !== undefined) return own;
    // It reports itself why it is not available.
    if (REFUSED.has(primary.state.status)) return primary;
    // Whether its roots are the same is known when it enters: then it may get a process of its own.
    if (place.owner !== undefined && place.rootsKey !== undefined) return primary;
    if (place.owner !== undefined) return this.#twin(place, session, place.ownerReason) ?? primary;
    return primary;
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
    if (twins.size >= MAX_TWINS) this.#makeRoom(place);
    const twin = this.#twin(place, party, 'state');
    if (twin !== undefined) return twin;
    throw new PlugboardError(
      'LIMIT_EXCEEDED',
      `${primary.name} keeps state for each client, and ${MAX_TWINS + 1} of its processes are in use`,
      { server: primary.name, hint: 'End a session, or wait until one is idle.' },
    );
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
    if (place?.primary === connection && this.#needsRoots(place, session)) return undefined;
    const isAlone = place?.owner === session && place.sharers.size === 0;
    const needsTurn = place?.primary === connection && !isAlone;
    if (!needsTurn || connection.negotiated?.era !== 'legacy') return { connection, hasTurn: false };
    return place.turns.tryEnter(session) ? { connection, hasTurn: true } : undefined;
  }

  /** Rejects when nobody waits for it any more. */
  async enter(connection: Connection, session: Session, waiting: Cancellable): Promise<Berth> {
    if (!isShareable(connection.spec.entry)) return { connection, hasTurn: false };
    const place = this.#places.get(connection.name);
    if (place?.primary === connection && this.#needsRoots(place, session)) {
      // A client that does not answer has other roots, as far as is known.
      const roots = await rootsOf(session.roots ?? []).catch(() => undefined);
      const isSame = roots !== undefined && rootsKeyOf(roots) === place.rootsKey;
      if (isSame) place.sharers.add(session);
      else {
        const twin = this.#twin(place, session, 'roots');
        if (twin !== undefined) return { connection: twin, hasTurn: false };
      }
    }
    const berth = this.tryEnter(connection, session);
    if (berth !== undefined || place === undefined) return berth ?? { connection, hasTurn: false };
    const signal = signalOf(waiting);
    if (await this.#turn(place, session, signal)) return { connection, hasTurn: true };
    const twin = this.#twin(place, session, 'busy');
    if (twin !== undefined) return { connection: twin, hasTurn: false };
    await this.#turn(place, session, signal, Number.POSITIVE_INFINITY);
    return { connection, hasTurn: true };
  }

  leave({ connection, hasTurn }: Berth, session: Session): void {
    if (hasTurn) this.#places.get(connection.name)?.turns.leave(session);
  }

  /** This process was told the roots of a session: only sessions with the same ones use it from here on. */
  bind(connection: Connection, session: Session, roots: readonly Root[]): void {
    const place = this.#places.get(connection.name);
    if (!this.takesTurns || !isShareable(connection.spec.entry)) return;
    if (place?.primary !== connection || place.owner !== undefined) return;
    place.owner = session;
    place.ownerReason = 'roots';
    place.rootsKey = rootsKeyOf(roots);
  }

  /** The session that a process belongs to, if to one only. */
  ownerOf(connection: Connection): Session | undefined {
    const place = this.#places.get(connection.name);
    if (place?.primary === connection) {
      const { holder, owner, sharers } = place;
      return typeof holder === 'object' ? holder : sharers.size === 0 ? owner : undefined;
    }
    for (const [party, twin] of place?.twins ?? [])
      if (twin === connection) return typeof party === 'object' ? party : undefined;
    return undefined;
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
      place.sharers.delete(session);
      if (place.owner !== session) continue;
      const [next] = place.sharers;
      place.owner = next;
      if (next !== undefined) {
        place.sharers.delete(next);
        continue;
      }
      place.rootsKey = undefined;
      place.primary.rest();
    }
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
      owner: undefined,
      ownerReason: 'state',
      rootsKey: undefined,
      sharers: new Set(),
      twins: new Map(),
      turns: new Turns(),
    };
    this.#places.set(primary.name, place);
    return place;
  }

  /** True while it is not known whether this session has the roots that the process was told. */
  #needsRoots({ owner, rootsKey, sharers }: Place, session: Session): boolean {
    return rootsKey !== undefined && owner !== undefined && owner !== session && !sharers.has(session);
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

  /** True when it is this session's turn, false when that took too long. A remote server has no process to save. */
  #turn(
    place: Place,
    session: Session,
    signal: AbortSignal | undefined,
    patienceMs: number = isStdio(place.primary.spec.entry) ? TURN_MS : 0,
  ): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const done = (finish: () => void): void => {
        stopTimer();
        signal?.removeEventListener('abort', aborted);
        finish();
      };
      const giveUp = place.turns.wait(session, () => done(() => resolve(true)));
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

/** Whether a process runs or is being started: it may hold the state of who used it. */
function isRunning({ isLive, state }: Connection): boolean {
  return isLive || state.status === 'connecting';
}

/** One text for one set of roots, whatever their order and names. */
function rootsKeyOf(roots: readonly Root[]): string {
  return JSON.stringify(roots.map(({ uri }) => uri).toSorted());
}
