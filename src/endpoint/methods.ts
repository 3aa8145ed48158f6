/**
 * The table of JSON-RPC methods: one row has everything that an endpoint needs for a method.
 *
 * A backend has a table for its clients, and the front has one for the methods that are the same for every backend.
 * A row of the backend takes precedence. A method without a row goes to the backend's fallback, if it has one.
 */

import type { Era } from '../connection/eras.ts';
import type { ClientConnection } from './client-connection.ts';
import type { ClientInfo, Params } from './client-era.ts';
import type { Exchange, Work } from './work.ts';

interface Common {
  /** The only era that has this method; default: both. In the other era the method is unknown. */
  readonly era?: Era | undefined;
  /** True if a modern result has cache fields: how long and for whom it may be cached. */
  readonly cached?: boolean | undefined;
}

/** Answered at once: never queued, cancelled or answered with questions. */
interface ImmediateMethod<Client> extends Common {
  answer(
    client: Client,
    params: Params,
    clientInfo: ClientInfo,
    method: string,
    exchange: Exchange,
  ): Params | Promise<Params>;
}

/** Long-running: it can be cancelled, report progress, and wait for its turn. */
export interface WorkMethod<Client> extends Common {
  /** True if a modern request may be answered with questions (`input_required`). */
  readonly rounds?: boolean | undefined;
  work(client: Client, params: Params, work: Work, method: string): Promise<Params>;
}

// Handlers are declared as methods, whose parameters TypeScript compares bivariantly: a client is only ever passed to
// the rows of its own table.
export type Method<Client> = ImmediateMethod<Client> | WorkMethod<Client>;

export interface MethodTable<Client> {
  readonly requests: ReadonlyMap<string, Method<Client>>;
  /** Notifications without a row are ignored. */
  readonly notifications?: ReadonlyMap<string, NotificationRow<Client>> | undefined;
  /** Handles requests without a row; default: the method is unknown. */
  readonly fallback?: Method<Client> | undefined;
}

interface NotificationRow<Client> {
  notified(client: Client, params: Params): void;
}

/** Returns the row of a table for a request of one era. */
export function rowOf<Client>(
  { requests }: MethodTable<Client>,
  method: string,
  era: Era,
): Method<Client> | undefined {
  const row = requests.get(method);
  return row?.era === undefined || row.era === era ? row : undefined;
}

/** The methods that every endpoint implements, whatever its backend. */
export const SHARED_METHODS: MethodTable<ClientConnection> = {
  requests: new Map<string, Method<ClientConnection>>([
    ['server/discover', { era: 'modern', cached: true, answer: (client) => client.discover() }],
    ['subscriptions/listen', { era: 'modern', work: (client, params, work) => client.listen(params, work) }],
    ['initialize', { era: 'legacy', answer: (client, params) => client.initialize(params) }],
    ['ping', { era: 'legacy', answer: () => ({}) }],
    ['logging/setLevel', { era: 'legacy', answer: (client, { level }) => client.setLevel(level) }],
    ['resources/subscribe', { era: 'legacy', answer: (client, { uri }, who) => client.subscribe(uri, who) }],
    ['resources/unsubscribe', { era: 'legacy', answer: (client, { uri }) => client.unsubscribe(uri) }],
  ]),
  notifications: new Map<string, NotificationRow<ClientConnection>>([
    ['notifications/initialized', { notified: (client) => client.ready() }],
    ['notifications/cancelled', { notified: (client, params) => client.cancelled(params) }],
  ]),
};
