/** What stands behind an endpoint: a host that is served, or a server that was written with the kit. */

import type { IncomingHttpHeaders } from 'node:http';
import type { Era, Implementation } from '../connection/eras.ts';
import type { LogLevel } from '../connection/log-levels.ts';
import type { Clock } from '../lib/clock.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import type { Asker, Params } from './eras.ts';
import type { Front } from './front.ts';
import type { MethodTable } from './methods.ts';
import type { Held } from './rounds.ts';
import type { RpcFailure } from './rpc-failure.ts';

export type ListKind = 'tools' | 'resources' | 'prompts';

/** What all clients of one endpoint share. */
export interface Backend {
  /** On every result of the modern era; undefined where results come dressed already. */
  readonly identity: Implementation | undefined;
  readonly clock: Clock;
  /** Modern requests that wait for their clients' answers. */
  readonly held: Held;
  readonly isClosing: boolean;
  /** Resolves when a client on stdio may be served; rejects with the reason why not. Undefined: it may be now. */
  ready?(): Promise<void> | undefined;
  /** Called once for each front. */
  attend(client: Front): Attendant;
  /** Throws an RpcFailure when a modern call's headers say anything else than its arguments. */
  checkCall?(headers: IncomingHttpHeaders, call: Params): void;
  /** What a client is told of an error that came out of the work for it. */
  failureOf(thrown: unknown, era: Era): RpcFailure;
  /** Lets running work end within a limit, then ends it. May be called twice. */
  close(): Promise<void>;
}

/** What one client is answered. */
export interface Attendant {
  /** One table for all clients of a backend; its handlers are passed this client. */
  readonly methods: MethodTable<this>;
  /** What can be done here, as `initialize` and `server/discover` tell it. */
  about(client: Pick<Asker, 'era' | 'version'>): Params;
  /** From now on the client is told what changes. May be called twice. */
  enter(): void;
  /** The whole answer to `initialize` is known; it may still be changed. */
  initialized?(params: Params, answer: Params): Params | Promise<Params>;
  /** Listens for changes of a resource; rejects when there is none at this address. */
  watch(uri: unknown, asker: Asker, changed: (uri: string) => void): Promise<Unsubscribe>;
  /** Reports states of a task; throws if this client has no tasks, or not this one. */
  watchTask?(taskId: string, asker: Asker, changed: (state: Params) => void): Unsubscribe;
  /** A legacy client set its log level. */
  wantsLog?(level: LogLevel): void;
  /** The client has gone, or has no request left that it could be known by. May be called twice. */
  leave(): void;
}

/** Something that is being served. */
export interface Served {
  /** Lets running calls end within a limit, then ends them. May be called twice. */
  close(): Promise<void>;
  /** Resolves when serving has ended, by `close()` or because the client left. */
  readonly closed: Promise<void>;
}
