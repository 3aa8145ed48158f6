/** The management of one host over HTTP, next to its gateway: the API and the page. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionOptions } from '../call/session.ts';
import { homeAt } from '../config/home.ts';
import type { MountedHandler } from '../endpoint/listen-http.ts';
import { endWith } from '../endpoint/response-stream.ts';
import type { Host } from '../host/host.ts';
import type { HostSession } from '../host/host-session.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { ConnectedClients } from '../serve/connected-clients.ts';
import { Api } from './api.ts';
import type { ApprovalQueue } from './approval-queue.ts';
import { EventLog } from './event-log.ts';
import { ManagementAuth, type ManagementAuthOptions } from './management-auth.ts';
import { Page } from './page.ts';
import { clientRoutes } from './routes-clients.ts';
import { serverRoutes } from './routes-servers.ts';
import { useRoutes } from './routes-use.ts';
import { Traffic } from './traffic.ts';
import { WaitingLogins } from './waiting-logins.ts';

export interface ManagementOptions extends ManagementAuthOptions {
  readonly approvals?: SessionOptions['approvals'];
  readonly clock?: Clock | undefined;
  /** The home of the tokens of clients; default: the host's. */
  readonly tokensOf?: string | undefined;
  /** Of all hosts of this process; the caller closes it. Default: of this host only. */
  readonly traffic?: Traffic | undefined;
}

export class Management implements MountedHandler {
  readonly approvalQueue: ApprovalQueue;
  /** Receives the clients of gateways. */
  readonly clients: ConnectedClients;
  readonly #auth: ManagementAuth;
  readonly #api: Api;
  readonly #page: Page;
  readonly #events: EventLog;
  readonly #logins: WaitingLogins;
  readonly #session: HostSession;
  readonly #closeTraffic: () => void;

  static async open(host: Host, options: ManagementOptions): Promise<Management> {
    return new Management(host, options, await Page.load());
  }

  private constructor(host: Host, options: ManagementOptions, page: Page) {
    const { approvals = 'client', clock = systemClock } = options;
    const traffic = options.traffic ?? new Traffic(clock);
    const unwatch = options.traffic === undefined ? traffic.watch(host) : () => {};
    this.#closeTraffic = () => {
      unwatch();
      if (options.traffic === undefined) traffic.close();
    };
    const { approvalQueue, calls, clients } = traffic;
    this.approvalQueue = approvalQueue;
    this.clients = clients;
    this.#page = page;
    this.#auth = new ManagementAuth(options, clock);
    this.#events = new EventLog(host, traffic, clock);
    this.#logins = new WaitingLogins(host);
    const { approve, elicit, sample } = approvalQueue.forApi;
    // A person who calls a tool on the page has approved it, as on the command line, and gets the whole result.
    this.#session = host.session({ approvals, forModel: false, approve, elicit, sample });
    this.#api = new Api(this.#auth, [
      ...serverRoutes(host, this.#logins),
      ...clientRoutes({ host, calls, clients, home: homeAt(options.tokensOf ?? host.home) }),
      ...useRoutes({ host, session: this.#session, approvalQueue, events: this.#events, calls }),
    ]);
  }

  listensOn(port: number): void {
    this.#auth.listensOn(port);
  }

  handle(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    if (this.#api.handles(path)) this.#api.handle(request, response, path);
    else if (this.#page.handles(path)) this.#showPage(request, response, path);
    else return false;
    return true;
  }

  close(): void {
    this.#closeTraffic();
    this.#logins.close();
    this.#events.close();
    this.#session.end();
  }

  #showPage(request: IncomingMessage, response: ServerResponse, path: string): void {
    const stranger = this.#auth.refusePlace(request);
    if (stranger === undefined) this.#page.handle(request, response, path);
    else endWith(response, stranger.status, JSON.stringify({ error: stranger.error }));
  }
}
