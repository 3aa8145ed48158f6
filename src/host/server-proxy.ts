/** Pass-through: exposes one server of a host to a session as it is; only its process is shared. */

import type { Session } from '../call/session.ts';
import type { SessionWork } from '../call/session-work.ts';
import type { Connection } from '../connection/connection.ts';
import type { Negotiated } from '../connection/eras.ts';
import type { ListResult } from '../connection/listing.ts';
import type { ListEvent } from '../connection/live-connection.ts';
import type { Params, RequestOptions } from '../connection/peer.ts';
import { PlugboardError } from '../errors.ts';
import type { Unsubscribe } from '../lib/emitter.ts';

export interface ServerProxyEvents {
  readonly listChanged: (kind: ListEvent) => void;
  /** Called when the server reports the state of a task. */
  readonly taskChanged: (state: Params) => void;
  /** Called when the process was replaced. */
  readonly started: (pid: number | undefined) => void;
  /** Called when the process is gone and is not restarted for this session. */
  readonly lost: (error: PlugboardError) => void;
}

export interface ServerProxyRequest extends RequestOptions {
  /** True if a legacy server may send a question during the request without naming it. */
  readonly mayAsk: boolean;
}

export interface ServerProxyOptions {
  readonly work: SessionWork;
  readonly session: Session;
  /** Returns the current first process of the server; a changed entry replaces it. */
  readonly primary: () => Connection | undefined;
}

export class ServerProxy {
  readonly #options: ServerProxyOptions;
  readonly #primary: Connection;

  /** `primary`: the connection that is exposed; when it is replaced, this pass-through ends. */
  constructor(primary: Connection, options: ServerProxyOptions) {
    this.#options = options;
    this.#primary = primary;
  }

  get spec(): Connection['spec'] {
    return this.#primary.spec;
  }

  get pid(): number | undefined {
    return this.#own()?.pid;
  }

  /** Returns the negotiated values of this session's process, which is started if needed. */
  async negotiated(): Promise<Negotiated> {
    const { negotiated } = await this.#there();
    if (negotiated === undefined) throw this.#gone();
    return negotiated;
  }

  /** Returns the tools as the server listed them. */
  async tools(): Promise<ListResult> {
    const { tools } = await this.#there();
    if (tools === undefined) throw this.#gone();
    return tools;
  }

  /** Sends a request unchanged. It has no timeout of its own: it waits until the caller cancels it. */
  async request(
    method: string,
    params: Params,
    { mayAsk, ...options }: ServerProxyRequest,
  ): Promise<unknown> {
    const own = this.#own();
    if (own === undefined) throw this.#gone();
    if (!mayAsk) return own.request(method, params, options);
    const { work, session } = this.#options;
    const { cancellation, signal } = options;
    return work.run(this.#primary, { session, cancellation, signal }, (connection) =>
      connection.request(method, params, options),
    );
  }

  /** Subscribes to the states of a task at a modern server. */
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

  follow({ listChanged, taskChanged, started, lost }: ServerProxyEvents): Unsubscribe {
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
        // An idle process is started by the next request; a failed or removed one is not.
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
