/** Everything that manages one host over HTTP, behind one side door of its gateway: the API, its desk, and the page. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SessionOptions } from '../call/session.ts';
import type { SideDoor } from '../endpoint/http.ts';
import { endWith } from '../endpoint/http-exchange.ts';
import type { Host } from '../host.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { Api } from './api.ts';
import { Desk } from './desk.ts';
import { Door } from './door.ts';
import { EventLog } from './event-log.ts';
import { WaitingLogins } from './logins.ts';
import { Page } from './page.ts';
import { RecentCalls } from './recent-calls.ts';
import { serverRoutes } from './routes-servers.ts';
import { useRoutes } from './routes-use.ts';

export interface ManagementOptions {
  readonly token: string;
  readonly approvals?: SessionOptions['approvals'];
  readonly clock?: Clock | undefined;
}

export class Management implements SideDoor {
  readonly desk: Desk;
  readonly #door: Door;
  readonly #api: Api;
  readonly #page: Page;
  readonly #events: EventLog;
  readonly #calls: RecentCalls;
  readonly #logins: WaitingLogins;

  static async open(host: Host, options: ManagementOptions): Promise<Management> {
    return new Management(host, options, await Page.load());
  }

  private constructor(host: Host, options: ManagementOptions, page: Page) {
    const { token, approvals = 'client', clock = systemClock } = options;
    this.desk = new Desk(clock);
    this.#page = page;
    this.#door = new Door(token, clock);
    this.#events = new EventLog(host, clock);
    this.#calls = new RecentCalls(host, clock);
    this.#logins = new WaitingLogins(host);
    const { approve, elicit, sample } = this.desk;
    // Whoever types a call here has agreed to it, as on the command line, and reads all of the result.
    const session = host.session({ approvals, forModel: false, approve, elicit, sample });
    this.#api = new Api(this.#door, [
      ...serverRoutes(host, this.#logins),
      ...useRoutes({ host, session, desk: this.desk, events: this.#events, calls: this.#calls }),
    ]);
  }

  listensOn(port: number): void {
    this.#door.listensOn(port);
  }

  handle(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    if (this.#api.handles(path)) this.#api.handle(request, response, path);
    else if (this.#page.handles(path)) this.#showPage(request, response, path);
    else return false;
    return true;
  }

  close(): void {
    this.desk.close();
    this.#logins.close();
    this.#events.close();
    this.#calls.close();
  }

  #showPage(request: IncomingMessage, response: ServerResponse, path: string): void {
    const stranger = this.#door.refusePlace(request);
    if (stranger === undefined) this.#page.handle(request, response, path);
    else endWith(response, stranger.status, JSON.stringify({ error: stranger.error }));
  }
}
