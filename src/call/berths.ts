/**
 * Which process of a server works for which session, where sessions are different agents (CON-11).
 *
 * Most servers are shared. One that keeps state has a process for each session. One of the legacy era may ask
 * something without saying whose call it is about: sessions take turns at it, and who would wait long gets a
 * process of its own. One that was told a session's roots works only for sessions with the same roots from then on.
 */

import { isStdio } from '../config/entry.ts';
import { isShareable } from '../config/shareable.ts';
import type { Connection } from '../connection/connection.ts';
import { type Root, rootsOf } from '../connection/questions.ts';
import { asPlugboardError } from '../errors.ts';
import { type Cancellable, signalOf } from '../lib/cancellation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Session } from './session.ts';
import { Turns } from './turns.ts';

/** How long a call waits for its turn before its session gets a process of its own. */
const TURN_MS = 1_000;
/** Processes of one server beside the first; whoever comes then waits for a turn however long it takes. */
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
}

interface Place {
  readonly primary: Connection;
  /** The session that the primary belongs to, if to one only. */
  owner: Session | undefined;
  /** Why it does. */
  ownerReason: DedicatedReason;
  /** The roots that it was told, if it was. */
  rootsKey: string | undefined;
  /** Sessions beside the owner that have the same roots. */
  readonly sharers: Set<Session>;
  readonly twins: Map<Session, Connection>;
  readonly turns: Turns;
}

export class Berths {
  readonly #options: BerthsOptions;
  readonly #places = new Map<string, Place>();
  readonly #ending = new Set<Promise<void>>();
  readonly #reasons = new WeakMap<Connection, DedicatedReason>();

  constructor(options: BerthsOptions) {
    this.#options = options;
  }

  /** The connection that this session uses: the one for all, or its own. */
  of(primary: Connection, session: Session): Connection {
    const place = this.#place(primary);
    if (place.owner === session || place.sharers.has(session)) return primary;
    const own = place.twins.get(session);
    if (own !== undefined) return own;
    // It says itself why it cannot be had.
    if (REFUSED.has(primary.state.status)) return primary;
    // Whether its roots are the same is known when it enters: then it may get a process of its own.
    if (place.owner !== undefined && place.rootsKey !== undefined) return primary;
    if (place.owner !== undefined) return this.#twin(place, session, place.ownerReason) ?? primary;
    if (!isShareable(primary.spec.entry)) {
      place.owner = session;
      place.ownerReason = 'state';
    }
    return primary;
  }

  /** Undefined when this session has to wait before it may have work done there: then `enter` does. */
  tryEnter(connection: Connection, session: Session): Berth | undefined {
    const place = this.#places.get(connection.name);
    if (place?.primary === connection && this.#needsRoots(place, session)) return undefined;
    const isAlone = place?.owner === session && place.sharers.size === 0;
    const needsTurn = place?.primary === connection && !isAlone;
    if (!needsTurn || connection.negotiated?.era !== 'legacy') return { connection, hasTurn: false };
    return place.turns.tryEnter(session) ? { connection, hasTurn: true } : undefined;
  }

  /** Rejects when nobody waits for it any more. */
  async enter(connection: Connection, session: Session, waiting: Cancellable): Promise<Berth> {
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
    if (place?.primary !== connection || place.owner !== undefined) return;
    place.owner = session;
    place.ownerReason = 'roots';
    place.rootsKey = rootsKeyOf(roots);
  }

  /** The session that a process belongs to, if to one only. */
  ownerOf(connection: Connection): Session | undefined {
    const place = this.#places.get(connection.name);
    if (place?.primary === connection) return place.sharers.size === 0 ? place.owner : undefined;
    for (const [session, twin] of place?.twins ?? []) if (twin === connection) return session;
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
    for (const place of this.#places.values()) {
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

  #twin(place: Place, session: Session, reason: DedicatedReason): Connection | undefined {
    const known = place.twins.get(session);
    if (known !== undefined) return known;
    if (place.twins.size >= MAX_TWINS) return undefined;
    const twin = this.#options.twin(place.primary);
    this.#reasons.set(twin, reason);
    place.twins.set(session, twin);
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

/** One text for one set of roots, whatever their order and names. */
function rootsKeyOf(roots: readonly Root[]): string {
  return JSON.stringify(roots.map(({ uri }) => uri).toSorted());
}
