/**
 * One task of a server that a client of the gateway follows, in any combination of eras.
 *
 * Requests of the client go to the process that runs the task. Its questions are collected for a modern client,
 * which finds them in the task's state and answers with `tasks/update`; a legacy client is asked by requests.
 */

import type { TaskRequest } from '../call/call-tasks.ts';
import type { ShapedResult } from '../call/shape.ts';
import type { Era } from '../connection/eras.ts';
import { cleanMeta } from '../connection/handed-on.ts';
import { serverMessage } from '../connection/rpc-error.ts';
import { followTask, RELATED_TASK, unreportedTask } from '../connection/tasks.ts';
import type { ClientConnection } from '../endpoint/client-connection.ts';
import type { ClientInfo, Params } from '../endpoint/client-era.ts';
import { Rounds } from '../endpoint/client-rounds.ts';
import { DEFAULT_TTL_MS, type OwnedTask } from '../endpoint/owned-tasks.ts';
import { invalidParams, RpcFailure } from '../endpoint/rpc-failure.ts';
import { isTerminal, TASK_NAMES, withRelated } from '../endpoint/task-support.ts';
import { type Exchange, Work } from '../endpoint/work.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS } from '../lib/json-rpc.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import { type QuestionQueue, questionsOf } from './client-questions.ts';
import type { FollowedTask } from './finished-task.ts';

/** After its time to live, the server itself still reports for a while that it is gone. */
const GRACE_MS = 60_000;

/** Converts a result for the client of one request. */
export type PassOn = (result: ShapedResult) => Params;

interface GatewayTaskOptions {
  readonly id: string;
  readonly clientConnection: ClientConnection;
  readonly clientInfo: ClientInfo;
  readonly clock: Clock;
  /** The owner of the task: no other client can find it. */
  readonly owner: string;
  readonly approvalQueue: () => QuestionQueue | undefined;
  /** The client must not learn the text of rules. */
  readonly hidesRules: boolean;
  /** The `task` field of a legacy client's call. */
  readonly params: Params;
  /** The called tool. */
  readonly tool: string;
}

export class GatewayTask implements OwnedTask {
  readonly id: string;
  readonly owner: string;
  readonly request: TaskRequest;
  readonly #options: GatewayTaskOptions;
  /** The work that its questions belong to, from the call until the client leaves. */
  readonly #work: Work;
  readonly #rounds: Rounds | undefined;
  /** The request of a legacy client that waits for the result: its questions are sent there. */
  #waiting: Exchange | undefined;
  /** Modern servers: the pending answer of each of their questions. */
  readonly #answering = new Map<string, Promise<void>>();
  #handed: FollowedTask | undefined;
  #pulled: Promise<ShapedResult> | undefined;
  #isCancelled = false;

  constructor(options: GatewayTaskOptions) {
    const { clientConnection, clientInfo, owner, clock, approvalQueue, params } = options;
    this.#options = options;
    this.id = options.id;
    this.owner = owner;
    const exchange: Exchange = {
      send: (message) => this.#waiting?.send(message) ?? false,
      onGone: undefined,
    };
    this.#work = new Work(this.id, clientInfo, exchange, clientConnection.asking(exchange));
    this.#rounds = clientInfo.era === 'modern' ? new Rounds(this.#work) : undefined;
    const { ask } = this.#work;
    this.#work.ask = async (method, asked, signal, key) =>
      this.#answered(await ask(method, this.#named(asked), signal, key));
    const questions = questionsOf({
      get approvalQueue() {
        return approvalQueue();
      },
      workFor: () => this.#work,
      clock,
      hidesRules: options.hidesRules,
    });
    this.request = { params, questions, cancellation: this.#work };
  }

  /** Handles the server's response with a task. */
  begin(handed: FollowedTask): Params {
    this.#handed = handed;
    const { created, era } = handed;
    this.#work.server = handed.server;
    const translation = this.#translation();
    return createdFor(created, taskFields(createdState(created, era), translation), translation);
  }

  get keptMs(): number {
    const { created, era } = this.#task;
    return (ttlOf(createdState(created, era), era) ?? DEFAULT_TTL_MS) + GRACE_MS;
  }

  get tool(): string {
    return this.#options.tool;
  }

  get server(): string {
    return this.#task.server;
  }

  /** Returns its state for `tasks/get`. */
  async get(work: Work | undefined, passOn: PassOn): Promise<Params> {
    const state = await this.#task.get(work === undefined ? {} : { cancellation: work });
    if (isTerminal(state['status'])) this.#task.end();
    return this.#work.clientInfo.era === 'legacy' ? this.#plain(state) : this.#detailed(state, passOn);
  }

  /** Legacy clients: waits for the end. */
  async result(work: Work, passOn: PassOn): Promise<Params> {
    if (this.#isCancelled) throw new RpcFailure(RPC_INTERNAL_ERROR, 'The task was cancelled');
    this.#waiting = work.exchange;
    try {
      const result =
        this.#task.era === 'legacy'
          ? await this.#task.result({ cancellation: work })
          : await this.#follow(work);
      this.#task.end();
      return withRelated(passOn(result), this.id);
    } finally {
      if (this.#waiting === work.exchange) this.#waiting = undefined;
    }
  }

  /** Modern clients: answers questions; answers to unknown questions are ignored. */
  async update({ inputResponses }: Params): Promise<void> {
    if (!isRecord(inputResponses)) throw invalidParams('tasks/update needs inputResponses');
    const open = Object.keys(this.#rounds?.inputRequests() ?? {});
    this.#rounds?.answer(inputResponses);
    // Acknowledged when the server has them: its next state must not include them.
    await Promise.all(
      open.map((key) => (Object.hasOwn(inputResponses, key) ? this.#answering.get(key) : undefined)),
    );
    await turn();
  }

  async cancel(): Promise<Params> {
    const { era } = this.#task;
    if (this.#work.clientInfo.era === 'modern') {
      await this.#task.cancel().catch((error: unknown) => this.#unlessOver(error));
      return {};
    }
    if (era === 'legacy') return this.#plain(await this.#task.cancel());
    const state = await this.#task.get({});
    if (isTerminal(state['status']) || this.#isCancelled)
      throw invalidParams(`The task is over: it is ${String(state['status'])}`);
    await this.#task.cancel();
    // A modern server may cancel later; for a legacy client the task is cancelled at once, permanently.
    this.#isCancelled = true;
    return this.#plain(state);
  }

  /** Calls `changed` with its new state when the server reports one. */
  watch(changed: (state: Params) => void, passOn: PassOn): Unsubscribe {
    return this.#task.watch((state) => {
      if (this.#work.clientInfo.era === 'legacy') changed(this.#plain(state));
      else this.get(undefined, passOn).then(changed, () => {});
    });
  }

  /** Called when the client stops following it. */
  leave(): void {
    this.#work.cancel(new PlugboardError('CANCELLED', 'The client no longer follows this task'));
  }

  get #task(): FollowedTask {
    if (this.#handed === undefined) throw new PlugboardError('INTERNAL', 'The call did not become a task');
    return this.#handed;
  }

  #translation(): Translation {
    const { clientInfo } = this.#work;
    return { from: this.#task.era, to: clientInfo.era, id: this.id, now: this.#options.clock.now() };
  }

  #plain(state: Params): Params {
    const fields = taskFields(state, this.#translation());
    if (this.#isCancelled) return { ...fields, status: 'cancelled' };
    const { result } = state;
    // The eras differ for tools that report an error.
    const hasFailed = state['status'] === 'completed' && isRecord(result) && result['isError'] === true;
    return hasFailed ? { ...fields, status: 'failed' } : fields;
  }

  async #detailed(state: Params, passOn: PassOn): Promise<Params> {
    const { status, inputRequests } = state;
    const { era } = this.#task;
    if (status === 'input_required') {
      if (era === 'legacy') this.#pull().catch(() => {});
      else if (isRecord(inputRequests)) this.#ask(inputRequests);
      await turn();
    }
    const fields = taskFields(state, this.#translation());
    if (isTerminal(status)) return { ...fields, ...(await this.#end(state, passOn)) };
    const open = this.#rounds?.inputRequests() ?? {};
    if (Object.keys(open).length > 0) return { ...fields, status: 'input_required', inputRequests: open };
    // This client is not asked, or not yet.
    return status === 'input_required' ? { ...fields, status: 'working' } : fields;
  }

  /** Returns the fields that a modern client finds in the state of a finished task. */
  async #end(state: Params, passOn: PassOn): Promise<Params> {
    const { status, result, error } = state;
    if (status === 'cancelled') return {};
    if (this.#task.era === 'modern') {
      if (status === 'failed') return { error: isRecord(error) ? error : failure(undefined) };
      return { result: unrelated(passOn(await this.#task.shape(result))) };
    }
    try {
      return { status: 'completed', result: unrelated(passOn(await this.#pull())) };
    } catch (thrown) {
      return { status: 'failed', error: failure(thrown) };
    }
  }

  /** Legacy servers: their questions and results come with `tasks/result`, which is requested once. */
  #pull(): Promise<ShapedResult> {
    this.#pulled ??= this.#task.result({ cancellation: this.#work }).catch((error: unknown) => {
      // A response of the server is final; a broken connection is not.
      if (asPlugboardError(error).detail.rpcCode === undefined) this.#pulled = undefined;
      throw error;
    });
    return this.#pulled;
  }

  /** Modern servers: sends each question to the client once, and the answer to the server. */
  #ask(requests: Params): void {
    for (const [key, request] of Object.entries(requests)) {
      if (this.#answering.has(key) || !isRecord(request) || typeof request['method'] !== 'string') continue;
      const params = isRecord(request['params']) ? request['params'] : {};
      const { method } = request;
      const answered = this.#task
        .ask(method, params, key)
        .catch((error: unknown) => {
          // A question that cannot be sent would be awaited until the task expires.
          if (this.#work.isCancelled || method !== 'elicitation/create') throw error;
          return { action: 'cancel' };
        })
        .then((answer) => this.#task.update({ [key]: answer }))
        .then(() => {});
      answered.catch(() => {});
      this.#answering.set(key, answered);
    }
  }

  async #follow(work: Work): Promise<ShapedResult> {
    const task = this.#task;
    const raw = await followTask(unreportedTask(task.taskId), {
      era: 'modern',
      clock: this.#options.clock,
      request: (method, params, options) => {
        if (method === 'tasks/get') return task.get(options);
        const { inputResponses } = params;
        return task.update(isRecord(inputResponses) ? inputResponses : {});
      },
      answer: (method, params, _signal, key = '') => task.ask(method, params, key),
      signal: work.signal,
      idleMs: Number.POSITIVE_INFINITY,
      totalMs: Number.POSITIVE_INFINITY,
      cancels: false,
    });
    return task.shape(raw);
  }

  /** Modern: cancelling a finished task is acknowledged too. */
  async #unlessOver(error: unknown): Promise<void> {
    if (asPlugboardError(error).detail.rpcCode !== RPC_INVALID_PARAMS) throw error;
    const { status } = await this.#task.get({});
    if (!isTerminal(status)) throw error;
  }

  /** Adds the client's id of the task to a question. */
  #named(params: Params): Params {
    return this.#work.clientInfo.era === 'legacy' ? withRelated(params, this.id) : unrelated(params);
  }

  /** Replaces the client's id of the task in an answer by the server's. */
  #answered(answer: unknown): unknown {
    if (!isRecord(answer)) return answer;
    const { _meta } = answer;
    const isNamed = isRecord(_meta) && RELATED_TASK in _meta;
    if (this.#task.era === 'modern') return isNamed ? unrelated(answer) : answer;
    return withRelated(answer, this.#task.taskId);
  }
}

/** Returns the JSON-RPC error of a failed task. */
function failure(thrown: unknown): Params {
  const { message, detail } = asPlugboardError(thrown);
  return {
    code: detail.rpcCode ?? RPC_INTERNAL_ERROR,
    message: thrown === undefined ? 'The task failed.' : (detail.rpcMessage ?? message),
    ...(detail.rpcData === undefined ? {} : { data: detail.rpcData }),
  };
}

/** Resolves after this tick, so that its questions are sent together. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Members that are not part of a task's own state, or are added separately. */
const APART: ReadonlySet<string> = new Set([
  '_meta',
  'resultType',
  'requestState',
  'result',
  'error',
  'inputRequests',
  'task',
]);

/** Translates the state of a task between eras: the same fields under other names, and results in other places. */
interface Translation {
  readonly from: Era;
  readonly to: Era;
  /** The client's id of the task. */
  readonly id: string;
  /** The time used if the server omitted it. */
  readonly now: number;
}

/** Returns a task's own fields for a client; unknown members are kept. */
function taskFields(state: Params, { from, to, id, now }: Translation): Params {
  const { ttl, poll } = TASK_NAMES[from];
  const entries = Object.entries(state).filter(([key]) => !APART.has(key) && key !== ttl && key !== poll);
  const { statusMessage, createdAt, lastUpdatedAt, ...rest } = cleanRecord(Object.fromEntries(entries));
  const time = new Date(now).toISOString();
  return {
    ...rest,
    taskId: id,
    ...(typeof statusMessage === 'string' ? { statusMessage: serverMessage(statusMessage) } : {}),
    createdAt: typeof createdAt === 'string' ? createdAt : time,
    lastUpdatedAt: typeof lastUpdatedAt === 'string' ? lastUpdatedAt : time,
    [TASK_NAMES[to].ttl]: millis(state[ttl]) ?? null,
    ...(millis(state[poll]) === undefined ? {} : { [TASK_NAMES[to].poll]: millis(state[poll]) }),
  };
}

/** Returns how long the server keeps the task after its creation; undefined if not declared. */
function ttlOf(state: Params, era: Era): number | undefined {
  return millis(state[TASK_NAMES[era].ttl]);
}

/** Returns the task in the response to a call. */
function createdState(created: Params, era: Era): Params {
  const { task } = created;
  return era === 'legacy' && isRecord(task) ? task : created;
}

/** Returns the response to a call that became a task; other members of the server's response are kept. */
function createdFor(created: Params, fields: Params, { from, to }: Translation): Params {
  const meta = withoutRelated(cleanMeta(created['_meta'])._meta);
  const around = from === 'legacy' ? Object.entries(created).filter(([key]) => !APART.has(key)) : [];
  const result = { ...Object.fromEntries(around), ...(meta === undefined ? {} : { _meta: meta }) };
  return to === 'legacy' ? { ...result, task: fields } : { ...result, resultType: 'task', ...fields };
}

/** Removes the `_meta` that names the task of a message, for the modern era. */
function unrelated(params: Params): Params {
  const { _meta, ...rest } = params;
  const meta = withoutRelated(_meta);
  return meta === undefined ? rest : { ...rest, _meta: meta };
}

function withoutRelated(meta: unknown): Params | undefined {
  if (!isRecord(meta)) return undefined;
  const { [RELATED_TASK]: _related, ...rest } = meta;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** Rounds to whole milliseconds: the modern era requires integers. */
function millis(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? Math.round(value) : undefined;
}
