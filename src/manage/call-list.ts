/** Lists running and past calls for the page: those of this run, and those of the history. */

import type { Outcome } from '../call/observe.ts';
import type { PastCall } from '../history/history-record.ts';
import { textIn, timeIn } from './query-values.ts';
import type { CallRecord } from './recent-calls.ts';
import { refusal } from './route.ts';
import type { Traffic } from './traffic.ts';

export const OUTCOMES: readonly Outcome[] = ['ok', 'tool-error', 'error', 'denied', 'cancelled', 'timeout'];
/** `failed`: every outcome but `ok`. */
export const CALL_STATES: readonly string[] = ['running', 'failed', ...OUTCOMES];
const MAX_WORDS = 10;

type ListedCall = CallRecord | PastCall;

interface CallFilter {
  readonly limit: number;
  readonly before: string | undefined;
  readonly state: string | undefined;
  /** In lower case. */
  readonly words: readonly string[];
  readonly matches: (call: ListedCall) => boolean;
}

export interface CallPage {
  readonly calls: readonly ListedCall[];
  /** For the next page; missing if there are no more. */
  readonly next?: string;
}

/** @throws HttpFailure for parameters that are not understood. */
export function callFilter(query: URLSearchParams, limit: number): CallFilter {
  const [state, from, to] = [textIn(query, 'state'), timeIn(query, 'from'), timeIn(query, 'to')];
  if (state !== undefined && !CALL_STATES.includes(state))
    throw refusal(400, `The state must be one of ${CALL_STATES.join(', ')}`);
  const [client, server, tool, ref, agent] = ['client', 'server', 'tool', 'ref', 'agent'].map((name) =>
    textIn(query, name),
  );
  const fits = (wanted: string | undefined, value: string | undefined): boolean =>
    wanted === undefined || wanted === value;
  return {
    limit,
    before: textIn(query, 'before'),
    state,
    words: (textIn(query, 'q') ?? '').toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS),
    matches: (call) =>
      isIn(call, state) &&
      fits(client, call.client) &&
      fits(server, call.server) &&
      fits(tool, call.tool) &&
      fits(ref, call.ref) &&
      fits(agent, call.agent?.name) &&
      (from === undefined || call.at >= from) &&
      (to === undefined || call.at <= to),
  };
}

function isIn({ outcome }: ListedCall, state: string | undefined): boolean {
  switch (state) {
    case undefined:
      return true;
    case 'running':
      return outcome === undefined;
    case 'failed':
      return outcome !== undefined && outcome !== 'ok';
    default:
      return outcome === state;
  }
}

/** Running calls come first, then those that ended, newest first. */
export async function listCalls(traffic: Traffic, filter: CallFilter, isKept: boolean): Promise<CallPage> {
  const { limit, before, words, state, matches } = filter;
  const { history, calls } = traffic;
  const hasWords = (call: ListedCall): boolean => {
    const text = JSON.stringify(call).toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const isWanted = (call: ListedCall): boolean => matches(call) && (words.length === 0 || hasWords(call));
  if (history === undefined || history.isFailed || !isKept) {
    const wanted = calls.list(Number.POSITIVE_INFINITY).filter(isWanted);
    const start = before === undefined ? 0 : wanted.findIndex(({ id }) => id === before) + 1;
    const page = wanted.slice(start, start + limit);
    const last = page.at(-1);
    return wanted.length > start + limit && last !== undefined
      ? { calls: page, next: last.id }
      : { calls: page };
  }
  const running = before === undefined ? calls.running().filter(isWanted).slice(0, limit) : [];
  if (state === 'running') return { calls: running };
  const left = limit - running.length;
  const past = left <= 0 ? { calls: [] } : await history.search({ limit: left, before, matches, words });
  return { ...past, calls: [...running, ...past.calls] };
}
