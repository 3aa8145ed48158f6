/** Legacy sessions over HTTP: whose they are, which streams they have open, when they end, and how they go on. */

import { randomUUID } from 'node:crypto';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { Backend, ListKind } from './backend.ts';
import { Front, type InitializedClient } from './front.ts';
import { eventOf, type HttpExchange } from './http-exchange.ts';
import { MissedEvents } from './missed-events.ts';
import type { SessionRecords } from './session-records.ts';

const MAX_SESSIONS = 10_000;
/** A session that has asked for nothing this long, and does not listen, is over; its record can bring it back. */
const SESSION_IDLE_MS: number = 30 * 60 * 1000;
/** Within this time a session counts as used just now. */
const TOUCH_MS = 10_000;
/** How often the record of a session in use is marked as such. */
const TOUCH_RECORD_MS: number = 60 * 60 * 1000;
/** Streams of one session at the same time; the newest is the one that is written to. */
const MAX_STREAMS = 8;
const LISTS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

export interface HttpSessionOptions {
  readonly id: string;
  readonly principal: string;
  /** Where the session is recorded; undefined: in memory only. */
  readonly records: SessionRecords | undefined;
}

export class HttpSession {
  readonly id: string;
  readonly front: Front;
  readonly #principal: string;
  readonly #records: SessionRecords | undefined;
  readonly #clock: Clock;
  readonly #streams: HttpExchange[] = [];
  readonly #missed: MissedEvents;
  usedAt: number = Number.NEGATIVE_INFINITY;
  /** When its last request came. */
  heardAt: number = Number.NEGATIVE_INFINITY;
  #recordedAt: number;
  /** Writes of the record, one after the other. */
  #recording: Promise<void> = Promise.resolve();
  /** State that waits to be written. */
  #unrecorded: InitializedClient | undefined;
  #isRemoved = false;
  /** The client has not been told yet that the lists may differ from those of the process before. */
  #hasStaleLists = false;

  constructor(backend: Backend, { id, principal, records }: HttpSessionOptions) {
    this.id = id;
    this.#principal = principal;
    this.#records = records;
    this.#clock = backend.clock;
    this.#recordedAt = this.#clock.now();
    this.#missed = new MissedEvents(this.#clock.now());
    this.front = new Front(backend, {
      principal,
      stateless: false,
      broadcast: (message) => this.#broadcast(message),
      clientChanged: () => this.#record(),
    });
  }

  /** True if the client listens, or has sent anything since then. */
  isPresentSince(time: number): boolean {
    return this.heardAt > time || this.#streams.some((stream) => !stream.isEnded);
  }

  get isBusy(): boolean {
    return this.front.isBusy || this.#streams.some((stream) => !stream.isEnded);
  }

  /** Resolves when the record holds the present state, or could not be written. */
  get recorded(): Promise<void> {
    return this.#recording;
  }

  /** Goes on where another process stopped. */
  async resume(client: InitializedClient): Promise<void> {
    this.#hasStaleLists = true;
    await this.front.resume(client);
    this.touchRecord();
  }

  /** The record of a session that is used, or listens, does not expire. */
  touchRecord(): void {
    const now = this.#clock.now();
    if (this.#records === undefined || now - this.#recordedAt < TOUCH_RECORD_MS) return;
    this.#recordedAt = now;
    void this.#records.touch(this.id);
  }

  /** Deletes the record. Rejects if it could not be deleted. */
  async removeRecord(): Promise<void> {
    this.#isRemoved = true;
    await this.#recording;
    await this.#records?.remove(this.id);
  }

  /** Announces on the first stream after a restart that the lists may have changed. */
  announceLists(stream: HttpExchange): void {
    if (!this.#hasStaleLists || !stream.openStream()) return;
    this.#hasStaleLists = false;
    for (const kind of LISTS) stream.send({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` });
  }

  /** One more stream for what belongs to no request; a client that says what it saw last gets what came since. */
  listen(stream: HttpExchange, lastEventId: string | undefined): void {
    this.#streams.push(stream);
    stream.onGone = () => this.#streams.splice(this.#streams.indexOf(stream), 1);
    stream.openStream();
    this.announceLists(stream);
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

  /** Writes the record after what is being written now; several changes in one moment are one write. */
  #record(): void {
    if (this.#records === undefined) return;
    const isWaiting = this.#unrecorded !== undefined;
    // Read now, not when it is written: a session that closes first has no subscriptions left.
    this.#unrecorded = this.front.initializedClient;
    if (isWaiting) return;
    this.#recording = this.#recording.then(async () => {
      const client = this.#unrecorded;
      this.#unrecorded = undefined;
      if (client === undefined || this.#isRemoved) return;
      this.#recordedAt = this.#clock.now();
      await this.#records?.save(this.id, this.#principal, client);
    });
  }
}

export class HttpSessions {
  readonly #backend: Backend;
  readonly #clock: Clock;
  /** In the order of their last use, so that the idlest comes first. */
  readonly #sessions = new Map<string, HttpSession>();
  readonly #records: SessionRecords | undefined;
  /** Sessions that are being read from their records, so that two requests of one get the same. */
  readonly #resuming = new Map<string, Promise<HttpSession | undefined>>();
  /** Ids of sessions that their clients ended, and whose records are still there. */
  readonly #ended = new Set<string>();

  /** `records`: where sessions outlive this process; undefined: nowhere. */
  constructor(backend: Backend, records: SessionRecords | undefined) {
    this.#backend = backend;
    this.#clock = backend.clock;
    this.#records = records;
  }

  /** A new one; when there are too many, the idlest makes room. Undefined when all are at work. */
  open(principal: string): HttpSession | undefined {
    return this.#add(this.#records?.issueId(principal) ?? randomUUID(), principal);
  }

  /**
   * A session of another principal is treated as unknown (A7). A promise while the session of a process before
   * this one is read from its record.
   */
  find(id: string, principal: string): HttpSession | undefined | Promise<HttpSession | undefined> {
    const session = this.#sessions.get(id);
    if (session === undefined) {
      if (this.#records?.isIssued(id, principal) !== true || this.#ended.has(id)) return undefined;
      return this.#resuming.get(id) ?? this.#resume(id, principal, this.#records);
    }
    if (session.front.principal !== principal) return undefined;
    session.heardAt = this.#clock.now();
    this.#touch(session);
    return session;
  }

  /** Ends a session in this process; its record stays. */
  end(session: HttpSession, why: string): void {
    this.#sessions.delete(session.id);
    session.close(new PlugboardError('CANCELLED', `the session was ended: ${why}`));
  }

  /** Ends a session for good. Resolves when its record is gone. */
  async delete(session: HttpSession, why: string): Promise<void> {
    this.#ended.add(session.id);
    this.end(session, why);
    await session.removeRecord().then(
      () => this.#ended.delete(session.id),
      () => {},
    );
  }

  /** Ends the sessions of one principal for good. */
  dismiss(principal: string): void {
    for (const session of [...this.#sessions.values()])
      if (session.front.principal === principal) void this.delete(session, 'its token has ended');
  }

  #add(id: string, principal: string): HttpSession | undefined {
    if (this.#sessions.size >= MAX_SESSIONS) {
      const idlest = [...this.#sessions.values()].find((session) => !session.isBusy);
      if (idlest === undefined) return undefined;
      this.end(idlest, 'other clients needed its place');
    }
    const session = new HttpSession(this.#backend, { id, principal, records: this.#records });
    this.#touch(session);
    return session;
  }

  #resume(id: string, principal: string, records: SessionRecords): Promise<HttpSession | undefined> {
    const resuming = records
      .load(id, principal)
      .then(async (client) => {
        if (client === undefined || this.#backend.isClosing) return undefined;
        const session = this.#add(id, principal);
        await session?.resume(client);
        return session;
      })
      .finally(() => this.#resuming.delete(id));
    this.#resuming.set(id, resuming);
    return resuming;
  }

  /** Ends those that nobody uses any more. */
  sweep(): void {
    const before = this.#clock.now() - SESSION_IDLE_MS;
    for (const session of [...this.#sessions.values()]) {
      if (session.usedAt > before) return;
      if (session.isBusy) session.touchRecord();
      else this.end(session, 'it was not used');
    }
  }

  /** Ends all in this process. Resolves when their records are written. */
  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    for (const session of sessions) this.end(session, 'the server is closing');
    await Promise.all(sessions.map(({ recorded }) => recorded));
  }

  #touch(session: HttpSession): void {
    const now = this.#clock.now();
    // Their order has to be right to the minute, and not to the call.
    if (now - session.usedAt < TOUCH_MS) return;
    session.usedAt = now;
    session.touchRecord();
    this.#sessions.delete(session.id);
    this.#sessions.set(session.id, session);
  }
}
