/**
 * Decides which roots a process receives: those of the sessions that it serves. A process that has received some
 * serves only sessions with the same roots, so that one client's folders are not disclosed to another client.
 */

import type { Connection } from '../connection/connection.ts';
import { type Root, type RootsRequest, rootsOf } from '../connection/questions.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import { LinkedList } from '../lib/linked-list.ts';
import { type Party, partyOf, type Session } from './session.ts';

/** How long a call waits for its server to request roots again, once they are known. */
const ROOTS_MS = 1_000;
/** How long a request for roots waits for the first session, where sessions are expected. */
const SESSION_MS = 3_000;

export interface RootsRouterOptions {
  readonly clock: Clock;
  /** Whether sessions that can provide roots are expected. */
  readonly expectsRoots: boolean;
  readonly allProcesses: ReadonlyMap<string, ServerProcesses>;
  readonly processesOf: (primary: Connection) => ServerProcesses;
}

export class RootsRouter {
  readonly #options: RootsRouterOptions;
  /** The open sessions, in the order they were opened. */
  readonly #open = new LinkedList<Session>();
  readonly #onOpen = new Set<() => void>();

  constructor(options: RootsRouterOptions) {
    this.#options = options;
  }

  opened(session: Session): void {
    session.opened = this.#open.add(session);
    if (!canAnswerAnyTime(session)) return;
    for (const wake of [...this.#onOpen]) wake();
    for (const { roots, primary } of this.#options.allProcesses.values())
      if (roots.isUnanswered) primary.rootsChanged();
  }

  /** Removes a session; false if it was already removed. */
  ended(session: Session): boolean {
    if (session.opened === undefined) return false;
    this.#open.remove(session.opened);
    session.opened = undefined;
    return true;
  }

  /** Returns the party whose process has this session's roots; undefined: the first process. */
  async partyFor(processes: ServerProcesses, session: Session): Promise<Party | undefined> {
    const { primary, roots } = processes;
    const own = await askForRoots(session, { server: primary.name, isAtWork: true });
    // A client that does not respond is assumed to have other roots.
    if (own === 'unknown') return roots.given === undefined ? undefined : session;
    const key = roots.learn(session, own);
    if (roots.isUnanswered && own !== undefined) await this.#askAgain(processes, key);
    return roots.given === undefined || roots.given === key ? undefined : rootsParty(key);
  }

  /**
   * Returns the roots for a process that requests them. `session`: whose work it is about; undefined for a request
   * outside of any work, which is answered for the sessions that the process serves.
   */
  async answer(connection: Connection, session: Session | undefined): Promise<SessionRoots> {
    const { name } = connection;
    // A modern server asks within one request and does not keep the answer: its process can serve every session.
    if (session !== undefined && connection.negotiated?.era === 'modern')
      return askForRoots(session, { server: name, isAtWork: true });
    const known = this.#options.allProcesses.get(name) ?? this.#options.processesOf(connection);
    const asked = session === undefined ? await this.#usersOf(connection) : [session];
    let answer: SessionRoots;
    for (const each of asked) {
      const request = { server: name, isAtWork: session !== undefined };
      const before = session === undefined ? known.roots.rootsOf(each) : 'unknown';
      const own = before === 'unknown' ? await askForRoots(each, request) : before;
      if (own !== 'unknown') known.roots.learn(each, own);
      answer = own ?? answer;
      if (typeof own === 'object') break;
    }
    if (session === undefined && asked.length === 0 && this.#options.expectsRoots) answer = 'unknown';
    this.#gave(known, connection, answer);
    return answer;
  }

  /** Handles changed roots of a session: processes that it does not share are notified. */
  async changed(session: Session, isSeparate: boolean): Promise<void> {
    const allProcesses = [...this.#options.allProcesses.values()];
    await Promise.all(allProcesses.map((processes) => this.#changedAt(processes, session, isSeparate)));
  }

  async #changedAt(processes: ServerProcesses, session: Session, isSeparate: boolean): Promise<void> {
    const { primary, roots, dedicated } = processes;
    dedicated.get(session)?.rootsChanged();
    const before = roots.forget(session);
    // The first process has roots of others, and this session has not used it.
    if (before === undefined && roots.given !== undefined) return;
    const isAtPrimary = before === undefined || before === roots.given;
    const own = isAtPrimary ? primary : dedicated.get(rootsParty(before));
    // Others use it with the previous roots: the next call of the session gets another process.
    if (own === undefined || (before !== undefined && roots.sessionsWith(before).length > 0)) return;
    if (isSeparate && before !== undefined) {
      const now = await askForRoots(session, { server: primary.name, isAtWork: false });
      if (now === 'unknown') return;
      const key = roots.learn(session, now);
      if (isAtPrimary) roots.given = key;
      else if (key === roots.given || dedicated.has(rootsParty(key))) return;
      else {
        dedicated.delete(rootsParty(before));
        dedicated.set(rootsParty(key), own);
      }
    }
    own.rootsChanged();
  }

  /**
   * Notifies the first process, which requested roots before any client could answer: it gets the roots of the first
   * session that uses it.
   */
  async #askAgain(processes: ServerProcesses, key: string): Promise<void> {
    processes.roots.isUnanswered = false;
    processes.roots.given = key;
    await new Promise<void>((resolve) => {
      const stopTimer = this.#options.clock.after(ROOTS_MS, () => processes.rootsGiven());
      processes.rootsGiven = () => {
        stopTimer();
        resolve();
      };
      processes.primary.rootsChanged();
    });
  }

  #gave(processes: ServerProcesses, connection: Connection, answer: SessionRoots): void {
    const { primary, roots } = processes;
    if (primary !== connection) return;
    roots.isUnanswered = answer === 'unknown';
    if (answer !== 'unknown') roots.given = rootsKey(answer);
    processes.rootsGiven();
  }

  /** Returns the sessions that a process serves, or would serve. */
  async #usersOf(connection: Connection): Promise<readonly Session[]> {
    const processes = this.#options.allProcesses.get(connection.name);
    const party = processes === undefined ? undefined : partyAt(processes, connection);
    if (typeof party === 'object') return [party];
    const same = party === undefined ? [] : (processes?.roots.sessionsWith(rootsKeyOf(party)) ?? []);
    if (same.length > 0) return same;
    const open = await this.#sessions();
    const members = open.filter((session) => partyOf(session) === party);
    return members.length > 0 ? members : open;
  }

  /**
   * Returns the sessions that can be asked outside of a request; waits briefly for the first one where some are
   * expected.
   */
  async #sessions(): Promise<readonly Session[]> {
    const askable = (): Session[] => this.#open.items().filter(canAnswerAnyTime);
    if (this.#options.expectsRoots && askable().length === 0) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          stopTimer();
          this.#onOpen.delete(done);
          resolve();
        };
        const stopTimer = this.#options.clock.after(SESSION_MS, done);
        this.#onOpen.add(done);
      });
    }
    return askable();
  }
}

/** A stateless client can be asked only within its requests, unless its roots are known. */
function canAnswerAnyTime({ roots, isStateless }: Session): boolean {
  return roots !== undefined && (!isStateless || typeof roots === 'object');
}

/** The roots of a session: undefined if it does not support roots; `unknown` if its client cannot be asked now. */
export type SessionRoots = readonly Root[] | undefined | 'unknown';

/** The key of sessions without roots. */
const NONE = 'none';

interface Known {
  readonly key: string;
  readonly roots: readonly Root[] | undefined;
}

export class RootSets {
  /** The key of the roots that the first process received; undefined until it requested them. */
  given: string | undefined;
  /** The first process requested roots, and no client could answer: it is notified when one can. */
  isUnanswered = false;
  readonly #known = new Map<Session, Known>();

  keyOf(session: Session): string | undefined {
    return this.#known.get(session)?.key;
  }

  /** Returns the known roots without a request; `unknown` if the session was not asked yet. */
  rootsOf(session: Session): SessionRoots {
    const known = this.#known.get(session);
    return known === undefined ? 'unknown' : known.roots;
  }

  learn(session: Session, roots: readonly Root[] | undefined): string {
    const key = rootsKey(roots);
    this.#known.set(session, { key, roots });
    return key;
  }

  /** Removes a session and returns its key. */
  forget(session: Session): string | undefined {
    if (this.#known.size === 0) return undefined;
    const key = this.keyOf(session);
    this.#known.delete(session);
    return key;
  }

  sessionsWith(key: string): readonly Session[] {
    return [...this.#known].flatMap(([session, known]) => (known.key === key ? [session] : []));
  }

  /**
   * True if the session's roots must be known before it may use the first process, or differ from those it received.
   */
  isOpenFor(session: Session): boolean {
    const key = this.keyOf(session);
    return this.given === undefined ? this.isUnanswered && key === undefined : key !== this.given;
  }
}

/** Requests the roots of a session. */
async function askForRoots({ roots }: Session, request: RootsRequest): Promise<SessionRoots> {
  if (roots === undefined) return undefined;
  try {
    return await rootsOf(roots, request);
  } catch (thrown) {
    return asPlugboardError(thrown).detail.rpcCode === RPC_METHOD_NOT_FOUND ? undefined : 'unknown';
  }
}

/** The error for a server whose request no client could answer yet. */
export function rootsUnknown(): PlugboardError {
  return new PlugboardError('PROTOCOL_ERROR', 'No client has sent its roots yet');
}

/** Returns one key for one set of roots, whatever their order and names. */
function rootsKey(roots: readonly Root[] | undefined): string {
  return roots === undefined ? NONE : JSON.stringify(roots.map(({ uri }) => uri).toSorted());
}

// The processes of one server: the first one, and the dedicated ones for one party each.

export interface ServerProcesses {
  readonly primary: Connection;
  /** The party whose state the primary holds, if the server is not shared. */
  holder: Party | undefined;
  readonly roots: RootSets;
  /** Called when the primary has received roots. */
  rootsGiven: () => void;
  readonly dedicated: Map<Party, Connection>;
}

const ROOTS_PARTY = 'roots ';

/** Returns the party of all sessions with the same roots. */
export function rootsParty(key: string | undefined): string {
  return `${ROOTS_PARTY}${key}`;
}

/** Returns the key of such a party; empty for other parties. */
export function rootsKeyOf(party: string): string {
  return party.startsWith(ROOTS_PARTY) ? party.slice(ROOTS_PARTY.length) : '';
}

/** Returns the party that a process serves; undefined if it serves all. */
export function partyAt(
  { primary, holder, roots, dedicated }: ServerProcesses,
  connection: Connection,
): Party | undefined {
  if (primary !== connection) return [...dedicated].find(([, dedicated]) => dedicated === connection)?.[0];
  return holder ?? (roots.given === undefined ? undefined : rootsParty(roots.given));
}
