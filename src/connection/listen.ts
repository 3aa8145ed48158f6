/** Keeps one `subscriptions/listen` stream open to a modern server, and opens it again after a drop. */

import { asPlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord, RPC_INVALID_PARAMS, RPC_INVALID_REQUEST, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import type { Peer } from './peer.ts';
import { backoffMs } from './state.ts';

export interface Subscription {
  /** Opens the stream again with these resources; an unchanged set changes nothing. */
  watch(uris: readonly string[]): void;
  /** The same with these tasks. */
  watchTasks(ids: readonly string[]): void;
  stop(): void;
}

export interface ListenOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** After a drop something may have changed unseen. */
  readonly resumed: () => void;
}

/** Answers that mean no, not "not now". */
const REFUSALS: readonly (number | undefined)[] = [
  RPC_METHOD_NOT_FOUND,
  RPC_INVALID_PARAMS,
  RPC_INVALID_REQUEST,
];

/** What the server says it can tell about, as the filter of the request. */
function filterFor(
  capabilities: Readonly<Record<string, unknown>>,
  uris: readonly string[],
  taskIds: readonly string[],
): Record<string, unknown> | undefined {
  const says = (kind: string): boolean => {
    const capability = capabilities[kind];
    return isRecord(capability) && capability['listChanged'] === true;
  };
  const filter = {
    ...(says('tools') ? { toolsListChanged: true } : {}),
    ...(says('prompts') ? { promptsListChanged: true } : {}),
    ...(says('resources') ? { resourcesListChanged: true } : {}),
    ...(uris.length > 0 ? { resourceSubscriptions: [...uris] } : {}),
    ...(taskIds.length > 0 ? { taskIds: [...taskIds] } : {}),
  };
  return Object.keys(filter).length === 0 ? undefined : filter;
}

export function listen(peer: Peer, options: ListenOptions): Subscription {
  let uris: readonly string[] = [];
  let taskIds: readonly string[] = [];
  let current: AbortController | undefined;
  let stopped = false;
  let failures = 0;
  let cancelTimer: (() => void) | undefined;

  const open = async (): Promise<void> => {
    const filter = filterFor(options.capabilities, uris, taskIds);
    if (filter === undefined || stopped) return;
    const mine = new AbortController();
    current = mine;
    const openedAt = options.clock.now();
    let supported = true;
    try {
      // The answer comes when the stream ends; until then its notifications arrive like all others.
      await peer.request('subscriptions/listen', { notifications: filter }, { signal: mine.signal });
    } catch (error) {
      supported = !REFUSALS.includes(asPlugboardError(error).detail.rpcCode);
    }
    if (stopped || current !== mine || !supported) return;
    failures = options.clock.now() - openedAt > backoffMs(20, 1) ? 1 : failures + 1;
    cancelTimer = options.clock.after(backoffMs(failures, options.random()), () => {
      options.resumed();
      void open();
    });
  };
  const reopen = (): void => {
    const old = current;
    cancelTimer?.();
    // The new stream is asked for before the old one ends, so that nothing falls between them.
    void open();
    old?.abort();
  };
  void open();
  return {
    watch(next) {
      if (isSame(next, uris)) return;
      uris = [...next];
      reopen();
    },
    watchTasks(next) {
      if (isSame(next, taskIds)) return;
      taskIds = [...next];
      reopen();
    },
    stop() {
      stopped = true;
      cancelTimer?.();
      current?.abort();
    },
  };
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each, at) => each === other[at]);
}
