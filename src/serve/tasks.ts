/** The tasks that clients of a gateway follow themselves, and who may see which. */

import { TASKS_EXTENSION } from '../connection/tasks.ts';
import type { Asker, Params } from '../endpoint/eras.ts';
import { invalidParams, missingExtension, RpcFailure, unknownMethod } from '../endpoint/rpc-failure.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord, RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import type { GatewayTask } from './gateway-task.ts';

/** The first legacy version with tasks, and the only one. */
export const FIRST_TASKS_VERSION = '2025-11-25';
/** The oldest is forgotten when a client has more. */
const MAX_TASKS_OF_ONE = 1_000;
/** How long a task is known if its server does not say how long it keeps it. */
const DEFAULT_TTL_MS: number = 24 * 60 * 60 * 1000;
/** After its time the server itself answers for a while that it is gone. */
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

  /** Another client's, a forgotten and an invented task are all the same unknown one. */
  find({ taskId }: Params, owner: string): GatewayTask {
    const task = typeof taskId === 'string' ? this.#tasks.get(taskId)?.task : undefined;
    if (task?.owner !== owner) throw invalidParams('There is no task with this taskId.');
    return task;
  }

  /** The oldest first. */
  of(owner: string): readonly GatewayTask[] {
    return [...this.#tasks.values()].flatMap(({ task }) => (task.owner === owner ? [task] : []));
  }

  /** The client has left, and no other one can ask for its tasks. */
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

/** The capabilities that declare tasks. A client learns from each tool, or each answer, where there are some. */
export function tasksCapability({ era, version }: Pick<Asker, 'era' | 'version'>): Params {
  if (era === 'modern') return { extensions: { [TASKS_EXTENSION]: {} } };
  if (version < FIRST_TASKS_VERSION) return {};
  return { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } };
}

/** Whether a client that sends this request can take a task as its answer. */
export function takesTasks({ era, version, capabilities }: Asker, { task }: Params): boolean {
  if (era === 'legacy') return version >= FIRST_TASKS_VERSION && isRecord(task);
  const { extensions } = capabilities;
  return isRecord(extensions) && isRecord(extensions[TASKS_EXTENSION]);
}

/** Throws where the client has no tasks. */
export function checkTasks(asker: Asker, method: string): void {
  if (asker.era === 'modern') {
    if (!takesTasks(asker, {})) throw missingExtension(TASKS_EXTENSION);
  } else if (asker.version < FIRST_TASKS_VERSION) throw unknownMethod(method);
}

/** A client wanted a task of a tool that never is one. */
export function noTask(name: string): RpcFailure {
  return new RpcFailure(RPC_METHOD_NOT_FOUND, `${name} cannot be called as a task.`);
}

/** What a server answered about its task reaches the client as it is. */
export function taskFailure(thrown: unknown): unknown {
  if (!(thrown instanceof PlugboardError)) return thrown;
  const { rpcCode, rpcMessage, rpcData } = asPlugboardError(thrown).detail;
  return rpcCode === undefined ? thrown : new RpcFailure(rpcCode, rpcMessage ?? thrown.message, rpcData);
}
