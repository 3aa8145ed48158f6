/** Searches running and past calls by their text, page by page. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { queryOf } from '../api.ts';
import type { CallReport } from '../api-types.ts';
import { useApp } from '../app.ts';

const TYPING_MS = 150;
const PAGE = 100;
/** The search stops after this many matches. */
const MAX_MATCHES = 2_000;
/** Pages without a match that are read at once: a page may be empty and have a next one. */
const MAX_EMPTY_PAGES = 50;

export interface SearchedFor {
  readonly q: string;
  readonly state: string;
  readonly server: string;
  readonly agent: string;
}

export interface CallSearch {
  readonly calls: readonly CallReport[];
  readonly isLoading: boolean;
  readonly more: () => void;
}

interface Found {
  readonly calls: readonly CallReport[];
  readonly next: string | undefined;
  readonly isLoading: boolean;
}

const NOTHING: Found = { calls: [], next: undefined, isLoading: true };

/** Returns the matches so far; undefined without a search. */
export function useCallSearch(wanted: SearchedFor | undefined): CallSearch | undefined {
  const { api, notices } = useApp();
  const found = useSignal<Found>(NOTHING);
  const abort = useRef<AbortController | undefined>(undefined);
  const key = wanted === undefined ? '' : JSON.stringify(wanted);

  const load = async (from: Found): Promise<void> => {
    if (wanted === undefined) return;
    abort.current?.abort();
    const own = new AbortController();
    abort.current = own;
    let { calls, next } = from;
    found.value = { ...from, isLoading: true };
    try {
      const before = calls.length;
      for (let pages = 0; pages < MAX_EMPTY_PAGES && calls.length === before; pages += 1) {
        const { q, server, agent } = wanted;
        const state = wanted.state === 'all' ? undefined : wanted.state;
        const query = queryOf({ q, server, agent, state, limit: PAGE, before: next });
        const page = await api.get<{ calls: readonly CallReport[]; next?: string }>(
          `/api/calls${query}`,
          own.signal,
        );
        calls = [...calls, ...page.calls];
        next = page.next;
        if (next === undefined) break;
      }
      found.value = { calls, next, isLoading: false };
    } catch (error) {
      if (own.signal.aborted) return;
      found.value = { calls, next: undefined, isLoading: false };
      notices.showError(error);
    }
  };
  useEffect(() => {
    found.value = NOTHING;
    const timer = setTimeout(() => void load(NOTHING), TYPING_MS);
    return () => {
      clearTimeout(timer);
      abort.current?.abort();
    };
  }, [key]);
  if (wanted === undefined) return undefined;
  const { calls, next, isLoading } = found.value;
  const more = (): void => {
    if (!isLoading && next !== undefined && calls.length < MAX_MATCHES) void load(found.value);
  };
  return { calls, isLoading, more };
}
