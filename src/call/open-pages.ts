/**
 * Remembers which session was asked to open a page, until its server reports it as done
 * (`notifications/elicitation/complete`).
 */

import type { Connection } from '../connection/connection.ts';

/** Pages remembered per process; the oldest is dropped first. */
const MAX_PAGES = 256;

export class OpenPages {
  readonly #asked = new WeakMap<Connection, Map<string, string>>();

  asked(connection: Connection, elicitationId: string, session: string): void {
    const pages = this.#asked.get(connection) ?? new Map<string, string>();
    this.#asked.set(connection, pages);
    pages.delete(elicitationId);
    pages.set(elicitationId, session);
    const [oldest] = pages.keys();
    if (pages.size > MAX_PAGES && oldest !== undefined) pages.delete(oldest);
  }

  /** Returns the id of the session, once for each page. */
  done(connection: Connection, elicitationId: string): string | undefined {
    const pages = this.#asked.get(connection);
    const session = pages?.get(elicitationId);
    pages?.delete(elicitationId);
    return session;
  }
}
