/** The subscriptions of one client: changed lists and resources, in the form of its era. */

import { META } from '../connection/eras.ts';
import { PlugboardError } from '../errors.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { isRecord } from '../lib/json.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import { RPC_MISSING_CAPABILITY } from '../lib/json-rpc.ts';
import type { ClientHandler, ListKind } from './backend.ts';
import type { ClientInfo, Params } from './client-era.ts';
import { invalidParams, RpcFailure } from './rpc-failure.ts';
import type { Work } from './work.ts';

const MAX_SUBSCRIPTIONS = 1_000;
const FILTERS: Readonly<Record<ListKind, string>> = {
  tools: 'toolsListChanged',
  resources: 'resourcesListChanged',
  prompts: 'promptsListChanged',
};

interface Listener {
  readonly filter: Params;
  readonly work: Work;
  end(): void;
}

export class Subscriptions {
  readonly #clientHandler: Pick<ClientHandler, 'watch' | 'watchTask'>;
  readonly #broadcast: (message: JsonRpcMessage) => void;
  readonly #legacy = new Map<string, Promise<Unsubscribe>>();
  /** Subscriptions of a resumed session whose resource is not available yet: its server may still be starting. */
  readonly #absent = new Map<string, ClientInfo>();
  readonly #listeners = new Set<Listener>();
  #isClosed = false;

  constructor(
    clientHandler: Pick<ClientHandler, 'watch' | 'watchTask'>,
    broadcast: (message: JsonRpcMessage) => void,
  ) {
    this.#clientHandler = clientHandler;
    this.#broadcast = broadcast;
  }

  get isListening(): boolean {
    return this.#listeners.size > 0;
  }

  /** Open streams, each a request without a response yet. */
  get streams(): number {
    return this.#listeners.size;
  }

  /** URIs of resources that a legacy client subscribed to. */
  get uris(): readonly string[] {
    return [...this.#legacy.keys(), ...this.#absent.keys()];
  }

  /** Subscribes again for a resumed session; an unavailable resource is retried when the lists change. */
  resume(uris: readonly string[], clientInfo: ClientInfo): void {
    for (const uri of uris.slice(0, MAX_SUBSCRIPTIONS)) {
      this.#absent.delete(uri);
      this.subscribe(uri, clientInfo).catch(() => {
        if (!this.#isClosed) this.#absent.set(uri, clientInfo);
      });
    }
  }

  async subscribe(uri: unknown, clientInfo: ClientInfo): Promise<void> {
    if (typeof uri !== 'string') throw invalidParams('resources/subscribe needs an address');
    if (this.#legacy.has(uri)) return;
    if (this.#legacy.size >= MAX_SUBSCRIPTIONS) throw tooMany();
    const subscribed = this.#clientHandler.watch(uri, clientInfo, (notified) => {
      this.#broadcast({
        jsonrpc: '2.0',
        method: 'notifications/resources/updated',
        params: { uri: notified },
      });
    });
    this.#legacy.set(uri, subscribed);
    await subscribed.catch((error: unknown) => {
      this.#legacy.delete(uri);
      throw error;
    });
  }

  unsubscribe(uri: unknown): void {
    if (typeof uri !== 'string') throw invalidParams('resources/unsubscribe needs an address');
    leave(this.#legacy.get(uri));
    this.#legacy.delete(uri);
    this.#absent.delete(uri);
  }

  /** Opens one modern stream: acknowledged with the accepted filters, ended by the client or by us. */
  async listen(params: Params, work: Work): Promise<Params> {
    const { notifications: wanted } = params;
    if (!isRecord(wanted)) throw invalidParams('subscriptions/listen needs notifications');
    const _meta = { [META.subscriptionId]: work.id };
    const kept: Unsubscribe[] = [];
    const { resourceSubscriptions: list } = wanted;
    const asked: unknown[] = Array.isArray(list) ? list.slice(0, MAX_SUBSCRIPTIONS) : [];
    /** URIs that changed before the acknowledgement, which must be sent first. */
    let early: Set<string> | undefined = new Set();
    const updated = (uri: string): void => {
      if (early === undefined) work.notify('notifications/resources/updated', { uri, _meta });
      else early.add(uri);
    };
    const watched = await Promise.all(
      asked.map(async (uri) => {
        if (typeof uri !== 'string') return [];
        try {
          kept.push(await this.#clientHandler.watch(uri, work.clientInfo, updated));
          return [uri];
        } catch {
          // A filter missing from the acknowledgement is refused, as the protocol defines.
          return [];
        }
      }),
    );
    const uris = watched.flat();
    // Synchronous, so that no state is sent before the acknowledgement.
    const tasks = this.#watchTasks(wanted['taskIds'], work, (stop) => kept.push(stop));
    const filter = {
      ...Object.fromEntries(
        Object.values(FILTERS).flatMap((key) => (wanted[key] === true ? [[key, true]] : [])),
      ),
      ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
      ...(tasks.length > 0 ? { taskIds: tasks } : {}),
    };
    work.notify('notifications/subscriptions/acknowledged', { notifications: filter, _meta });
    const missed = early;
    early = undefined;
    for (const uri of missed) updated(uri);
    try {
      await new Promise<void>((resolve) => {
        const listener: Listener = { filter, work, end: resolve };
        this.#listeners.add(listener);
        const gone = (): void => {
          this.#listeners.delete(listener);
          resolve();
        };
        if (work.isCancelled) gone();
        else work.signal.addEventListener('abort', gone, { once: true });
      });
    } finally {
      for (const unsubscribe of kept) unsubscribe();
    }
    return { _meta };
  }

  /** Returns the requested tasks that can be watched. */
  #watchTasks(ids: unknown, work: Work, keep: (stop: Unsubscribe) => void): readonly string[] {
    if (!Array.isArray(ids)) return [];
    const _meta = { [META.subscriptionId]: work.id };
    return ids.slice(0, MAX_SUBSCRIPTIONS).filter((id) => {
      if (typeof id !== 'string') return false;
      try {
        const stop = this.#clientHandler.watchTask?.(id, work.clientInfo, (state) =>
          work.notify('notifications/tasks', { ...state, _meta }),
        );
        if (stop !== undefined) keep(stop);
        return stop !== undefined;
      } catch (error) {
        if (error instanceof RpcFailure && error.code === RPC_MISSING_CAPABILITY) throw error;
        return false;
      }
    });
  }

  /** Returns false if no stream subscribed to it. */
  listChanged(kind: ListKind): boolean {
    if (kind === 'resources')
      for (const [uri, clientInfo] of [...this.#absent]) this.resume([uri], clientInfo);
    const notified = [...this.#listeners].filter(({ filter }) => filter[FILTERS[kind]] === true);
    for (const { work } of notified) {
      work.notify(`notifications/${kind}/list_changed`, { _meta: { [META.subscriptionId]: work.id } });
    }
    return notified.length > 0;
  }

  close(): void {
    this.#isClosed = true;
    this.#absent.clear();
    for (const listener of this.#listeners) listener.end();
    this.#listeners.clear();
    for (const subscribed of this.#legacy.values()) leave(subscribed);
    this.#legacy.clear();
  }
}

function leave(subscribed: Promise<Unsubscribe> | undefined): void {
  subscribed?.then(
    (unsubscribe) => unsubscribe(),
    () => {},
  );
}

function tooMany(): PlugboardError {
  return new PlugboardError('LIMIT_EXCEEDED', `A client may subscribe to ${MAX_SUBSCRIPTIONS} resources`);
}
