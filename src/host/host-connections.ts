/** What connections need from the host, and how their events reach the catalog, the content lists and the sessions. */

import type { Questions } from '../call/session-questions.ts';
import { unknownToolNames } from '../catalog/tool-filter.ts';
import { isInProcess, type ServerEntry, type ServerSpec } from '../config/entry.ts';
import { limitsFor } from '../config/limits.ts';
import type { Connection } from '../connection/connection.ts';
import type { ConnectionContext } from '../connection/connection-context.ts';
import { type EraCache, NO_ERA_CACHE } from '../connection/era-cache.ts';
import type { Implementation } from '../connection/eras.ts';
import type { ListEvent } from '../connection/live-connection.ts';
import type { LogMessage } from '../connection/log-gate.ts';
import { isAtLeast, type LogLevel } from '../connection/log-levels.ts';
import type { TransportChoice } from '../connection/open.ts';
import type { Params } from '../connection/peer.ts';
import type { Clock } from '../lib/clock.ts';
import { readVersion } from '../lib/version.ts';
import type { Transport } from '../transport/contract.ts';
import type { HostCore } from './host-core.ts';
import { logged, messageOf } from './host-report.ts';
import { isFromCode } from './host-transports.ts';

/** A server without calls for this long is stopped; its tools stay listed, and the next call starts it. */
const IDLE_AFTER_MS: number = 10 * 60 * 1000;

/** The context of the first process of each server. */
export class HostConnections implements ConnectionContext {
  readonly clock: Clock;
  readonly client: Implementation;
  readonly questions: Questions;
  protected readonly core: HostCore;

  constructor(core: HostCore) {
    this.core = core;
    this.clock = core.clock;
    this.questions = core.questions;
    const { client } = core.config.settings;
    this.client = { name: client?.name ?? 'plugboard', version: client?.version ?? readVersion() };
  }

  expand(spec: ServerSpec): Promise<ServerEntry> {
    return this.core.inputs.expandForStart(spec);
  }

  openTransport(spec: ServerSpec, entry: ServerEntry, choice: TransportChoice): Promise<Transport> {
    return this.core.transports.open(spec, entry, choice);
  }

  capabilities(): Readonly<Record<string, unknown>> {
    return this.core.capabilities;
  }

  eraCache(spec: ServerSpec): EraCache {
    return this.core.transports.keepsNothingOf(spec) ? NO_ERA_CACHE : this.core.eraCache;
  }

  logLevel(connection?: Connection): LogLevel {
    return this.core.logDemand.of(connection);
  }

  startupTimeoutMs(entry: ServerEntry): number {
    return limitsFor(entry, this.core.config.settings).startupTimeoutMs;
  }

  idleAfterMs(entry: ServerEntry): number | undefined {
    // An in-process server has no process to stop, and its state would be lost.
    return entry.lifecycle === 'keep-alive' || isInProcess(entry) ? undefined : IDLE_AFTER_MS;
  }

  sandboxState(): unknown {
    return this.core.sandboxState;
  }

  stateChanged(connection: Connection): void {
    const { loader, events, contact, work } = this.core;
    if (connection.state.status === 'connected') {
      const isNew = loader.receive(connection);
      // A server that reconnects with the same tools emits no event, so that prompt caches stay valid.
      if (isNew) events.emit('tools', { server: connection.name });
      if (isFromCode(connection.spec)) this.#checkToolNames(connection);
    }
    if (connection.state.status === 'disconnected') this.core.forget(connection.name);
    contact.changed(connection);
    events.emit('server', this.core.report(connection));
    work.events.emit('state', { connection });
  }

  listChanged(connection: Connection, kind: ListEvent): void {
    const { loader, content, events, work } = this.core;
    if (kind === 'tools') loader.receive(connection);
    content.listChanged(connection, kind);
    events.emit(kind, { server: connection.name });
    work.events.emit('list', { connection, kind });
  }

  notificationsMissed(connection: Connection): void {
    this.core.content.missed(connection);
  }

  resourceUpdated(connection: Connection, uri: string): void {
    this.core.content.resourceUpdated(connection, uri);
  }

  taskChanged(connection: Connection, state: Params): void {
    this.core.work.taskChanged(connection, state);
  }

  pageDone(connection: Connection, elicitationId: string): void {
    const session = this.questions.pageDone(connection, elicitationId);
    if (session === undefined) return;
    this.core.events.emit('elicitation.complete', { server: connection.name, elicitationId, session });
  }

  /** Routes a log level that only a session requested to that session, not to the host's log. */
  logged(connection: Connection, message: LogMessage): void {
    const { logDemand, work, events } = this.core;
    const { own } = logDemand;
    const session = work.sessionIdOf(connection);
    const isForHost = isAtLeast(message.level, own) || logDemand.of(connection) === own;
    if (isForHost) events.emit('log', logged(connection.name, message, session));
    events.emit('message', messageOf(connection.name, message, session));
  }

  /**
   * Warns about unknown tool names in entries given in code, which the author can correct; a file may be for several
   * versions of a server.
   */
  #checkToolNames({ name, spec, tools }: Connection): void {
    if (tools === undefined || tools.cut !== undefined) return;
    for (const message of unknownToolNames(spec.entry, tools.items)) this.core.warnOnce(name, message);
  }
}

/** The context of dedicated processes: always own ones, and the catalog has the lists of the first process only. */
export class DedicatedConnections extends HostConnections {
  override openTransport(spec: ServerSpec, entry: ServerEntry, choice: TransportChoice): Promise<Transport> {
    return this.core.transports.openOwn(spec, entry, choice);
  }

  override stateChanged(connection: Connection): void {
    this.core.work.events.emit('state', { connection });
  }

  override listChanged(connection: Connection, kind: ListEvent): void {
    this.core.work.events.emit('list', { connection, kind });
  }
}
