/** Reads all pages of a list, within limits, for any behaviour of the server's cursors (CAT-2, F30). */

import { isDeepStrictEqual } from 'node:util';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_INVALID_PARAMS, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import { decideRetry, listDelayMs, MAX_LIST_TRIES } from '../lib/retry.ts';
import { type Alarm, abortable, setAlarm } from './alarm.ts';
import type { Peer } from './peer.ts';

export const MAX_LIST_PAGES = 200;
export const MAX_LIST_ITEMS = 20_000;
const MAX_CURSOR_CHARS = 65_536;
/** How long to wait for one page. */
export const LIST_PAGE_MS = 60_000;

const EMPTY_CURSOR =
  'the empty cursor that the server sent leads nowhere; it is taken as the end of the list';

export interface ListResult {
  readonly items: readonly unknown[];
  /** Why the list was not read to its end; absent if it was. */
  readonly cut?: string;
  /** How an unusual response was interpreted, for the log; the list is complete. */
  readonly remark?: string;
  /** The TTL that the server sent. */
  readonly ttlMs?: number;
  readonly cacheScope?: 'public' | 'private';
  /** The `resultType` of modern results. */
  readonly resultType?: string;
}

const METHODS = {
  tools: 'tools/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
  prompts: 'prompts/list',
} as const;

export type ListKind = keyof typeof METHODS;

export interface ListOptions {
  readonly signal?: AbortSignal | undefined;
}

export async function listAll(peer: Peer, kind: ListKind, options: ListOptions): Promise<ListResult> {
  const method = METHODS[kind];
  const items: unknown[] = [];
  const seen = new Set<string>();
  let first: readonly unknown[] = [];
  let cursor: string | undefined;
  let hints: Hints = {};
  for (let page = 0; ; page += 1) {
    if (page === MAX_LIST_PAGES) return { items, cut: `more than ${MAX_LIST_PAGES} pages`, ...hints };
    let result: unknown;
    try {
      result = await peer.request(method, cursor === undefined ? {} : { cursor }, {
        signal: options.signal,
        idleMs: LIST_PAGE_MS,
      });
    } catch (error) {
      // A declared capability without its method: an empty list, not a broken server.
      if (page === 0 && hasCode(error, RPC_METHOD_NOT_FOUND)) return { items };
      // The empty cursor is valid, but many servers mean the end of the list by it.
      if (cursor === '' && hasCode(error, RPC_INVALID_PARAMS))
        return { items, remark: EMPTY_CURSOR, ...hints };
      // Earlier pages are usable: any client would have received them. Other kinds of lists are simply requested again.
      if (
        kind === 'tools' &&
        page > 0 &&
        error instanceof PlugboardError &&
        error.detail.rpcCode !== undefined
      )
        return { items, cut: `an error for page ${page + 1}: ${error.message}`, ...hints };
      throw error;
    }
    const record = isRecord(result) ? result : {};
    const batch = record[kind];
    if (!Array.isArray(batch)) {
      if (kind === 'tools' && page > 0)
        return { items, cut: `a page ${page + 1} that is not a list`, ...hints };
      throw new PlugboardError('PROTOCOL_ERROR', `The answer to ${method} has no list of ${kind}`);
    }
    if (page === 0) first = batch;
    else if (cursor === '' && isDeepStrictEqual(batch, first))
      return { items, remark: EMPTY_CURSOR, ...hints };
    hints = withPage(hints, hintsOf(record), page);
    for (const item of batch) {
      if (items.length === MAX_LIST_ITEMS)
        return { items, cut: `more than ${MAX_LIST_ITEMS} items`, ...hints };
      items.push(item);
    }
    const next = record['nextCursor'];
    if (typeof next !== 'string') return { items, ...hints };
    if (next.length > MAX_CURSOR_CHARS) return { items, cut: 'an oversized cursor', ...hints };
    if (seen.has(next)) return { items, cut: 'a cursor that came twice', ...hints };
    seen.add(next);
    cursor = next;
  }
}

type Hints = Pick<ListResult, 'ttlMs' | 'cacheScope' | 'resultType'>;

function hintsOf(record: Readonly<Record<string, unknown>>): Hints {
  const { ttlMs, cacheScope, resultType } = record;
  return {
    ...(typeof ttlMs === 'number' && ttlMs >= 0 ? { ttlMs } : {}),
    ...(cacheScope === 'public' || cacheScope === 'private' ? { cacheScope } : {}),
    ...(typeof resultType === 'string' ? { resultType } : {}),
  };
}

/** The TTL of a list is the shortest TTL of its pages. */
function withPage(hints: Hints, next: Hints, page: number): Hints {
  if (page === 0) return next;
  if (hints.ttlMs === undefined || next.ttlMs === undefined) return hints;
  return { ...hints, ttlMs: Math.min(hints.ttlMs, next.ttlMs) };
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof PlugboardError && error.detail.rpcCode === code;
}

/** Reads lists and retries while the server reports that it is busy: lists are safe to repeat. */
export class RetryingLister {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #pauses = new Set<Alarm>();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: () => number }) {
    this.#clock = clock;
    this.#random = random;
  }

  async list(peer: Peer, kind: ListKind, signal?: AbortSignal): Promise<ListResult> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await listAll(peer, kind, { signal });
      } catch (thrown) {
        const error = asPlugboardError(thrown);
        if (decideRetry('list', error) === 'fail' || tries === MAX_LIST_TRIES) throw thrown;
        await this.#pause(listDelayMs(error.detail.retryAfterMs ?? 0, this.#random()), signal);
        if (peer.isClosed) throw thrown;
      }
    }
  }

  /** Ends all waits, because the connection is closing. */
  hurry(): void {
    for (const pause of this.#pauses) pause.cancel();
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const pause = setAlarm(this.#clock, ms);
    this.#pauses.add(pause);
    try {
      await abortable(pause.due, signal);
    } finally {
      pause.cancel();
      this.#pauses.delete(pause);
    }
  }
}
