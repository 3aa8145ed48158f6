/** The tasks that clients of an endpoint follow, with access control by owner, and bounds on their number and age. */

import type { Clock } from '../lib/clock.ts';
import type { Params } from './client-era.ts';
import { invalidParams, type RpcFailure } from './rpc-failure.ts';

/** The oldest is dropped if an owner has more, first of those that are known to be over. */
const MAX_TASKS_OF_ONE = 1_000;
/** How long a task is kept if no time is declared. */
export const DEFAULT_TTL_MS: number = 24 * 60 * 60 * 1000;

export interface OwnedTask {
  /** Unguessable: it alone identifies stateless clients. */
  readonly id: string;
  readonly owner: string;
  /** How long it is kept from now on. */
  readonly keptMs: number;
  /** Undefined if only its server knows. */
  readonly isOver?: boolean;
  /** Called when it is dropped. */
  leave(): void;
}

interface Kept<Task> {
  readonly task: Task;
  readonly stopTimer: () => void;
}

export class OwnedTasks<Task extends OwnedTask> {
  readonly #clock: Clock;
  readonly #tasks = new Map<string, Kept<Task>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(task: Task): void {
    const own = this.of(task.owner);
    const oldest = own.find(({ isOver }) => isOver === true) ?? own[0];
    if (oldest !== undefined && own.length >= MAX_TASKS_OF_ONE) this.#drop(oldest);
    const stopTimer = this.#clock.after(task.keptMs, () => this.#drop(task));
    this.#tasks.set(task.id, { task, stopTimer });
  }

  has(id: string, owner: string): boolean {
    return this.#tasks.get(id)?.task.owner === owner;
  }

  /** The task of another client, a dropped and an invented one are all reported as unknown. */
  find({ taskId }: Params, owner: string): Task {
    const task = typeof taskId === 'string' ? this.#tasks.get(taskId)?.task : undefined;
    if (task?.owner !== owner) throw unknownTaskId();
    return task;
  }

  /** Returns the owner's tasks, the oldest first. */
  of(owner: string): readonly Task[] {
    return [...this.#tasks.values()].flatMap(({ task }) => (task.owner === owner ? [task] : []));
  }

  /** Drops the tasks of a client that left; no other client can request them. */
  leave(owner: string): void {
    for (const task of this.of(owner)) this.#drop(task);
  }

  close(): void {
    for (const { task } of [...this.#tasks.values()]) this.#drop(task);
  }

  #drop(task: Task): void {
    this.#tasks.get(task.id)?.stopTimer();
    this.#tasks.delete(task.id);
    task.leave();
  }
}

export function unknownTaskId(): RpcFailure {
  return invalidParams('There is no task with this taskId');
}
