/** All connections of a host, one object per server; a new configuration changes only what differs (CFG-8). */

import { isInProcess, type ServerSpec } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { Connection } from './connection.ts';
import type { ConnectionContext } from './context.ts';
import type { ConnectionState } from './state.ts';

/** A server and what was decided about it before anything runs. */
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
  /** Servers that left and are still ending; their successors and `close` wait for them. */
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

  /** Makes the pool hold exactly these. Unchanged servers are not touched; changed ones end before they return. */
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
    // Closed while we waited, or somebody put a newer one in that place.
    const wanted = this.#closed ? [] : fresh.filter(({ spec }) => !this.#members.has(spec.name));
    return { added: wanted.map((one) => this.#enter(one)), removed };
  }

  /** Adds or replaces one server. */
  async put(admitted: Admitted): Promise<Connection> {
    const { name } = admitted.spec;
    // Whoever else puts one there meanwhile is replaced in turn, so that none is left without an owner.
    do await this.remove(name);
    while (this.#members.has(name));
    if (this.#closed) throw new PlugboardError('CANCELLED', 'the host is closed', { server: name });
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

/** One that was refused at its start, because what it runs had changed, may be admitted anew. */
function isStill({ identity, connection }: Member, admitted: Admitted): boolean {
  const { status } = connection.state;
  const refused = status === 'untrusted' || status === 'blocked';
  return identity === identityOf(admitted) && (!refused || admitted.initial.status === status);
}

/** What decides whether a running server may stay: everything it was started from, and what it may do. */
function identityOf({ spec, initial }: Admitted): string {
  const { scope, file = null, baseDir, raw, entry, questions = null } = spec;
  // An object of the program is the same after each reload.
  const plain = isInProcess(entry) ? null : entry;
  return canonicalJson([scope, file, baseDir, raw, plain, questions, initial.status]);
}
