/** Legacy sessions over HTTP: whose they are, which streams they have open, and when they end. */

import { randomUUID } from 'node:crypto';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { Backend } from './backend.ts';
import { Front } from './front.ts';
import { eventOf, type HttpExchange } from './http-exchange.ts';
import { MissedEvents } from './missed-events.ts';

const MAX_SESSIONS = 10_000;
/** A session that has asked for nothing this long, and does not listen, is over. */
const SESSION_IDLE_MS: number = 30 * 60 * 1000;
/** Within this time a session counts as used just now. */
const TOUCH_MS = 10_000;
/** Streams of one session at the same time; the newest is the one that is written to. */
const MAX_STREAMS = 8;

export class HttpSession {
  readonly id: string = randomUUID();
  readonly front: Front;
  readonly #streams: HttpExchange[] = [];
  readonly #missed = new MissedEvents();
  usedAt: number = Number.NEGATIVE_INFINITY;

  constructor(backend: Backend, principal: string) {
    this.front = new Front(backend, {
      principal,
      stateless: false,
      broadcast: (message) => this.#broadcast(message),
    });
  }

  get isBusy(): boolean {
    return this.front.isBusy || this.#streams.some((stream) => !stream.isEnded);
  }

  /** One more stream for what belongs to no request; a client that says what it saw last gets what came since. */
  listen(stream: HttpExchange, lastEventId: string | undefined): void {
    this.#streams.push(stream);
    stream.onGone = () => this.#streams.splice(this.#streams.indexOf(stream), 1);
    stream.openStream();
    for (const event of this.#missed.since(lastEventId)) stream.write(event);
    if (this.#streams.length > MAX_STREAMS) this.#streams.shift()?.end();
  }

  close(reason: PlugboardError): void {
    this.front.close(reason);
    for (const stream of this.#streams.splice(0)) stream.end();
  }

  #broadcast(message: JsonRpcMessage): boolean {
    // A question is for now, and for whoever is there; what was told can be told again.
    const event = 'id' in message ? eventOf(message) : this.#missed.keep(message);
    for (let at = this.#streams.length - 1; at >= 0; at -= 1)
      if (this.#streams[at]?.write(event)) return true;
    return false;
  }
}

export class HttpSessions {
  readonly #backend: Backend;
  readonly #clock: Clock;
  /** In the order of their last use, so that the idlest comes first. */
  readonly #sessions = new Map<string, HttpSession>();

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#clock = backend.clock;
  }

  /** A new one; when there are too many, the idlest makes room. Undefined when all are at work. */
  open(principal: string): HttpSession | undefined {
    if (this.#sessions.size >= MAX_SESSIONS) {
      const idlest = [...this.#sessions.values()].find((session) => !session.isBusy);
      if (idlest === undefined) return undefined;
      this.end(idlest, 'other clients needed its place');
    }
    const session = new HttpSession(this.#backend, principal);
    this.#touch(session);
    return session;
  }

  /** Somebody else's session is as unknown as one that never was (A7). */
  find(id: string, principal: string): HttpSession | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.front.principal !== principal) return undefined;
    this.#touch(session);
    return session;
  }

  end(session: HttpSession, why: string): void {
    this.#sessions.delete(session.id);
    session.close(new PlugboardError('CANCELLED', `the session was ended: ${why}`));
  }

  /** Ends those that nobody uses any more. */
  sweep(): void {
    const before = this.#clock.now() - SESSION_IDLE_MS;
    for (const session of [...this.#sessions.values()]) {
      if (session.usedAt > before) return;
      if (!session.isBusy) this.end(session, 'it was not used');
    }
  }

  close(): void {
    for (const session of [...this.#sessions.values()]) this.end(session, 'the server is closing');
  }

  #touch(session: HttpSession): void {
    const now = this.#clock.now();
    // Their order has to be right to the minute, and not to the call.
    if (now - session.usedAt < TOUCH_MS) return;
    session.usedAt = now;
    this.#sessions.delete(session.id);
    this.#sessions.set(session.id, session);
  }
}
