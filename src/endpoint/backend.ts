/** The interfaces between an endpoint and its backend: a served host, or a server written with the kit. */

import type { IncomingHttpHeaders } from 'node:http';
import type { Era, Implementation } from '../connection/eras.ts';
import type { LogLevel } from '../connection/log-levels.ts';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { inTime } from '../lib/waits.ts';
import type { ClientConnection } from './client-connection.ts';
import type { ClientInfo, Params } from './client-era.ts';
import type { SuspendedRequests } from './client-rounds.ts';
import type { MethodTable } from './methods.ts';
import type { RpcFailure } from './rpc-failure.ts';

export type ListKind = 'tools' | 'resources' | 'prompts';

/** The part that all clients of one endpoint share. */
export interface Backend {
  /** Added to every modern result; undefined where results already contain it. */
  readonly identity: Implementation | undefined;
  readonly clock: Clock;
  /** Modern requests that wait for their clients' answers. */
  readonly suspended: SuspendedRequests;
  readonly isClosing: boolean;
  /**
   * Resolves when a client on stdio may be served; rejects with the reason if it may not. Undefined: it may be served
   * now.
   */
  ready?(principal: string): Promise<void> | undefined;
  /** Creates the handler of one client; called once for each front. */
  handlerFor(client: ClientConnection): ClientHandler;
  /** Throws an RpcFailure if the headers of a principal's modern call contradict its arguments. */
  checkCall?(headers: IncomingHttpHeaders, call: Params, principal: string): void;
  /** Converts an error of the work to the error that a client receives. */
  failureOf(thrown: unknown, era: Era): RpcFailure;
  /** Called when a principal no longer has access, after its requests and sessions were ended. */
  dismissed?(principal: string): void;
  /** Lets running work finish within a time limit, then cancels it. May be called twice. */
  close(): Promise<void>;
}

/** The accumulated state of a client's session, as it is recorded. */
export interface RecordedMemory {
  /** Rules that a person allowed for the session. */
  readonly allowed: readonly string[];
  /** Identities of the tools that it has loaded. */
  readonly loaded: readonly string[];
}

export interface ClientMemory {
  readonly size: number;
  toRecord(): RecordedMemory;
}

/** Handles the requests of one client. */
export interface ClientHandler {
  /** One table for all clients of a backend; its handlers receive this client. */
  readonly methods: MethodTable<this>;
  /** Returns the capabilities and information for `initialize` and `server/discover`. */
  about(client: Pick<ClientInfo, 'era' | 'version'>): Params;
  /** Starts change notifications to the client. May be called twice. */
  enter(): void;
  /** Called with the complete response to `initialize`, which it may still change. */
  initialized?(params: Params, answer: Params): Params | Promise<Params>;
  /** Watches a resource for changes; rejects if there is none at this address. */
  watch(uri: unknown, clientInfo: ClientInfo, changed: (uri: string) => void): Promise<Unsubscribe>;
  /** Reports states of a task; throws if this client does not support tasks, or does not own this one. */
  watchTask?(taskId: string, clientInfo: ClientInfo, changed: (state: Params) => void): Unsubscribe;
  /** Returns the params that continue a request of another process; undefined if it cannot be continued. */
  continued?(method: string, params: Params, continuation: string): Params | undefined;
  /** Called when a legacy client sets its log level. */
  wantsLog?(level: LogLevel): void;
  /** The state that its session has accumulated, for a record; it only grows, and `size` changes with it. */
  readonly memory?: ClientMemory | undefined;
  /** Continues with the memory of a session of another process; called before any request. */
  remember?(memory: RecordedMemory): void;
  /** Called when the client disconnects, or has no request left that identifies it. May be called twice. */
  leave(): void;
}

/** A running server endpoint. */
export interface Served {
  /** Lets running calls finish within a time limit, then cancels them. May be called twice. */
  close(): Promise<void>;
  /** Resolves when serving has ended, by `close()` or because the client disconnected. */
  readonly closed: Promise<void>;
}

/** How long running calls may continue after serving was asked to end. */
const CLOSE_GRACE_MS = 5_000;

/** Closes the clients of an endpoint: running calls may finish within a time limit. */
export async function closeClients(
  clientConnections: readonly ClientConnection[],
  suspended: SuspendedRequests,
  clock: Clock,
  why: string,
): Promise<void> {
  const reason = new PlugboardError('CANCELLED', why);
  suspended.close(reason);
  for (const clientConnection of clientConnections) clientConnection.stopListening();
  const idle = Promise.all(clientConnections.map((clientConnection) => clientConnection.idle()));
  await inTime(idle, CLOSE_GRACE_MS, clock, undefined);
  for (const clientConnection of clientConnections) clientConnection.dismiss(reason);
}
