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
import { allRoutes } from './all-routes.ts';
import { Api } from './api.ts';
import type { ApprovalQueue } from './approval-queue.ts';
import { EventLog } from './event-log.ts';
import { LogStreams } from './log-stream.ts';
import { ManagementAuth, type ManagementAuthOptions } from './management-auth.ts';
import { shownServer } from './next-step.ts';
import { Page } from './page.ts';
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
  readonly #logStreams: LogStreams;
  readonly #stopClients: () => void;
  #port: number | undefined;
  readonly #ownsTraffic: boolean;
  /** Of a host's own traffic. */
  readonly #closeTraffic: () => Promise<void> = () => Promise.resolve();

  static async open(host: Host, options: ManagementOptions): Promise<Management> {
    return new Management(host, options, await Page.load());
  }

  private constructor(host: Host, options: ManagementOptions, page: Page) {
    const { approvals = 'client', clock = systemClock } = options;
    const failed = (message: string): void => host.report(undefined, message);
    this.#ownsTraffic = options.traffic === undefined;
    const traffic = options.traffic ?? new Traffic({ clock, home: host.management.home, failed });
    if (options.traffic === undefined) {
      const unwatch = traffic.watch(host);
      this.#closeTraffic = () => {
        unwatch();
        return traffic.close();
      };
    }
    const { approvalQueue, clients } = traffic;
    this.approvalQueue = approvalQueue;
    this.clients = clients;
    this.#page = page;
    this.#auth = new ManagementAuth(options, clock);
    this.#events = new EventLog(host, traffic, clock, (report) => shownServer(report, host.management));
    this.#logins = new WaitingLogins(host);
    const { approve, elicit, sample } = approvalQueue.forApi;
    // A person who calls a tool on the page has approved it, as on the command line, and gets the whole result.
    this.#session = host.session({ approvals, forModel: false, approve, elicit, sample });
    this.#logStreams = new LogStreams(clock);
    this.#api = new Api(
      this.#auth,
      allRoutes({
        host,
        traffic,
        session: this.#session,
        events: this.#events,
        logins: this.#logins,
        logStreams: this.#logStreams,
        port: () => this.#port,
        home: homeAt(options.tokensOf ?? host.home),
      }),
      () => this.#events.announce('config', {}),
    );
    this.#stopClients = clients.onChange(() =>
      this.#events.announce('client', { connected: clients.list() }),
    );
  }

  listensOn(port: number): void {
    this.#port = port;
    this.#auth.listensOn(port);
  }

  handle(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    if (this.#api.handles(path)) this.#api.handle(request, response, path);
    else if (this.#page.handles(path)) this.#showPage(request, response, path);
    else return false;
    return true;
  }

  /** Ends everything that waits for a person; the calls that still run are recorded until `settled`. */
  close(): void {
    if (this.#ownsTraffic) this.approvalQueue.close();
    this.#logins.close();
    this.#events.close();
    this.#logStreams.close();
    this.#stopClients();
    this.#session.end();
  }

  /** Called when no more calls can be made. */
  settled(): Promise<void> {
    return this.#closeTraffic();
  }

  #showPage(request: IncomingMessage, response: ServerResponse, path: string): void {
    const stranger = this.#auth.refusePlace(request);
    if (stranger === undefined) this.#page.handle(request, response, path);
    else endWith(response, stranger.status, JSON.stringify({ error: stranger.error }));
  }
}
