/** Logins that were started over HTTP: one for each server, waiting for its redirect or for `/auth/callback`. */

import { PlugboardError } from '../errors.ts';
import type { Host } from '../host/host.ts';

interface Waiting {
  readonly url: Promise<string>;
  readonly abort: AbortController;
}

export class WaitingLogins {
  readonly #host: Pick<Host, 'login'>;
  readonly #waiting = new Map<string, Waiting>();

  constructor(host: Pick<Host, 'login'>) {
    this.#host = host;
  }

  /** Returns the address for the browser. A second request for the same server gets the same login. */
  begin(server: string): Promise<string> {
    const known = this.#waiting.get(server);
    if (known !== undefined) return known.url;
    const abort = new AbortController();
    const url = new Promise<string>((resolve, reject) => {
      this.#host
        .login(server, { noBrowser: true, signal: abort.signal, onUrl: resolve })
        // A failure after the address was returned is an event; before that, it is the response.
        .catch(reject)
        .finally(() => {
          if (this.#waiting.get(server)?.abort === abort) this.#waiting.delete(server);
        });
    });
    this.#waiting.set(server, { url, abort });
    return url;
  }

  /** Cancels a login, because it or its server was removed. */
  cancel(server: string): void {
    this.#waiting
      .get(server)
      ?.abort.abort(new PlugboardError('CANCELLED', 'The login was abandoned', { server }));
  }

  close(): void {
    for (const server of this.#waiting.keys()) this.cancel(server);
  }
}
