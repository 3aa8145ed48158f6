/** The backend of a kit server at one endpoint: its clients there, and their notifications. */

import type { IncomingHttpHeaders } from 'node:http';
import type { CheckerSource } from '../call/author-check.ts';
import { checkParams } from '../catalog/param-headers.ts';
import type { Era, Implementation } from '../connection/eras.ts';
import { type Backend, type ClientHandler, closeClients, type ListKind } from '../endpoint/backend.ts';
import type { ClientConnection } from '../endpoint/client-connection.ts';
import type { Params } from '../endpoint/client-era.ts';
import { SuspendedRequests } from '../endpoint/client-rounds.ts';
import { RpcFailure } from '../endpoint/rpc-failure.ts';
import type { Clock } from '../lib/clock.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { hasRules } from './access.ts';
import { handlerFailedCode, messageOf } from './call-handler.ts';
import type { ErrorStyle } from './definitions.ts';
import type { LogLevel } from './handler-context.ts';
import { KitClient } from './kit-client.ts';
import { KitTasks, type TaskOptions } from './kit-tasks.ts';
import type { Offer } from './offer.ts';
import type { Tracing } from './tracing.ts';

export interface KitParts {
  readonly identity: Implementation;
  readonly offer: Offer;
  readonly clock: Clock;
  readonly checker: CheckerSource;
  readonly instructions: string | undefined;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly errors: ErrorStyle;
  readonly initialize:
    | ((params: Readonly<Record<string, unknown>>, answer: Readonly<Record<string, unknown>>) => unknown)
    | undefined;
  readonly tasks: TaskOptions;
  readonly tracing: Tracing | undefined;
  readonly warn: (text: string) => void;
}

export class KitBackend implements Backend {
  readonly parts: KitParts;
  readonly clock: Clock;
  readonly identity: Implementation;
  readonly suspended: SuspendedRequests;
  readonly tasks: KitTasks;
  readonly #clientConnections = new Set<ClientConnection>();
  readonly #watchers = new Map<string, Set<(uri: string) => void>>();
  readonly #changed = new Set<ListKind>();
  readonly #stopListening: Unsubscribe;
  #closing: Promise<void> | undefined;

  constructor(parts: KitParts) {
    this.parts = parts;
    this.clock = parts.clock;
    this.identity = parts.identity;
    this.suspended = new SuspendedRequests(parts.clock);
    this.tasks = new KitTasks(parts);
    this.#stopListening = parts.offer.changes.on('changed', (kind) => this.#listChanged(kind));
  }

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  handlerFor(clientConnection: ClientConnection): ClientHandler {
    this.#clientConnections.add(clientConnection);
    return new KitClient(this, clientConnection);
  }

  /**
   * Checks mirrored arguments. A client learns from the list which arguments to repeat in headers, so one that never
   * listed is not rejected.
   */
  checkCall(headers: IncomingHttpHeaders, { name, arguments: args }: Params): void {
    const offered = typeof name === 'string' ? this.parts.offer.tools.get(name) : undefined;
    // A tool that may be hidden is checked after its rules: an error here would show that it exists.
    if (offered !== undefined && !hasRules(offered.tool)) checkParams(headers, offered.mirrored, args);
  }

  leave(clientConnection: ClientConnection): void {
    this.#clientConnections.delete(clientConnection);
  }

  /** Converts an exception of a resource or prompt handler; a tool's own failures are results (`KitClient`). */
  failureOf(thrown: unknown, era: Era): RpcFailure {
    const error = messageOf(thrown);
    return new RpcFailure(handlerFailedCode(era), error, { error });
  }

  watch(uri: string, changed: (uri: string) => void): Unsubscribe {
    const watchers = this.#watchers.get(uri) ?? new Set();
    this.#watchers.set(uri, watchers);
    watchers.add(changed);
    return () => {
      watchers.delete(changed);
      if (watchers.size === 0) this.#watchers.delete(uri);
    };
  }

  updated(uri: string): void {
    for (const changed of [...(this.#watchers.get(uri) ?? [])]) changed(uri);
  }

  log(level: LogLevel, data: unknown, logger: string): void {
    for (const clientConnection of this.#clientConnections)
      clientConnection.log(level, { level, logger, data });
  }

  close(): Promise<void> {
    this.#closing ??= closeClients(
      [...this.#clientConnections],
      this.suspended,
      this.clock,
      'The server is closing',
    )
      .then(() => this.tasks.close())
      .then(() => this.#stopListening());
    return this.#closing;
  }

  /** Several changes of one tick are one notification. */
  #listChanged(kind: ListKind): void {
    if (this.#changed.size === 0) {
      setImmediate(() => {
        const kinds = [...this.#changed];
        this.#changed.clear();
        for (const clientConnection of this.#clientConnections)
          for (const each of kinds) clientConnection.listChanged(each);
      });
    }
    this.#changed.add(kind);
  }
}
