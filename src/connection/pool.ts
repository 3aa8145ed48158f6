/** All connections of a host, one per server; a configuration change affects only the servers that differ (CFG-8). */

import { isInProcess, type ServerSpec } from '../config/entry.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { Connection } from './connection.ts';
import type { ConnectionContext } from './connection-context.ts';
import { hostClosed } from './reasons.ts';
import type { ConnectionState } from './state.ts';

/** A server and its initial state, decided before it starts. */
export interface Admitted {
  readonly spec: ServerSpec;
  readonly initial: ConnectionState;
}

export interface PoolChange {
  readonly added: readonly Connection[];
  readonly removed: readonly string[];
}

interface Member {
  readonly connection: Connection;
  readonly identity: string;
}

export class Pool {
  readonly #context: ConnectionContext;
  #members = new Map<string, Member>();
  /** Removed servers that are still closing; their successors and `close` wait for them. */
  readonly #leaving = new Map<string, Promise<void>>();
  #closed = false;

  constructor(context: ConnectionContext) {
    this.#context = context;
  }

  get(name: string): Connection | undefined {
    return this.#members.get(name)?.connection;
  }

  all(): readonly Connection[] {
    return [...this.#members.values()].map((member) => member.connection);
  }

  /**
   * Makes the pool hold exactly these servers. Unchanged servers are kept; changed ones are closed before they restart.
   */
  async apply(admitted: readonly Admitted[]): Promise<PoolChange> {
    const next = new Map<string, Member>();
    const removed: string[] = [];
    const fresh: Admitted[] = [];
    for (const one of admitted) {
      const member = this.#members.get(one.spec.name);
      if (member !== undefined && isStill(member, one)) next.set(one.spec.name, member);
      else fresh.push(one);
    }
    const leaving = [...this.#members].filter(([name]) => !next.has(name));
    this.#members = next;
    for (const [name, member] of leaving) {
      removed.push(name);
      this.#leave(name, member.connection);
    }
    await Promise.all(fresh.map((one) => this.#leaving.get(one.spec.name)));
    // The pool was closed in the meantime, or a newer connection was added under this name.
    const wanted = this.#closed ? [] : fresh.filter(({ spec }) => !this.#members.has(spec.name));
    return { added: wanted.map((one) => this.#enter(one)), removed };
  }

  /** Adds or replaces one server. */
  async put(admitted: Admitted): Promise<Connection> {
    const { name } = admitted.spec;
    // A connection that was added concurrently is replaced in turn, so that every connection has an owner.
    do await this.remove(name);
    while (this.#members.has(name));
    if (this.#closed) throw hostClosed(name);
    return this.#enter(admitted);
  }

  async remove(name: string): Promise<boolean> {
    const member = this.#members.get(name);
    if (member !== undefined) {
      this.#members.delete(name);
      this.#leave(name, member.connection);
    }
    await this.#leaving.get(name);
    return member !== undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const [name, member] of this.#members) this.#leave(name, member.connection);
    this.#members.clear();
    await Promise.all(this.#leaving.values());
  }

  #enter(admitted: Admitted): Connection {
    const connection = new Connection(admitted.spec, admitted.initial, this.#context);
    this.#members.set(connection.name, { connection, identity: identityOf(admitted) });
    return connection;
  }

  #leave(name: string, connection: Connection): void {
    const before = this.#leaving.get(name);
    const done = Promise.all([before, connection.close()]).then(() => {
      if (this.#leaving.get(name) === done) this.#leaving.delete(name);
    });
    this.#leaving.set(name, done);
  }
}

/** A server that was refused at its start, because its program had changed, may be admitted again. */
function isStill({ identity, connection }: Member, admitted: Admitted): boolean {
  const { status } = connection.state;
  const refused = status === 'untrusted' || status === 'blocked';
  return identity === identityOf(admitted) && (!refused || admitted.initial.status === status);
}

/**
 * Identifies a running server: everything it was started from, and its permissions. A change replaces the connection.
 */
function identityOf({ spec, initial }: Admitted): string {
  const { scope, file = null, baseDir, raw, entry, questions = null, lock = null } = spec;
  // An in-process server is the same object after each reload.
  const plain = isInProcess(entry) ? null : entry;
  return canonicalJson([scope, file, baseDir, raw, plain, questions, lock, initial.status]);
}
