/** Stores the roots of the sessions that use one server, and those that its first process received. */

import { type Root, type RootsRequest, rootsOf } from '../connection/questions.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import type { Session } from './session.ts';

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
export async function askForRoots({ roots }: Session, request: RootsRequest): Promise<SessionRoots> {
  if (roots === undefined) return undefined;
  try {
    return await rootsOf(roots, request);
  } catch (thrown) {
    return asPlugboardError(thrown).detail.rpcCode === RPC_METHOD_NOT_FOUND ? undefined : 'unknown';
  }
}

/** The error for a server whose request no client could answer yet. */
export function rootsUnknown(): PlugboardError {
  return new PlugboardError('PROTOCOL_ERROR', 'no client could be asked for its roots yet');
}

/** Returns one key for one set of roots, whatever their order and names. */
export function rootsKey(roots: readonly Root[] | undefined): string {
  return roots === undefined ? NONE : JSON.stringify(roots.map(({ uri }) => uri).toSorted());
}
