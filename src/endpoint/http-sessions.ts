/** Legacy sessions over HTTP: their principals, open streams, expiry, and resumption after a restart. */

import { randomUUID } from 'node:crypto';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { Backend, ListKind } from './backend.ts';
import { ClientConnection, type InitializedClient } from './client-connection.ts';
import { eventOf, type HttpExchange } from './response-stream.ts';
import type { SessionRecords } from './session-records.ts';

const MAX_EVENTS = 256;
const MAX_CHARS: number = 64 * 1024;

interface Kept {
  readonly id: number;
  readonly event: string;
}

/** Buffers the latest events of a session, for a client that resumes after its stream broke. */
class MissedEvents {
  #kept: Kept[] = [];
  #chars = 0;
  #last: number;

  /** `start`: ids are larger than this. With the current time, they are larger than those of a previous process. */
  constructor(start: number) {
    this.#last = start;
  }

  /** Numbers a message and returns it as an event. */
  keep(message: JsonRpcMessage): string {
    this.#last += 1;
    const event = eventOf(message, String(this.#last));
    this.#kept.push({ id: this.#last, event });
    this.#chars += event.length;
    while (this.#kept.length > MAX_EVENTS || this.#chars > MAX_CHARS) {
      this.#chars -= this.#kept.shift()?.event.length ?? 0;
    }
    return event;
  }

  /** Returns the events after `lastEventId`; empty if it is missing or unknown. */
  since(lastEventId: string | undefined): readonly string[] {
    const seen =
      lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : this.#last;
    return this.#kept.filter(({ id }) => id > seen).map(({ event }) => event);
  }
}

const MAX_SESSIONS = 10_000;
/** A session without requests or streams for this long is closed; its record can restore it. */
const SESSION_IDLE_MS: number = 30 * 60 * 1000;
/** A session used within this time is not reordered again. */
const TOUCH_MS = 10_000;
/** How often the record of an active session is refreshed. */
const TOUCH_RECORD_MS: number = 60 * 60 * 1000;
/** Parallel streams of one session; messages are written to the newest. */
const MAX_STREAMS = 8;
const LISTS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

interface HttpSessionOptions {
  readonly id: string;
  readonly principal: string;
  /** The storage of session records; undefined: memory only. */
  readonly records: SessionRecords | undefined;
}

export class HttpSession {
  readonly id: string;
  readonly clientConnection: ClientConnection;
  readonly #records: SessionRecords | undefined;
  readonly #clock: Clock;
  readonly #streams: HttpExchange[] = [];
  readonly #missed: MissedEvents;
  /** Handles a request whose connection was dropped; created for the first one. */
  onDropped: ((exchange: HttpExchange) => void) | undefined;
  usedAt: number = Number.NEGATIVE_INFINITY;
  /** Time of its last request. */
  lastRequestAt: number = Number.NEGATIVE_INFINITY;
  #recordedAt: number;
  /** Serializes writes of the record. */
  #recording: Promise<void> = Promise.resolve();
  /** State that waits to be written. */
  #unrecorded: InitializedClient | undefined;
  #isRemoved = false;
  #isMoved = false;
  /** True until the client is notified that the lists may differ from those of the previous process. */
  #hasStaleLists = false;

  constructor(backend: Backend, { id, principal, records }: HttpSessionOptions) {
    this.id = id;
    this.#records = records;
    this.#clock = backend.clock;
    this.#recordedAt = this.#clock.now();
    this.#missed = new MissedEvents(this.#clock.now());
    this.clientConnection = new ClientConnection(backend, {
      principal,
      stateless: false,
      broadcast: (message) => this.#broadcast(message),
      clientChanged: () => this.#record(),
    });
  }

  /** True if the client has an open stream, or has sent anything since then. */
  isPresentSince(time: number): boolean {
    return this.lastRequestAt > time || this.#streams.some((stream) => !stream.isEnded);
  }

  get isBusy(): boolean {
    return this.clientConnection.isBusy || this.#streams.some((stream) => !stream.isEnded);
  }

  /** Resolves when the record has the current state, or could not be written. */
  get recorded(): Promise<void> {
    return this.#recording;
  }

  /** Continues the session of another process. */
  async resume(client: InitializedClient): Promise<void> {
    this.#hasStaleLists = true;
    await this.clientConnection.resume(client);
    this.touchRecord();
  }

  /** Refreshes the record, so that a session with requests or streams does not expire. */
  touchRecord(): void {
    const now = this.#clock.now();
    if (this.#records === undefined || now - this.#recordedAt < TOUCH_RECORD_MS) return;
    this.#recordedAt = now;
    void this.#records.touch(this.id);
  }

  /** Writes the record again. Resolves to false if another process has continued the session. */
  async recordAgain(): Promise<boolean> {
    this.#record();
    await this.#recording;
    return !this.#isMoved;
  }

  /** Gives the session up when its record is written. */
  async release(): Promise<void> {
    await this.#recording;
    await this.#records?.release(this.id);
  }

  /** Deletes the record. Rejects if it could not be deleted. */
  async removeRecord(): Promise<void> {
    this.#isRemoved = true;
    await this.#recording;
    await this.#records?.remove(this.id);
  }

  /** Notifies on the first stream after a restart that the lists may have changed. */
  announceLists(stream: HttpExchange): void {
    if (!this.#hasStaleLists || !stream.openStream()) return;
    this.#hasStaleLists = false;
    for (const kind of LISTS) stream.send({ jsonrpc: '2.0', method: `notifications/${kind}/list_changed` });
  }

  /** Adds a stream for messages outside of requests; a client that sends its last event id gets the events since. */
  listen(stream: HttpExchange, lastEventId: string | undefined): void {
    this.#streams.push(stream);
    stream.onGone = () => this.#streams.splice(this.#streams.indexOf(stream), 1);
    stream.openStream();
    this.announceLists(stream);
    for (const event of this.#missed.since(lastEventId)) stream.write(event);
    if (this.#streams.length > MAX_STREAMS) this.#streams.shift()?.end();
  }

  close(reason: PlugboardError): void {
    this.clientConnection.close(reason);
    for (const stream of this.#streams.splice(0)) stream.end();
  }

  #broadcast(message: JsonRpcMessage): boolean {
    // A question is only for a connected client; a notification can be replayed.
    const event = 'id' in message ? eventOf(message) : this.#missed.keep(message);
    for (let at = this.#streams.length - 1; at >= 0; at -= 1)
      if (this.#streams[at]?.write(event)) return true;
    return false;
  }

  /** Writes the record after the current write; simultaneous changes are one write. */
  #record(): void {
    if (this.#records === undefined) return;
    const isWaiting = this.#unrecorded !== undefined;
    // Read now, not when it is written: a session that closes first has no subscriptions left.
    this.#unrecorded = this.clientConnection.initializedClient;
    if (isWaiting) return;
    this.#recording = this.#recording.then(async () => {
      const client = this.#unrecorded;
      this.#unrecorded = undefined;
      if (client === undefined || this.#isRemoved) return;
      this.#recordedAt = this.#clock.now();
      const isOurs = await this.#records?.save(this.id, this.clientConnection.principal, client);
      if (isOurs === false) this.#isMoved = true;
    });
  }
}

export class HttpSessions {
  readonly #backend: Backend;
  readonly #clock: Clock;
  /** Ordered by last use, the least recently used first. */
  readonly #sessions = new Map<string, HttpSession>();
  readonly #records: SessionRecords | undefined;
  /** Sessions that are being restored from their records, so that two requests of one share it. */
  readonly #resuming = new Map<string, Promise<HttpSession | undefined>>();
  /** Ids of sessions that their clients ended, and whose records still exist. */
  readonly #ended = new Set<string>();

  readonly #max: number;

  /** `records`: the storage for sessions across processes; undefined: memory only. */
  constructor(backend: Backend, records: SessionRecords | undefined, max: number = MAX_SESSIONS) {
    this.#backend = backend;
    this.#max = max;
    this.#clock = backend.clock;
    this.#records = records;
  }

  /** Opens a session; if there are too many, the least recently used idle one is closed. Undefined if all are busy. */
  open(principal: string): HttpSession | undefined {
    return this.#add(this.#records?.issueId(principal) ?? randomUUID(), principal);
  }

  /**
   * Finds a session; one of another principal is treated as unknown (A7). A promise while a session of a previous
   * process is restored from its record.
   */
  find(id: string, principal: string): HttpSession | undefined | Promise<HttpSession | undefined> {
    const session = this.#sessions.get(id);
    if (session === undefined) {
      if (this.#records?.isIssued(id, principal) !== true || this.#ended.has(id)) return undefined;
      return this.#resuming.get(id) ?? this.#resume(id, principal, this.#records);
    }
    if (session.clientConnection.principal !== principal) return undefined;
    session.lastRequestAt = this.#clock.now();
    this.#touch(session);
    return session;
  }

  has(id: string): boolean {
    return this.#sessions.has(id);
  }

  /** The number of sessions in memory. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Writes all records again, and ends the sessions that another process has continued. */
  async recordAll(): Promise<void> {
    await Promise.all(
      [...this.#sessions.values()].map(async (session) => {
        if (!(await session.recordAgain())) this.end(session, 'another replica has continued it');
      }),
    );
  }

  /** Gives up the sessions without running requests. Resolves with the number of the others. */
  async releaseIdle(): Promise<number> {
    const idle = [...this.#sessions.values()].filter(({ clientConnection }) => !clientConnection.isBusy);
    await Promise.all(
      idle.map((session) => {
        this.end(session, 'another replica continues it');
        return session.release();
      }),
    );
    return this.#sessions.size;
  }

  /** Ends a session in this process; its record stays. */
  end(session: HttpSession, why: string): void {
    this.#sessions.delete(session.id);
    session.close(new PlugboardError('CANCELLED', `The session was ended: ${why}`));
  }

  /** Ends a session permanently. Resolves when its record is deleted. */
  async delete(session: HttpSession, why: string): Promise<void> {
    this.#ended.add(session.id);
    this.end(session, why);
    await session.removeRecord().then(
      () => this.#ended.delete(session.id),
      () => {},
    );
  }

  /** Ends the sessions of one principal permanently. */
  dismiss(principal: string): void {
    for (const session of [...this.#sessions.values()])
      if (session.clientConnection.principal === principal) void this.delete(session, 'its token has ended');
  }

  #add(id: string, principal: string): HttpSession | undefined {
    if (this.#sessions.size >= this.#max) {
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

  /** Ends unused sessions. */
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
    // The order needs to be accurate only to about a minute.
    if (now - session.usedAt < TOUCH_MS) return;
    session.usedAt = now;
    session.touchRecord();
    this.#sessions.delete(session.id);
    this.#sessions.set(session.id, session);
  }
}
