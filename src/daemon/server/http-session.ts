/** Serves the gateway and the page over HTTP, while a client of the daemon is attached or the daemon runs. */

import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Home } from '../../config/home.ts';
import type { Host } from '../../host/host.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Clock } from '../../lib/clock.ts';
import { replaceFile } from '../../lib/locked-file.ts';
import { onFreePort, type ServedManaged, serveHttp } from '../../manage/serve-http.ts';
import type { Traffic } from '../../manage/traffic.ts';
import type { HttpListen, HttpListening, HttpWarning } from '../protocol/daemon-messages.ts';

const OWNER_ONLY = 0o600;
const MAX_PORT = 65_535;

export interface HttpSessionOptions {
  readonly home: Home;
  readonly clock: Clock;
  readonly traffic: Traffic;
}

export class HttpSession {
  /** Resolves when it no longer listens. */
  readonly closed: Promise<void>;
  readonly #served: ServedManaged;
  readonly #listen: HttpListen;
  readonly #clients: Set<Socket>;

  /** Rejects if it cannot listen there, or a required server is missing. */
  static async open(host: Host, listen: HttpListen, options: HttpSessionOptions): Promise<HttpSession> {
    const {
      port,
      manageToken: token,
      manageForwarded: forwarded,
      namedTokens,
      stays: _stays,
      ...rest
    } = listen;
    const { home, clock, traffic } = options;
    const manage = token === undefined ? false : { token, forwarded };
    const tokensOf = namedTokens === true || listen.tokenOptional === true ? home.dir : undefined;
    const clients = new Set<Socket>();
    const onRefusedClient = (warning: string): void => {
      const line = `${JSON.stringify({ warning } satisfies HttpWarning)}\n`;
      for (const socket of clients) if (socket.writable) socket.write(line);
    };
    const serve = (at: number): Promise<ServedManaged> =>
      serveHttp(host, { ...rest, tokensOf, port: at, manage, clock, traffic, onRefusedClient });
    // A person uses the page to find a missing server: only a gateway needs its required servers.
    if (listen.stays !== true) await host.requiredReady('all');
    const served =
      port === undefined
        ? await onFreePort(serve, { taken: () => {}, first: lastPort(home) })
        : await serve(port);
    if (port === undefined) await rememberPort(home, Number(new URL(served.url).port));
    return new HttpSession(served, listen, clients);
  }

  private constructor(served: ServedManaged, listen: HttpListen, clients: Set<Socket>) {
    this.#clients = clients;
    this.#served = served;
    this.#listen = listen;
    this.closed = served.closed;
  }

  get listening(): HttpListening {
    const { url, page } = this.#served;
    return { url, page };
  }

  /** Whether it keeps listening after its client has disconnected. */
  get stays(): boolean {
    return this.#listen.stays === true;
  }

  /** True if a client that requests `wanted` can use this address. */
  isFor({ port, stays: _stays, ...wanted }: HttpListen): boolean {
    const { port: _port, stays: _kept, ...own } = this.#listen;
    return this.stays && port === undefined && canonicalJson(own) === canonicalJson(wanted);
  }

  /** Resolves when the client has disconnected, or was disconnected. */
  async run(socket: Socket): Promise<void> {
    this.#clients.add(socket);
    const gone = new Promise<void>((resolve) => {
      socket.once('end', resolve);
      socket.once('close', resolve);
    });
    socket.resume();
    await Promise.race([gone, this.closed]);
    this.#clients.delete(socket);
  }

  /** Stops listening when running calls have finished, within a limit, and sends `word` to its clients. */
  async close(word: string): Promise<void> {
    const clients = [...this.#clients];
    await this.#served.close();
    for (const socket of clients) if (socket.writable) socket.end(`${word}\n`);
  }
}

/** Returns the port of the last time, so that the address of the page stays the same. */
function lastPort(home: Home): number | undefined {
  try {
    const port = Number(readFileSync(portFile(home), 'utf8'));
    return Number.isInteger(port) && port > 0 && port <= MAX_PORT ? port : undefined;
  } catch {
    return undefined;
  }
}

/** If the home is not writable, only the stable address is lost. */
async function rememberPort(home: Home, port: number): Promise<void> {
  await replaceFile(portFile(home), `${port}\n`, { mode: OWNER_ONLY }).catch(() => {});
}

function portFile({ run }: Home): string {
  return join(run, 'http-port');
}
