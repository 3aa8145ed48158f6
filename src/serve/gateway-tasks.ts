/** The tasks that clients of a gateway follow themselves, with access control by owner. */

import { TASKS_EXTENSION } from '../connection/tasks.ts';
import type { ClientInfo, Params } from '../endpoint/client-era.ts';
import { invalidParams, missingExtension, RpcFailure, unknownMethod } from '../endpoint/rpc-failure.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import type { GatewayTask } from './gateway-task.ts';

/** The first legacy version with tasks, and the only one. */
export const FIRST_TASKS_VERSION = '2025-11-25';
/** The oldest is dropped if a client has more. */
const MAX_TASKS_OF_ONE = 1_000;
/** How long a task is kept if its server does not declare a time. */
const DEFAULT_TTL_MS: number = 24 * 60 * 60 * 1000;
/** After its time to live, the server itself still reports for a while that it is gone. */
const GRACE_MS = 60_000;
export const TASKS_PAGE = 50;

interface Kept {
  readonly task: GatewayTask;
  readonly stopTimer: () => void;
}

export class GatewayTasks {
  readonly #clock: Clock;
  readonly #tasks = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(task: GatewayTask): void {
    const [oldest, ...others] = this.of(task.owner);
    if (oldest !== undefined && others.length + 1 >= MAX_TASKS_OF_ONE) this.#drop(oldest);
    const keptMs = (task.ttlMs ?? DEFAULT_TTL_MS) + GRACE_MS;
    this.#tasks.set(task.id, { task, stopTimer: this.#clock.after(keptMs, () => this.#drop(task)) });
  }

  has(id: string, owner: string): boolean {
    return this.#tasks.get(id)?.task.owner === owner;
  }

  /** The task of another client, a dropped and an invented one are all reported as unknown. */
  find({ taskId }: Params, owner: string): GatewayTask {
    const task = typeof taskId === 'string' ? this.#tasks.get(taskId)?.task : undefined;
    if (task?.owner !== owner) throw invalidParams('There is no task with this taskId');
    return task;
  }

  /** Returns the owner's tasks, the oldest first. */
  of(owner: string): readonly GatewayTask[] {
    return [...this.#tasks.values()].flatMap(({ task }) => (task.owner === owner ? [task] : []));
  }

  /** Drops the tasks of a client that left; no other client can request them. */
  leave(owner: string): void {
    for (const task of this.of(owner)) this.#drop(task);
  }

  close(): void {
    for (const { task } of [...this.#tasks.values()]) this.#drop(task);
  }

  #drop(task: GatewayTask): void {
    this.#tasks.get(task.id)?.stopTimer();
    this.#tasks.delete(task.id);
    task.leave();
  }
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

/** Passes the server's error about its task to the client unchanged. */
export function taskFailure(thrown: unknown): unknown {
  if (!(thrown instanceof PlugboardError)) return thrown;
  const { rpcCode, rpcMessage, rpcData } = asPlugboardError(thrown).detail;
  return rpcCode === undefined ? thrown : new RpcFailure(rpcCode, rpcMessage ?? thrown.message, rpcData);
}
