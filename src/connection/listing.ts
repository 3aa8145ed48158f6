/** Reads a paginated list whole, within bounds, whatever the server does with its cursors (CAT-2, F30). */

import { PlugboardError } from '../errors.ts';
import { isRecord, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import type { Peer } from './peer.ts';

export const MAX_LIST_PAGES = 200;
export const MAX_LIST_ITEMS = 20_000;
const MAX_CURSOR_CHARS = 65_536;
/** A server that does not answer within this has forgotten the question. */
export const LIST_PAGE_MS = 60_000;

export interface ListResult {
  readonly items: readonly unknown[];
  /** Why the list was not read to its end, when it was not. */
  readonly cut?: string;
  /** How long the server says that the list is good for. */
  readonly ttlMs?: number;
  readonly cacheScope?: 'public' | 'private';
  /** What modern servers put on every result. */
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
      // A capability that was declared and is not there: an empty list, not a broken server.
      if (page === 0 && isMethodNotFound(error)) return { items };
      throw error;
    }
    const record = isRecord(result) ? result : {};
    const batch = record[kind];
    if (!Array.isArray(batch)) {
      throw new PlugboardError('PROTOCOL_ERROR', `the answer to ${method} has no list of ${kind}`);
    }
    if (page === 0) hints = hintsOf(record);
    for (const item of batch) {
      if (items.length === MAX_LIST_ITEMS)
        return { items, cut: `more than ${MAX_LIST_ITEMS} items`, ...hints };
      items.push(item);
    }
    const next = record['nextCursor'];
    if (typeof next !== 'string' || next === '') return { items, ...hints };
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

function isMethodNotFound(error: unknown): boolean {
  return error instanceof PlugboardError && error.detail.rpcCode === RPC_METHOD_NOT_FOUND;
}
