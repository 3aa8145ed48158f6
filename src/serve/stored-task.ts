/** Represents a stored task of a call, for a client that follows tasks itself: the server may know no tasks. */

import type { ShapedResult } from '../call/shape.ts';
import type { Params } from '../endpoint/client-era.ts';
import { PlugboardError } from '../errors.ts';
import type { BackgroundTask } from '../host/background-task.ts';
import { type Cancellable, signalOf } from '../lib/cancellation.ts';
import { RPC_INVALID_PARAMS } from '../lib/json-rpc.ts';
import type { TaskInfo } from '../tasks/task-record.ts';
import type { FollowedTask } from './finished-task.ts';

/** How often its client should ask for its state. */
const POLL_MS = 1_000;

export function storedTask(task: BackgroundTask): FollowedTask {
  const { id, info } = task;
  const unasked = (): Promise<Params> =>
    Promise.reject(new PlugboardError('INTERNAL', 'A stored task asks no questions of its own'));
  return {
    era: 'legacy',
    taskId: id,
    server: info.server,
    created: { task: stateOf(info) },
    get: async () => stateOf(await task.refresh()),
    result: (how: Cancellable): Promise<ShapedResult> => task.result({ signal: signalOf(how) }),
    shape: async (raw) => raw as ShapedResult,
    async cancel() {
      const { status } = await task.refresh();
      if (status !== 'working' && status !== 'input_required')
        throw new PlugboardError('PROTOCOL_ERROR', `The task is over: it is ${status}`, {
          server: info.server,
          detail: { rpcCode: RPC_INVALID_PARAMS },
        });
      await task.cancel();
      return stateOf(await task.refresh());
    },
    update: unasked,
    ask: unasked,
    watch: (changed) => task.on('changed', (now) => changed(stateOf(now))),
    end: () => {},
  };
}

/** The state in the names of 2025-11-25; `lost` is not one of its statuses. */
function stateOf({ id, status, message, error, createdAt, updatedAt, expiresAt }: TaskInfo): Params {
  const statusMessage = error?.message ?? message;
  return {
    taskId: id,
    status: status === 'lost' ? 'failed' : status,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt,
    lastUpdatedAt: updatedAt,
    ttl: Date.parse(expiresAt) - Date.parse(createdAt),
    pollInterval: POLL_MS,
  };
}
