/**
 * Represents a call that finished without a task, for a legacy client that waits for one: a modern server decides on
 * each call whether it responds with a task, a legacy client decides before.
 */

import type { ForwardedTask } from '../call/call-tasks.ts';
import type { ShapedResult } from '../call/shape.ts';
import type { Params } from '../endpoint/client-era.ts';
import { PlugboardError } from '../errors.ts';
import { RPC_INVALID_PARAMS } from '../lib/json-rpc.ts';

/** How long its result can be requested. */
const TTL_MS: number = 10 * 60 * 1000;

/** The operations of a client on a task. */
export type FollowedTask = Omit<ForwardedTask, 'events' | 'questionWork'>;

export function finishedTask(server: string, result: ShapedResult, now: number): FollowedTask {
  const time = new Date(now).toISOString();
  const state = { createdAt: time, lastUpdatedAt: time, ttl: TTL_MS };
  const status = result.isError ? 'failed' : 'completed';
  const over = (): Promise<Params> =>
    Promise.reject(
      new PlugboardError('PROTOCOL_ERROR', `The task is over: it is ${status}`, {
        server,
        detail: { rpcCode: RPC_INVALID_PARAMS },
      }),
    );
  return {
    era: 'legacy',
    taskId: '',
    server,
    // Every task begins with this status.
    created: { task: { ...state, status: 'working' } },
    get: async () => ({ ...state, status }),
    result: async () => result,
    shape: async () => result,
    cancel: over,
    update: over,
    ask: over,
    watch: () => () => {},
    end: () => {},
  };
}
