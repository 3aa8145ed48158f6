/** Tasks for the clients of an endpoint: which requests may become one, and the names of its state in each era. */

import type { Era } from '../connection/eras.ts';
import { RELATED_TASK, TASKS_EXTENSION } from '../connection/tasks.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import type { ClientInfo, Params } from './client-era.ts';
import { invalidParams, missingExtension, RpcFailure, unknownMethod } from './rpc-failure.ts';

/** The first legacy version with tasks, and the only one. */
const FIRST_TASKS_VERSION = '2025-11-25';
const TASKS_PAGE = 50;

/** The members of a task's state that the eras name differently. */
export const TASK_NAMES: Readonly<Record<Era, { readonly ttl: string; readonly poll: string }>> = {
  legacy: { ttl: 'ttl', poll: 'pollInterval' },
  modern: { ttl: 'ttlMs', poll: 'pollIntervalMs' },
};

const TERMINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

export function isTerminal(status: unknown): boolean {
  return TERMINAL.has(status);
}

/** Returns the capabilities that declare tasks. Each tool, or each response, shows the client where tasks are used. */
export function tasksCapability({ era, version }: Pick<ClientInfo, 'era' | 'version'>): Params {
  if (era === 'modern') return { extensions: { [TASKS_EXTENSION]: {} } };
  if (version < FIRST_TASKS_VERSION) return {};
  return { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
}

/** Whether the sender of this request accepts a task as its response. */
export function takesTasks({ era, version, capabilities }: ClientInfo, { task }: Params): boolean {
  if (era === 'legacy') return version >= FIRST_TASKS_VERSION && isRecord(task);
  const { extensions } = capabilities;
  return isRecord(extensions) && isRecord(extensions[TASKS_EXTENSION]);
}

/** Throws if the client does not support tasks. */
export function checkTasks(clientInfo: ClientInfo, method: string): void {
  if (clientInfo.era === 'modern') {
    if (!takesTasks(clientInfo, {})) throw missingExtension(TASKS_EXTENSION);
  } else if (clientInfo.version < FIRST_TASKS_VERSION) throw unknownMethod(method);
}

/** Returns the error for a task request of a tool that does not support tasks. */
export function noTask(name: string): RpcFailure {
  return new RpcFailure(RPC_METHOD_NOT_FOUND, `${name} cannot be called as a task`);
}

/** Returns how long a legacy client asks for its task to be kept. */
export function requestedTtl({ task }: Params): number | undefined {
  const ttl = isRecord(task) ? task['ttl'] : undefined;
  return typeof ttl === 'number' && ttl >= 0 ? ttl : undefined;
}

/** Returns one page of `tasks/list`; its cursor is the id of the last task. */
export function taskPage<Task extends { readonly id: string }>(
  all: readonly Task[],
  cursor: unknown,
): { readonly page: readonly Task[]; readonly nextCursor?: string } {
  const from = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== undefined && from === 0) throw invalidParams('This cursor is not known here');
  const page = all.slice(from, from + TASKS_PAGE);
  const last = page.at(-1);
  const hasMore = last !== undefined && last !== all.at(-1);
  return { page, ...(hasMore ? { nextCursor: last.id } : {}) };
}

/** Adds the `_meta` that names the task of a message, for the legacy era. */
export function withRelated(params: Params, taskId: string): Params {
  const { _meta } = params;
  return { ...params, _meta: { ...(isRecord(_meta) ? _meta : undefined), [RELATED_TASK]: { taskId } } };
}
