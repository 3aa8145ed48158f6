/** Tasks of one client of the gateway: the rows `tasks/*`, and calls that become tasks. */

import type { Tool } from '../catalog/tool.ts';
import type { ClientInfo, Params } from '../endpoint/client-era.ts';
import type { OwnedTasks } from '../endpoint/owned-tasks.ts';
import { RpcFailure } from '../endpoint/rpc-failure.ts';
import { checkTasks, noTask, requestedTtl, takesTasks, taskPage } from '../endpoint/task-support.ts';
import type { Work } from '../endpoint/work.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { BackgroundTask } from '../host/background-task.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { isRecord } from '../lib/json.ts';
import type { FollowedTask } from './finished-task.ts';
import type { GatewayClient } from './gateway-client.ts';
import { GatewayTask, type PassOn } from './gateway-task.ts';
import { LimitedWait } from './limited-wait.ts';
import { storedTask } from './stored-task.ts';

/** How long a client that supports tasks waits for a call, unless it is configured. */
const DEFAULT_BACKGROUND_AFTER_MS = 60_000;

export class ClientTasks {
  /** The tasks of all clients. */
  readonly #tasks: OwnedTasks<GatewayTask>;
  readonly #client: GatewayClient;

  constructor(tasks: OwnedTasks<GatewayTask>, client: GatewayClient) {
    this.#tasks = tasks;
    this.#client = client;
  }

  // Implementations of the rows of `methods.ts`.

  get(params: Params, work: Work): Promise<Params> {
    return this.#with('tasks/get', params, work, (task, passOn) => task.get(work, passOn));
  }

  cancel(params: Params, work: Work): Promise<Params> {
    return this.#with('tasks/cancel', params, work, (task) => task.cancel());
  }

  update(params: Params, work: Work): Promise<Params> {
    return this.#with('tasks/update', params, work, async (task) => {
      await task.update(params);
      return {};
    });
  }

  result(params: Params, work: Work): Promise<Params> {
    return this.#with('tasks/result', params, work, (task, passOn) => task.result(work, passOn));
  }

  async list({ cursor }: Params, work: Work): Promise<Params> {
    const { clientInfo } = work;
    checkTasks(clientInfo, 'tasks/list');
    const stored = await this.#client.session().tasks(this.storedOwner);
    for (const { id } of stored.toReversed())
      if (!this.#tasks.has(id, this.#owner)) await this.#find({ taskId: id }, clientInfo).catch(() => {});
    const all = this.#tasks.of(this.#owner);
    const { page, ...more } = taskPage(all, cursor);
    // A task that its server has dropped is omitted; no legacy state includes a result.
    const states = await Promise.all(page.map((task) => task.get(work, () => ({})).catch(() => undefined)));
    return { tasks: states.filter((state) => state !== undefined), ...more };
  }

  /** Reports states of a task to a modern client. */
  watch(taskId: string, clientInfo: ClientInfo, changed: (state: Params) => void): Unsubscribe {
    checkTasks(clientInfo, 'subscriptions/listen');
    const task = this.#tasks.find({ taskId }, this.#owner);
    return task.watch(changed, this.#client.passOn({ clientInfo, server: task.server }, task.tool));
  }

  // Used by calls.

  /** Returns a task for a call of a client that accepts tasks; undefined: the call is answered with its result. */
  wanted(tool: Tool | undefined, params: Params, { clientInfo }: Work): GatewayTask | undefined {
    if (tool === undefined) return undefined;
    if (tool.execution === undefined) {
      // A modern client accepts either; a legacy client that requests a task waits for one.
      if (clientInfo.era === 'legacy' && this.#client.session().backgroundAfter(tool) === undefined)
        throw noTask(tool.name);
      return undefined;
    }
    const { task } = params;
    const own = clientInfo.era === 'legacy' && isRecord(task) ? task : {};
    return this.#newTask(this.#client.issueTaskId(), tool.name, clientInfo, own);
  }

  /**
   * Returns the call of a tool whose client does not wait for its end: it gets a task, or the text of one if it knows no
   * tasks. Undefined: it waits.
   */
  waitFor(tool: Tool, params: Params, { clientInfo }: Work): LimitedWait | undefined {
    const configured = this.#client.session().backgroundAfter(tool);
    const isTask = takesTasks(clientInfo, params);
    // A client that requests a task does not wait at all.
    if (clientInfo.era === 'legacy' && isTask)
      return new LimitedWait({ afterMs: undefined, ttlMs: requestedTtl(params), tool, isTask, tasks: this });
    const afterMs = configured ?? (isTask ? DEFAULT_BACKGROUND_AFTER_MS : undefined);
    return afterMs === undefined
      ? undefined
      : new LimitedWait({ afterMs, ttlMs: undefined, tool, isTask, tasks: this });
  }

  get storedOwner(): string {
    return this.#client.taskOwner;
  }

  /** Returns the response to a call that became a stored task. */
  handOnStored(stored: BackgroundTask, work: Pick<Work, 'clientInfo'>): Params {
    return this.handOn(this.#ofStored(stored, work.clientInfo), work, storedTask(stored));
  }

  #ofStored({ id, info }: BackgroundTask, clientInfo: ClientInfo): GatewayTask {
    return this.#newTask(this.#client.storedTaskId(id), info.name, clientInfo, {});
  }

  #newTask(id: string, tool: string, clientInfo: ClientInfo, params: Params): GatewayTask {
    return new GatewayTask({
      id,
      clientConnection: this.#client.clientConnection,
      clientInfo,
      clock: this.#client.clock,
      owner: this.#owner,
      approvalQueue: () => this.#client.approvalQueue,
      hidesRules: this.#client.hidesRules,
      params,
      tool,
    });
  }

  /** Finds a task that the client follows, or a stored one, also of an earlier process of the gateway. */
  async #find(params: Params, clientInfo: ClientInfo): Promise<GatewayTask> {
    const { taskId } = params;
    if (typeof taskId !== 'string' || this.#tasks.has(taskId, this.#owner))
      return this.#tasks.find(params, this.#owner);
    const stored = await this.#client
      .session()
      .task(taskId, this.storedOwner)
      .catch(() => undefined);
    return stored === undefined ? this.#tasks.find(params, this.#owner) : this.#adopt(stored, clientInfo);
  }

  #adopt(stored: BackgroundTask, clientInfo: ClientInfo): GatewayTask {
    const task = this.#ofStored(stored, clientInfo);
    task.begin(storedTask(stored));
    this.#tasks.add(task);
    return task;
  }

  /** Returns the response to a call that became a task, which its client follows from here on. */
  handOn(task: GatewayTask, { clientInfo }: Pick<Work, 'clientInfo'>, followed: FollowedTask): Params {
    const answer = task.begin(followed);
    const { clientConnection } = this.#client;
    this.#tasks.add(task);
    const notifyStatus = (state: Params): void =>
      clientConnection.notify('notifications/tasks/status', state);
    if (clientInfo.era === 'legacy') task.watch(notifyStatus, () => ({}));
    return answer;
  }

  /** Drops the client's tasks, unless it has no session: then the next request of the same principal can find them. */
  leave(): void {
    if (!this.#client.clientConnection.isStateless) this.#tasks.leave(this.#owner);
  }

  /** The owner of this client's tasks: its session, or the principal if it has none. */
  get #owner(): string {
    const { isStateless, principal } = this.#client.clientConnection;
    return isStateless ? `principal ${principal}` : `session ${this.#client.session().id}`;
  }

  async #with(
    method: string,
    params: Params,
    work: Work,
    act: (task: GatewayTask, passOn: PassOn) => Promise<Params>,
  ): Promise<Params> {
    checkTasks(work.clientInfo, method);
    const task = await this.#find(params, work.clientInfo);
    work.server = task.server;
    return act(task, this.#client.passOn(work, task.tool)).catch((error: unknown) => {
      throw taskFailure(error);
    });
  }
}

/** Passes the server's error about its task to the client unchanged. */
function taskFailure(thrown: unknown): unknown {
  if (!(thrown instanceof PlugboardError)) return thrown;
  const { rpcCode, rpcMessage, rpcData } = asPlugboardError(thrown).detail;
  return rpcCode === undefined ? thrown : new RpcFailure(rpcCode, rpcMessage ?? thrown.message, rpcData);
}
