/**
 * The connected clients of all gateways of this process, for the page. Clients without a session (modern ones over
 * HTTP) are connected while a request of theirs runs, such as an open stream, and for a minute after the last one.
 */

import { randomUUID } from 'node:crypto';
import type { Implementation } from '../connection/eras.ts';
import type { Clock } from '../lib/clock.ts';

/** How long a client without a session is listed after its last request. */
export const PRESENT_MS = 60_000;

export interface ConnectedClient {
  /** The id of its session, or of the client itself if it has none. */
  readonly session: string;
  /** The name by which it was recognised; undefined for a client without one. */
  readonly client?: string;
  readonly profile?: string;
  /** The program, as it identifies itself; undefined if it has not done so. */
  readonly agent?: { readonly name: string; readonly version: string };
  /** The folder that it works in, if known. */
  readonly folder?: string;
}

/** A client without a session. */
interface Visitor {
  readonly principal: string;
  readonly described: ConnectedClient;
  running: number;
  lastAt: number;
}

export class ConnectedClients {
  readonly #clock: Clock;
  /** Each is described when it is listed: a client identifies itself after it connected. */
  readonly #describe = new Map<string, () => ConnectedClient>();
  /** By gateway, principal and program. */
  readonly #visitors = new Map<string, Visitor>();
  #removedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly #listeners = new Set<() => void>();
  #isAnnounced = false;

  /** Adds a client by the id of its session; returns the function that removes it. */
  add(session: string, describe: () => ConnectedClient): () => void {
    this.#describe.set(session, describe);
    this.#changed();
    return () => {
      this.#describe.delete(session);
      this.#changed();
    };
  }

  /** Calls `listener` after clients came or left; the returned function ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Adds a request of a client without a session; returns the function that ends it. `describe` is called once. */
  visit(
    gateway: string,
    principal: string,
    agent: Implementation | undefined,
    describe: (id: string) => ConnectedClient,
  ): () => void {
    const key = `${gateway}\n${principal}\n${agent?.name}\n${agent?.version}`;
    let visitor = this.#visitors.get(key);
    if (visitor === undefined) {
      this.#removeLeft();
      visitor = { principal, described: describe(randomUUID()), running: 0, lastAt: 0 };
      this.#visitors.set(key, visitor);
    }
    const visited = visitor;
    visited.running += 1;
    return () => {
      visited.running -= 1;
      visited.lastAt = this.#clock.now();
    };
  }

  /** Removes the clients without a session of a principal that no longer has access. */
  forget(principal: string): void {
    for (const [key, visitor] of this.#visitors)
      if (visitor.principal === principal) this.#visitors.delete(key);
  }

  /** Returns the client of a session. */
  of(session: string): ConnectedClient | undefined {
    return this.#describe.get(session)?.();
  }

  list(): readonly ConnectedClient[] {
    const now = this.#clock.now();
    const visitors = [...this.#visitors.values()].filter((visitor) => isPresent(visitor, now));
    return [
      ...[...this.#describe.values()].map((describe) => describe()),
      ...visitors.map(({ described }) => described),
    ];
  }

  /** Removes those that left, at most once for each time in which they are listed. */
  #removeLeft(): void {
    const now = this.#clock.now();
    if (now - this.#removedAt < PRESENT_MS) return;
    this.#removedAt = now;
    for (const [key, visitor] of this.#visitors) if (!isPresent(visitor, now)) this.#visitors.delete(key);
  }

  /** Several clients that leave together are one change. */
  #changed(): void {
    if (this.#isAnnounced || this.#listeners.size === 0) return;
    this.#isAnnounced = true;
    setImmediate(() => {
      this.#isAnnounced = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

function isPresent({ running, lastAt }: Visitor, now: number): boolean {
  return running > 0 || now - lastAt < PRESENT_MS;
}
