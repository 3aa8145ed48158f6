/** The gateway and the page over HTTP, for as long as one client of the daemon stays attached. */

import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { Home } from '../../config/home.ts';
import type { Host } from '../../host.ts';
import type { Clock } from '../../lib/clock.ts';
import { replaceFile } from '../../lib/locked-file.ts';
import { onFreePort } from '../../manage/free-port.ts';
import { type ServedManaged, serveHttp } from '../../manage/http.ts';
import type { Traffic } from '../../manage/traffic.ts';
import type { HttpListen, HttpListening } from '../protocol/hello.ts';

const OWNER_ONLY = 0o600;
const MAX_PORT = 65_535;

export interface HttpSessionOptions {
  readonly home: Home;
  readonly clock: Clock;
  readonly traffic: Traffic;
}

export class HttpSession {
  /** Resolves when the client has disconnected, or was disconnected. */
  readonly left: Promise<void>;
  readonly #served: ServedManaged;
  readonly #socket: Socket;

  /** Rejects if it cannot listen there. */
  static async open(
    socket: Socket,
    host: Host,
    listen: HttpListen,
    options: HttpSessionOptions,
  ): Promise<HttpSession> {
    const { port, manageToken, ...rest } = listen;
    const { home, clock, traffic } = options;
    const manage = manageToken === undefined ? false : { token: manageToken };
    const serve = (at: number): Promise<ServedManaged> =>
      serveHttp(host, { ...rest, port: at, manage, clock, traffic });
    const served =
      port === undefined
        ? await onFreePort(serve, { taken: () => {}, first: lastPort(home) })
        : await serve(port);
    if (port === undefined) await rememberPort(home, Number(new URL(served.url).port));
    return new HttpSession(socket, served);
  }

  private constructor(socket: Socket, served: ServedManaged) {
    this.#socket = socket;
    this.#served = served;
    const gone = new Promise<void>((resolve) => {
      socket.once('end', resolve);
      socket.once('close', resolve);
    });
    this.left = gone.then(() => served.close());
    socket.resume();
  }

  get listening(): HttpListening {
    const { url, page } = this.#served;
    return { url, page };
  }

  /** Stops listening when running calls have ended, within a limit, and tells the client why. */
  async leave(word: string): Promise<void> {
    await this.#served.close();
    if (this.#socket.writable) this.#socket.end(`${word}\n`);
    await this.left;
  }
}

/** The port of the last time, so that the address of the page stays the same. */
function lastPort(home: Home): number | undefined {
  try {
    const port = Number(readFileSync(portFile(home), 'utf8'));
    return Number.isInteger(port) && port > 0 && port <= MAX_PORT ? port : undefined;
  } catch {
    return undefined;
  }
}

/** A home that cannot be written costs the stable address, nothing else. */
async function rememberPort(home: Home, port: number): Promise<void> {
  await replaceFile(portFile(home), `${port}\n`, { mode: OWNER_ONLY }).catch(() => {});
}

function portFile({ run }: Home): string {
  return join(run, 'http-port');
}
