/** The dependencies of a connection, provided by the host that owns it. */

import type { ServerEntry, ServerSpec } from '../config/entry.ts';
import type { PlugboardError } from '../errors.ts';
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

export interface ConnectionContext {
  readonly clock: Clock;
  /** Returns a number from 0 to 1; injected so that backoff can be tested. */
  readonly random: () => number;
  readonly client: Implementation;
  /** The minimum log level for a connection; without an argument, the host's own level. */
  readonly logLevel: (connection?: Connection) => LogLevel;
  /** The client capabilities declared when a server connects. */
  readonly capabilities: () => Readonly<Record<string, unknown>>;
  /** The remembered eras that apply to a server. */
  readonly eraCache: (spec: ServerSpec) => EraCache;
  /** Resolves variables and input values of the entry; throws an error that names the missing one. */
  readonly expand: (spec: ServerSpec) => ServerEntry | Promise<ServerEntry>;
  readonly transport: (spec: ServerSpec, entry: ServerEntry, choice: TransportChoice) => Promise<Transport>;
  readonly fallsBackToSse: (entry: ServerEntry, error: PlugboardError) => boolean;
  readonly startupTimeoutMs: (entry: ServerEntry) => number;
  /** Idle time after which a server is stopped until it is needed; undefined: never. */
  readonly idleAfterMs: (entry: ServerEntry) => number | undefined;
  /** Answers requests of a server: elicitation, sampling, roots. */
  readonly questions: { of(connection: Connection): AnswerQuestion };
  /** The server reports that the page of a URL elicitation is complete. */
  readonly pageDone: (connection: Connection, elicitationId: string) => void;
  readonly sandboxState: () => unknown;
  readonly changed: (connection: Connection) => void;
  readonly listChanged: (connection: Connection, kind: ListEvent) => void;
  /** Change notifications of this server may have been lost. */
  readonly missed: (connection: Connection) => void;
  readonly resourceUpdated: (connection: Connection, uri: string) => void;
  readonly taskChanged: (connection: Connection, state: Params) => void;
  readonly log: (connection: Connection, message: LogMessage) => void;
}
