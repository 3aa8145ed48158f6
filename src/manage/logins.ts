/** Logins that were begun over HTTP: one for each server, waiting for its redirect or for `/auth/callback`. */

import { PlugboardError } from '../errors.ts';
import type { Host } from '../host.ts';

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

  /** The address for the browser. Asked twice, the same login is meant. */
  begin(server: string): Promise<string> {
    const known = this.#waiting.get(server);
    if (known !== undefined) return known.url;
    const abort = new AbortController();
    const url = new Promise<string>((resolve, reject) => {
      this.#host
        .login(server, { noBrowser: true, signal: abort.signal, onUrl: resolve })
        // A failure after the address was told is an event; before it, it is the answer.
        .catch(reject)
        .finally(() => {
          if (this.#waiting.get(server)?.abort === abort) this.#waiting.delete(server);
        });
    });
    this.#waiting.set(server, { url, abort });
    return url;
  }

  /** Nobody waits for it any more: the login is taken away, or the server is. */
  cancel(server: string): void {
    this.#waiting
      .get(server)
      ?.abort.abort(new PlugboardError('CANCELLED', 'the login was given up', { server }));
  }

  close(): void {
    for (const server of this.#waiting.keys()) this.cancel(server);
  }
}
