/** One kind of list beside the tools (resources, templates, prompts): asked for once, kept until it may have changed. */

import type { Connection } from '../connection/connection.ts';
import type { Negotiated } from '../connection/eras.ts';
import type { ListKind } from '../connection/listing.ts';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json-rpc.ts';
import type { AcceptedList } from './accept-lists.ts';

/** One silent server must not hold up the lists of all the others. */
const LIST_TIMEOUT_MS = 30_000;
/** How long a list is good that nobody promised to tell us about. */
const UNANNOUNCED_MS = 60_000;
/** Words about single members of a list; more say nothing new. */
const MAX_COMPLAINTS = 10;

export const CAPABILITIES = ['resources', 'prompts'] as const;
export type Capability = (typeof CAPABILITIES)[number];

export function isDeclared({ capabilities }: Negotiated, capability: Capability): boolean {
  const declared = capabilities[capability];
  return declared !== undefined && declared !== null && declared !== false;
}

export interface ContentListOptions<T> {
  readonly kind: Exclude<ListKind, 'tools'>;
  /** What a server must have declared before it is asked. */
  readonly capability: Capability;
  readonly accept: (raw: unknown) => AcceptedList<T>;
  readonly clock: Clock;
  readonly warn: (server: string, message: string) => void;
}

interface Kept<T> {
  readonly items: Promise<readonly T[]>;
  /** Undefined while the answer is under way: then everybody waits for the same one. */
  answered?: { readonly by: Negotiated | undefined; readonly goodUntil: number };
}

export class ContentList<T> {
  readonly #options: ContentListOptions<T>;
  readonly #kept = new WeakMap<Connection, Kept<T>>();

  constructor(options: ContentListOptions<T>) {
    this.#options = options;
  }

  get capability(): Capability {
    return this.#options.capability;
  }

  /** The list of one server, which is connected for it where necessary. */
  of(connection: Connection): Promise<readonly T[]> {
    const known = this.#kept.get(connection);
    if (known !== undefined && this.#isGood(known, connection)) return known.items;
    const kept: Kept<T> = {
      items: this.#ask(connection, (answered) => {
        kept.answered = answered;
      }),
    };
    this.#kept.set(connection, kept);
    kept.items.catch(() => {
      if (this.#kept.get(connection) === kept) this.#kept.delete(connection);
    });
    return kept.items;
  }

  /** The server said that its list changed; an answer that is under way may be the old one. */
  drop(connection: Connection): void {
    this.#kept.delete(connection);
  }

  #isGood({ answered }: Kept<T>, { negotiated, state }: Connection): boolean {
    if (answered === undefined) return true;
    if (this.#options.clock.now() >= answered.goodUntil) return false;
    // A server at rest has not changed its mind; one that was started anew may have.
    return negotiated === undefined ? state.status === 'idle' : negotiated === answered.by;
  }

  async #ask(
    connection: Connection,
    answer: (answered: NonNullable<Kept<T>['answered']>) => void,
  ): Promise<readonly T[]> {
    const { kind, capability, accept, clock } = this.#options;
    await connection.ready();
    const { negotiated } = connection;
    if (negotiated === undefined || !isDeclared(negotiated, capability)) {
      answer({ by: negotiated, goodUntil: Number.POSITIVE_INFINITY });
      return [];
    }
    const declared = negotiated.capabilities[capability];
    const late = new AbortController();
    const stop = clock.after(LIST_TIMEOUT_MS, () => late.abort(this.#tooLate(connection)));
    const { items, ttlMs, cut } = await connection.list(kind, late.signal).finally(stop);
    const announced = isRecord(declared) && declared['listChanged'] === true;
    const goodForMs = ttlMs ?? (announced ? Number.POSITIVE_INFINITY : UNANNOUNCED_MS);
    answer({ by: connection.negotiated, goodUntil: clock.now() + goodForMs });
    const list = accept(items);
    this.#complain(connection.name, list, cut);
    return list.accepted;
  }

  #complain(server: string, { rejected, repaired }: AcceptedList<T>, cut: string | undefined): void {
    const { kind, warn } = this.#options;
    if (cut !== undefined) warn(server, `the list of ${NAMES[kind]} was cut short: ${cut}`);
    const complaints = [
      ...rejected.map(({ name, reason }) => `${name} is left out: ${reason}`),
      ...repaired.map(({ name, notes }) => `${name}: ${notes.join('; ')}`),
    ];
    for (const complaint of complaints.slice(0, MAX_COMPLAINTS)) warn(server, `${NAMES[kind]}: ${complaint}`);
    const more = complaints.length - MAX_COMPLAINTS;
    if (more > 0) warn(server, `${NAMES[kind]}: ${more} more of them have something wrong`);
  }

  #tooLate({ name }: Connection): PlugboardError {
    const what = NAMES[this.#options.kind];
    return new PlugboardError(
      'TIMEOUT',
      `${name} did not list its ${what} within ${LIST_TIMEOUT_MS / 1000} s`,
      {
        server: name,
        hint: 'The server is running but does not answer; restart it, or look at its log.',
      },
    );
  }
}

const NAMES = {
  resources: 'resources',
  resourceTemplates: 'resource templates',
  prompts: 'prompts',
} as const;
