/** The tasks of a kit server at one endpoint: calls that become tasks, and the methods `tasks/*`. */

import type { ClientConnection } from '../endpoint/client-connection.ts';
import type { ClientInfo, Params } from '../endpoint/client-era.ts';
import { DEFAULT_TTL_MS, OwnedTasks, unknownTaskId } from '../endpoint/owned-tasks.ts';
import { invalidParams, RpcFailure } from '../endpoint/rpc-failure.ts';
import { checkTasks, requestedTtl, taskPage } from '../endpoint/task-support.ts';
import type { Work } from '../endpoint/work.ts';
import type { Clock } from '../lib/clock.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { RPC_INTERNAL_ERROR } from '../lib/json-rpc.ts';
import { KitTask, resultOf, taskState } from './kit-task.ts';
import { hasExpired, type StoredTask, type TaskStore, TasksInMemory } from './task-store.ts';

const DEFAULT_POLL_MS = 1_000;
const DEFAULT_MAX_RUNNING = 100;
/** A client that asks for less could never fetch its result. */
const MIN_TTL_MS = 1_000;

/** Options of tools with `task`. */
export interface TaskOptions {
  /** Keeps the tasks that have ended; default: in memory. */
  readonly store?: TaskStore | undefined;
  /** How long a task is kept after its creation, running or not; a client may ask for less. Default: 24 hours. */
  readonly ttlMs?: number | undefined;
  /** How often clients should ask for the state of a task. Default: 1,000. */
  readonly pollMs?: number | undefined;
  /** Running tasks of one principal; further calls are refused. Default: 100. */
  readonly maxRunning?: number | undefined;
}

interface KitTasksParts {
  readonly clock: Clock;
  readonly warn: (text: string) => void;
  readonly tasks: TaskOptions;
}

export class KitTasks {
  readonly #parts: KitTasksParts;
  readonly #store: TaskStore;
  readonly #tasks: OwnedTasks<KitTask>;
  readonly #running = new Set<KitTask>();

  constructor(parts: KitTasksParts) {
    this.#parts = parts;
    this.#store = parts.tasks.store ?? new TasksInMemory(parts.clock);
    this.#tasks = new OwnedTasks(parts.clock);
  }

  /** Creates the task of a call; throws if its client has too many. */
  create(tool: string, params: Params, origin: Work, client: ClientConnection, session: object): KitTask {
    const { clock, warn, tasks } = this.#parts;
    const { ttlMs = DEFAULT_TTL_MS, pollMs = DEFAULT_POLL_MS, maxRunning = DEFAULT_MAX_RUNNING } = tasks;
    const { principal } = client;
    if ([...this.#running].filter(({ owner }) => owner === principal).length >= maxRunning)
      throw new RpcFailure(RPC_INTERNAL_ERROR, `${maxRunning} tasks are running already`);
    const { era } = origin.clientInfo;
    const requested = era === 'legacy' ? requestedTtl(params) : undefined;
    const task = new KitTask({
      clock,
      store: this.#store,
      warn,
      ttlMs: Math.min(Math.max(requested ?? ttlMs, MIN_TTL_MS), ttlMs),
      pollMs,
      principal,
      session,
      tool,
      origin,
      notify: (method, given) => client.notify(method, given),
    });
    this.#tasks.add(task);
    this.#running.add(task);
    task.watch(() => {
      if (task.isOver) this.#running.delete(task);
      if (era === 'legacy')
        task.state(era).then(
          (state) => client.notify('notifications/tasks/status', state),
          () => {},
        );
    });
    return task;
  }

  async get(params: Params, principal: string, { clientInfo: { era } }: Work): Promise<Params> {
    const task = await this.#find(params, principal);
    return task instanceof KitTask ? task.state(era) : taskState(task, era, this.#pollMs);
  }

  async result(params: Params, principal: string, work: Work): Promise<Params> {
    const task = await this.#find(params, principal);
    return task instanceof KitTask ? task.result(work) : resultOf(task);
  }

  async update(params: Params, principal: string): Promise<Params> {
    const task = await this.#find(params, principal);
    if (task instanceof KitTask) await task.update(params);
    return {};
  }

  /** Modern: cancelling a task that is over is acknowledged too. */
  async cancel(params: Params, principal: string, work: Work): Promise<Params> {
    const isLegacy = work.clientInfo.era === 'legacy';
    const task = await this.#find(params, principal);
    const isCancelled = task instanceof KitTask && (await task.cancel('The client cancelled the task'));
    if (isLegacy && !isCancelled) throw invalidParams('The task is over');
    return isLegacy ? this.get(params, principal, work) : {};
  }

  /** Lists the tasks of one session: clients without a token all have the same principal. */
  async list({ cursor }: Params, principal: string, session: object): Promise<Params> {
    const own = this.#tasks.of(principal).filter((task) => task.session === session);
    const { page, ...more } = taskPage(own, cursor);
    const states = await Promise.all(page.map((task) => task.state('legacy').catch(() => undefined)));
    return { tasks: states.filter((state) => state !== undefined), ...more };
  }

  watch(taskId: string, principal: string, who: ClientInfo, changed: (state: Params) => void): Unsubscribe {
    checkTasks(who, 'subscriptions/listen');
    const task = this.#tasks.find({ taskId }, principal);
    return task.watch(() => void task.state(who.era).then(changed, () => {}));
  }

  /** Cancels the running tasks. */
  async close(): Promise<void> {
    await Promise.all([...this.#running].map((task) => task.cancel('The server is closing')));
    this.#tasks.close();
  }

  get #pollMs(): number {
    return this.#parts.tasks.pollMs ?? DEFAULT_POLL_MS;
  }

  /** Finds a task of this process, or one that has ended in another. */
  async #find(params: Params, principal: string): Promise<KitTask | StoredTask> {
    const { taskId } = params;
    if (typeof taskId !== 'string' || this.#tasks.has(taskId, principal))
      return this.#tasks.find(params, principal);
    const stored = await this.#store.get(taskId);
    if (stored?.principal !== principal || hasExpired(stored, this.#parts.clock.now())) throw unknownTaskId();
    return stored;
  }
}
