/**
 * Keeps one `subscriptions/listen` stream to a modern server open, reopens it after a drop, and tracks
 * acknowledgements.
 */

import { isDeepStrictEqual } from 'node:util';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { backoffMs, decideRetry, RECONNECT } from '../lib/retry.ts';
import { META } from './eras.ts';
import type { Params, Peer } from './peer.ts';

/** How long to wait for the acknowledgement of a subscription. A server that sends none may still announce changes. */
export const ACKNOWLEDGE_MS = 3_000;

export interface ListenOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly warn: (message: string) => void;
  /** The stream was reopened after a drop; changes may have been missed. */
  readonly resumed: () => void;
}

const FILTERS = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const;

export type ChangingList = keyof typeof FILTERS;

/** Whether a server declares change notifications for a list. */
export function declaresChanges(capabilities: Params, kind: ChangingList): boolean {
  const capability = capabilities[kind];
  return isRecord(capability) && capability['listChanged'] === true;
}

/** Builds the filter of the request from the notifications that the server supports. */
function filterFor(capabilities: Params, { uris, taskIds }: Wanted): Params | undefined {
  const filter: Record<string, unknown> = {};
  for (const kind of ['tools', 'prompts', 'resources'] as const) {
    if (declaresChanges(capabilities, kind)) filter[FILTERS[kind]] = true;
  }
  if (uris.length > 0) filter['resourceSubscriptions'] = [...uris];
  if (taskIds.length > 0) filter['taskIds'] = [...taskIds];
  return Object.keys(filter).length === 0 ? undefined : filter;
}

/** The resources and tasks to watch, apart from lists; replaced, never mutated. */
interface Wanted {
  readonly uris: readonly string[];
  readonly taskIds: readonly string[];
}

/** One request for a stream, and the server's response to it. */
interface Stream {
  readonly wanted: Wanted;
  readonly abort: AbortController;
  id: number | undefined;
  /** The acknowledged filter; undefined until the acknowledgement arrives. */
  agreed?: Params;
  refusal?: PlugboardError;
}

export class Subscription {
  readonly #peer: Peer;
  readonly #options: ListenOptions;
  /** Called when the server acknowledges or refuses. */
  readonly #waiting = new Set<() => void>();
  #wanted: Wanted = { uris: [], taskIds: [] };
  /** Resources that the latest acknowledgement includes. */
  #announced: ReadonlySet<string> = new Set();
  /** Ids of the open streams, as strings: some servers send ids back as strings. */
  readonly #ids = new Set<string>();
  #current: Stream | undefined;
  #stopped = false;
  #failures = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(peer: Peer, options: ListenOptions) {
    this.#peer = peer;
    this.#options = options;
    void this.#open();
  }

  /** Reopens the stream with these resources; does nothing if the set is unchanged. */
  watch(uris: readonly string[]): void {
    if (!isDeepStrictEqual(uris, this.#wanted.uris)) this.#reopen({ ...this.#wanted, uris: [...uris] });
  }

  /** Reopens the stream with these tasks; does nothing if the set is unchanged. */
  watchTasks(taskIds: readonly string[]): void {
    if (!isDeepStrictEqual(taskIds, this.#wanted.taskIds))
      this.#reopen({ ...this.#wanted, taskIds: [...taskIds] });
  }

  #reopen(wanted: Wanted): void {
    this.#wanted = wanted;
    this.#cancelTimer?.();
    // Several changes in a row open one new stream.
    queueMicrotask(() => {
      if (this.#stopped || this.#current?.wanted === this.#wanted) return;
      const old = this.#current;
      this.#current = undefined;
      // The new stream is requested before the old one ends, so that no notification is missed in between.
      void this.#open();
      old?.abort.abort();
    });
  }

  /** Resolves when the server acknowledges changes of a resource; rejects if it omits the resource. */
  async agreed(uri: string): Promise<void> {
    let isLate = false;
    const stopTimer = this.#options.clock.after(ACKNOWLEDGE_MS, () => {
      isLate = true;
      this.#wake();
    });
    try {
      for (;;) {
        if (this.#stopped) throw new PlugboardError('CONNECTION_LOST', 'The connection was closed');
        const stream = this.#current;
        if (stream?.wanted.uris.includes(uri) === true) {
          if (stream.refusal !== undefined) throw stream.refusal;
          if (stream.agreed !== undefined) {
            if (agreedUris(stream.agreed).includes(uri)) return;
            throw leftOut(uri);
          }
        }
        if (isLate) {
          this.#announced = new Set([...this.#announced, uri]);
          this.#options.warn(
            `it has not acknowledged the subscription to ${uri} within ${ACKNOWLEDGE_MS / 1000} s`,
          );
          return;
        }
        await new Promise<void>((resolve) => this.#waiting.add(resolve));
      }
    } finally {
      stopTimer();
    }
  }

  /** Whether the server announces changes of a list, as far as it has responded. */
  announces(kind: ChangingList): boolean {
    if (!declaresChanges(this.#options.capabilities, kind)) return false;
    const { agreed, refusal } = this.#current ?? {};
    return refusal === undefined && (agreed === undefined || agreed[FILTERS[kind]] === true);
  }

  /** Handles `notifications/subscriptions/acknowledged`; returns the resources that are no longer announced. */
  acknowledged({ _meta, notifications }: Params): readonly string[] {
    const stream = this.#current;
    const id = isRecord(_meta) ? _meta[META.subscriptionId] : undefined;
    // Some servers send ids back as strings.
    if (stream?.id === undefined || String(id) !== String(stream.id)) return [];
    stream.agreed = isRecord(notifications) ? notifications : {};
    this.#wake();
    const kept = agreedUris(stream.agreed);
    const { uris } = stream.wanted;
    const lost = uris.filter((uri) => this.#announced.has(uri) && !kept.includes(uri));
    this.#announced = new Set(uris.filter((uri) => kept.includes(uri)));
    return lost;
  }

  /** Whether a notification belongs to an open stream; true if it has no id. */
  owns({ _meta }: Params): boolean {
    const id = isRecord(_meta) ? _meta[META.subscriptionId] : undefined;
    return id === undefined || this.#ids.has(String(id));
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
    this.#current?.abort.abort();
    this.#wake();
  }

  async #open(): Promise<void> {
    const { clock, random, capabilities, resumed } = this.#options;
    const filter = filterFor(capabilities, this.#wanted);
    const stream: Stream = { wanted: this.#wanted, abort: new AbortController(), id: undefined };
    this.#current = stream;
    if (filter === undefined || this.#stopped) return;
    const openedAt = clock.now();
    try {
      // The response arrives when the stream ends; until then its notifications arrive like all others.
      await this.#peer.request(
        'subscriptions/listen',
        { notifications: filter },
        {
          signal: stream.abort.signal,
          onSent: (id) => {
            stream.id = id;
            this.#ids.add(String(id));
          },
        },
      );
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      if (decideRetry('subscription', error) === 'fail') stream.refusal = error;
    }
    this.#ids.delete(String(stream.id));
    if (this.#stopped || this.#current !== stream) return;
    if (stream.refusal !== undefined) return this.#wake();
    this.#failures = clock.now() - openedAt > RECONNECT.maxMs ? 1 : this.#failures + 1;
    this.#cancelTimer = clock.after(backoffMs(this.#failures, random()), () => {
      resumed();
      void this.#open();
    });
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

function agreedUris({ resourceSubscriptions: uris }: Params): readonly unknown[] {
  return Array.isArray(uris) ? uris : [];
}

function leftOut(uri: string): PlugboardError {
  return new PlugboardError(
    'INVALID_ARGUMENTS',
    `The server does not announce changes of ${JSON.stringify(uri)}`,
    {
      hint: 'Read the resource again when you need it: the server accepts no subscription to it.',
    },
  );
}
