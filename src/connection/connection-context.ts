/** The dependencies of a connection, provided by the host that owns it. */

import type { ServerEntry, ServerSpec } from '../config/entry.ts';
import type { Clock } from '../lib/clock.ts';
import type { Transport } from '../transport/contract.ts';
import type { Connection } from './connection.ts';
import type { EraCache } from './era-cache.ts';
import type { Implementation } from './eras.ts';
import type { ListEvent } from './live-connection.ts';
import type { LogMessage } from './log-gate.ts';
import type { LogLevel } from './log-levels.ts';
import type { TransportChoice } from './open.ts';
import type { Params } from './peer.ts';
import type { AnswerQuestion } from './rounds.ts';

export interface ConnectionContext extends ConnectionEvents {
  readonly clock: Clock;
  readonly client: Implementation;
  /** Answers requests of a server: elicitation, sampling, roots. */
  readonly questions: { of(connection: Connection): AnswerQuestion };
  /** Resolves variables and input values of the entry; throws an error that names the missing one. */
  expand(spec: ServerSpec): ServerEntry | Promise<ServerEntry>;
  openTransport(spec: ServerSpec, entry: ServerEntry, choice: TransportChoice): Promise<Transport>;
  /** The client capabilities declared when a server connects. */
  capabilities(): Readonly<Record<string, unknown>>;
  /** The remembered eras that apply to a server. */
  eraCache(spec: ServerSpec): EraCache;
  /** The minimum log level for a connection; without an argument, the host's own level. */
  logLevel(connection?: Connection): LogLevel;
  startupTimeoutMs(entry: ServerEntry): number;
  /** Idle time after which a server is stopped until it is needed; undefined: never. */
  idleAfterMs(entry: ServerEntry): number | undefined;
  sandboxState(): unknown;
}

/** The events of a connection. */
export interface ConnectionEvents {
  stateChanged(connection: Connection): void;
  listChanged(connection: Connection, kind: ListEvent): void;
  /** Change notifications of this server may have been lost. */
  notificationsMissed(connection: Connection): void;
  resourceUpdated(connection: Connection, uri: string): void;
  taskChanged(connection: Connection, state: Params): void;
  /** The server reports that the page of a URL elicitation is complete. */
  pageDone(connection: Connection, elicitationId: string): void;
  logged(connection: Connection, message: LogMessage): void;
}
