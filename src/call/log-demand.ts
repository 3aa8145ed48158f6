/** Decides which log level each server process is asked for: that of the host, and of the sessions that use it. */

import type { Connection } from '../connection/connection.ts';
import { type LogLevel, moreVerbose } from '../connection/log-levels.ts';
import type { Clock } from '../lib/clock.ts';
import type { Session } from './session.ts';

/**
 * How long a level is kept after the last session that requested it: stateless clients come and go with each request.
 */
const LOWER_AFTER_MS = 10_000;

export interface LogDemandOptions {
  readonly clock: Clock;
  /** The level that the host itself requests. */
  readonly own: LogLevel;
  readonly connections: () => readonly Connection[];
  /** Returns the only session that can use a process; undefined: any session may. */
  readonly dedicatedTo: (connection: Connection) => Session | undefined;
}

export class LogDemand {
  readonly #options: LogDemandOptions;
  readonly #wanted = new Map<Session, LogLevel>();
  #stopTimer: (() => void) | undefined;

  constructor(options: LogDemandOptions) {
    this.#options = options;
  }

  get own(): LogLevel {
    return this.#options.own;
  }

  /** Returns the most verbose level that the host or a session of this process requests. */
  of(connection: Connection | undefined): LogLevel {
    const { own } = this;
    if (connection === undefined || this.#wanted.size === 0) return own;
    const owner = this.#options.dedicatedTo(connection);
    if (owner !== undefined) return moreVerbose(own, this.#wanted.get(owner));
    return [...this.#wanted.values()].reduce(moreVerbose, own);
  }

  want(session: Session, level: LogLevel): void {
    if (this.#wanted.get(session) === level) return;
    this.#wanted.set(session, level);
    this.#apply();
  }

  end(session: Session): void {
    if (!this.#wanted.delete(session)) return;
    this.#stopTimer ??= this.#options.clock.after(LOWER_AFTER_MS, () => {
      this.#stopTimer = undefined;
      this.#apply();
    });
  }

  close(): void {
    this.#wanted.clear();
    this.#stopTimer?.();
  }

  #apply(): void {
    for (const connection of this.#options.connections()) connection.setLogLevel(this.of(connection));
  }
}
