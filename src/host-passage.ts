/** One server of a host, handed to a session as it is: only its process is shared, everything else is the session's. */

import type { Session } from './call/session.ts';
import type { Workplace } from './call/workplace.ts';
import type { Connection } from './connection/connection.ts';
import type { Negotiated } from './connection/eras.ts';
import type { ListResult } from './connection/listing.ts';
import type { ListEvent } from './connection/live.ts';
import type { Params, RequestOptions } from './connection/peer.ts';
import { PlugboardError } from './errors.ts';
import type { Unsubscribe } from './lib/emitter.ts';

export interface PassageEvents {
  readonly listChanged: (kind: ListEvent) => void;
  /** The server reports the state of a task. */
  readonly taskChanged: (state: Params) => void;
  /** The process is another one now. */
  readonly started: (pid: number | undefined) => void;
  /** The process is gone, and by itself it is not coming back to this session. */
  readonly lost: (error: PlugboardError) => void;
}

export interface PassageRequest extends RequestOptions {
  /** True if a server of the legacy era may ask something during the request without naming it. */
  readonly mayAsk: boolean;
}

export interface PassageOptions {
  readonly work: Workplace;
  readonly session: Session;
  /** The first process of the server, as it is now: a changed entry makes it another one. */
  readonly primary: () => Connection | undefined;
}

export class Passage {
  readonly #options: PassageOptions;
  readonly #primary: Connection;

  /** `primary`: what is handed through; when another one takes its place, this is over. */
  constructor(primary: Connection, options: PassageOptions) {
    this.#options = options;
    this.#primary = primary;
  }

  get spec(): Connection['spec'] {
    return this.#primary.spec;
  }

  get pid(): number | undefined {
    return this.#own()?.pid;
  }

  /** What was agreed with the process that works for this session, which is started for it. */
  async negotiated(): Promise<Negotiated> {
    const { negotiated } = await this.#there();
    if (negotiated === undefined) throw this.#gone();
    return negotiated;
  }

  /** Its tools as it listed them. */
  async tools(): Promise<ListResult> {
    const { tools } = await this.#there();
    if (tools === undefined) throw this.#gone();
    return tools;
  }

  /** Sends a request as it is. Clocks are the caller's: it waits for as long as nobody takes it back. */
  async request(method: string, params: Params, { mayAsk, ...options }: PassageRequest): Promise<unknown> {
    const own = this.#own();
    if (own === undefined) throw this.#gone();
    if (!mayAsk) return own.request(method, params, options);
    const { work, session } = this.#options;
    const { cancellation, signal } = options;
    return work.attend(this.#primary, { session, cancellation, signal }, (connection) =>
      connection.request(method, params, options),
    );
  }

  /** Has a modern server report the states of a task. */
  watchTask(taskId: string, changed: (state: Params) => void): Unsubscribe {
    const own = this.#own();
    if (own === undefined) throw this.#gone();
    const stop = this.#options.work.events.on('task', ({ connection, state }) => {
      if (connection === own && state['taskId'] === taskId) changed(state);
    });
    const unwatch = own.watchTask(taskId);
    return () => {
      stop();
      unwatch();
    };
  }

  follow({ listChanged, taskChanged, started, lost }: PassageEvents): Unsubscribe {
    const { events } = this.#options.work;
    const leave = [
      events.on('list', ({ connection, kind }) => {
        if (connection === this.#own()) listChanged(kind);
      }),
      events.on('task', ({ connection, state }) => {
        if (connection === this.#own()) taskChanged(state);
      }),
      events.on('state', ({ connection }) => {
        if (connection.name !== this.spec.name) return;
        const own = this.#own();
        const { state, pid } = connection;
        if (own === undefined) lost(this.#gone());
        else if (own !== connection) return;
        else if (state.status === 'connected') started(pid);
        // One that rests is started by the next request; one that failed or was taken away is not.
        else if ('error' in state) lost(state.error);
        else if (state.status === 'disconnected') lost(this.#gone());
      }),
    ];
    return () => {
      for (const stop of leave) stop();
    };
  }

  #own(): Connection | undefined {
    const { work, session, primary } = this.#options;
    return primary() === this.#primary ? work.of(this.#primary, session) : undefined;
  }

  async #there(): Promise<Connection> {
    const own = this.#own();
    if (own === undefined) throw this.#gone();
    await own.ready();
    return own;
  }

  #gone(): PlugboardError {
    const { name } = this.spec;
    return new PlugboardError('CONNECTION_LOST', `${name} is another server now, or has gone`, {
      server: name,
    });
  }
}
