/**
 * Manages resource subscriptions and their requests to servers, in both eras (CAT-9).
 *
 * Subscriptions outlive connections: they are requested again after a reconnect. A legacy server gets one request per
 * resource; a modern one has a single stream, which the connection reopens with the whole set.
 */

import type { Connection } from '../connection/connection.ts';
import { asPlugboardError, forServer, PlugboardError } from '../errors.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { isRecord } from '../lib/json.ts';

const MAX_SUBSCRIPTIONS_PER_SERVER = 1_000;
const SUBSCRIBE_TIMEOUT_MS = 30_000;

/** A change of a resource, as listeners of `subscribe()` get it. */
export interface ResourceUpdate {
  readonly server: string;
  /** May be a sub-resource of the subscribed one. */
  readonly uri: string;
}

export type ResourceListener = (update: ResourceUpdate) => void;

export interface ResourceSubscriptionsOptions {
  /** Returns the main process of a server; its other processes are tracked separately. */
  readonly connection: (server: string) => Connection | undefined;
  readonly warn: (server: string, message: string) => void;
}

interface Watched {
  readonly listeners: Set<ResourceListener>;
  asked: Promise<void>;
}

export class ResourceSubscriptions {
  readonly #options: ResourceSubscriptionsOptions;
  /** By server (whatever its current connection), or by an additional process of it, which is never replaced. */
  readonly #places = new Map<string, Map<string, Watched>>();
  readonly #twins = new WeakMap<Connection, string>();
  /** Over HTTP two requests may overtake each other: requests about one resource are queued. */
  readonly #turns = new Map<string, Promise<void>>();
  #twinsSeen = 0;

  constructor(options: ResourceSubscriptionsOptions) {
    this.#options = options;
  }

  async subscribe(connection: Connection, uri: string, listener: ResourceListener): Promise<Unsubscribe> {
    await connection.ready();
    if (!canSubscribe(connection)) throw cannotSubscribe(connection.name);
    const place = this.#placeOf(connection);
    const watched = this.#watch(connection, uri);
    // A new function, so that the same listener can be added twice and removed once.
    const own: ResourceListener = (update) => listener(update);
    watched.listeners.add(own);
    const leave = (): void => this.#leave(connection, place, uri, watched, own);
    try {
      await watched.asked;
    } catch (thrown) {
      leave();
      throw asPlugboardError(thrown);
    }
    return leave;
  }

  /** Requests all subscriptions of a server after it connected or reconnected. */
  connected(connection: Connection): void {
    const uris = [...(this.#places.get(this.#placeOf(connection))?.keys() ?? [])];
    if (uris.length === 0) return;
    const { warn } = this.#options;
    if (!canSubscribe(connection)) {
      warn(connection.name, 'it no longer reports changes of its resources');
      return;
    }
    connection.watchResources(uris);
    for (const uri of uris) {
      this.#ask(connection, uri).catch((error: unknown) => {
        // The server may have disconnected again, or the subscription may have ended.
        if (!connection.isLive || !this.#isWanted(connection, uri)) return;
        warn(connection.name, `${uri} could not be subscribed to again: ${asPlugboardError(error).message}`);
      });
    }
  }

  /** Handles a notification that a resource changed. */
  updated(connection: Connection, uri: string): void {
    const { name: server } = connection;
    for (const [wanted, { listeners }] of this.#places.get(this.#placeOf(connection)) ?? []) {
      if (uri !== wanted && !uri.startsWith(wanted.endsWith('/') ? wanted : `${wanted}/`)) continue;
      for (const listener of [...listeners]) {
        try {
          listener({ server, uri });
        } catch (error) {
          this.#options.warn(server, `a listener for ${wanted} threw: ${asPlugboardError(error).message}`);
        }
      }
    }
  }

  #watch(connection: Connection, uri: string): Watched {
    const place = this.#placeOf(connection);
    const uris = getOrMake(this.#places, place, () => new Map<string, Watched>());
    const known = uris.get(uri);
    if (known !== undefined) return known;
    if (uris.size === MAX_SUBSCRIPTIONS_PER_SERVER) throw tooMany(connection.name);
    const watched: Watched = { listeners: new Set(), asked: Promise.resolve() };
    uris.set(uri, watched);
    connection.watchResources([...uris.keys()]);
    watched.asked = this.#ask(connection, uri);
    return watched;
  }

  #leave(from: Connection, place: string, uri: string, watched: Watched, own: ResourceListener): void {
    if (!watched.listeners.delete(own) || watched.listeners.size > 0) return;
    const uris = this.#places.get(place);
    if (uris?.get(uri) !== watched) return;
    uris.delete(uri);
    if (uris.size === 0) this.#places.delete(place);
    const connection = place === from.name ? this.#options.connection(from.name) : from;
    // A disconnected server has no subscriptions.
    if (connection === undefined || !connection.isLive) return;
    connection.watchResources([...uris.keys()]);
    // If this fails, further notifications are ignored.
    this.#sync(connection, uri).catch(() => {});
  }

  /** Resolves when the server has accepted the subscription to a resource. */
  #ask(connection: Connection, uri: string): Promise<void> {
    if (connection.negotiated?.era === 'legacy') return this.#sync(connection, uri);
    const agreed = connection.live?.agreed(uri) ?? Promise.resolve();
    return agreed.catch((error: unknown) => {
      throw forServer(asPlugboardError(error), connection.name);
    });
  }

  #isWanted(connection: Connection, uri: string): boolean {
    return this.#places.get(this.#placeOf(connection))?.has(uri) === true;
  }

  /** Queues a request to a legacy server; it subscribes or unsubscribes by the state at the time it is sent. */
  #sync(connection: Connection, uri: string): Promise<void> {
    if (connection.negotiated?.era !== 'legacy') return Promise.resolve();
    const place = this.#placeOf(connection);
    const key = JSON.stringify([place, uri]);
    const sync = async (): Promise<void> => {
      const wanted = this.#isWanted(connection, uri);
      if (!wanted && !connection.isLive) return;
      const method = wanted ? 'resources/subscribe' : 'resources/unsubscribe';
      await connection.request(method, { uri }, { idleMs: SUBSCRIBE_TIMEOUT_MS });
    };
    const before = this.#turns.get(key);
    const turn = before === undefined ? sync() : before.then(sync, sync);
    this.#turns.set(key, turn);
    const done = (): void => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    };
    turn.then(done, done);
    return turn;
  }

  #placeOf(connection: Connection): string {
    const known = this.#twins.get(connection);
    if (known !== undefined) return known;
    const first = this.#options.connection(connection.name);
    if (first === undefined || first === connection) return connection.name;
    this.#twinsSeen += 1;
    const place = `${connection.name}\n${this.#twinsSeen}`;
    this.#twins.set(connection, place);
    return place;
  }
}

function canSubscribe({ negotiated }: Connection): boolean {
  const resources = negotiated?.capabilities['resources'];
  return isRecord(resources) && resources['subscribe'] === true;
}

function cannotSubscribe(server: string): PlugboardError {
  return new PlugboardError('INVALID_ARGUMENTS', `${server} does not report changes of its resources`, {
    server,
    hint: 'Read the resource again when you need it: the server offers no subscriptions.',
  });
}

function tooMany(server: string): PlugboardError {
  return new PlugboardError(
    'LIMIT_EXCEEDED',
    `More than ${MAX_SUBSCRIPTIONS_PER_SERVER} resources of ${server} are subscribed to`,
    { server, hint: 'Unsubscribe from some of them first.' },
  );
}
