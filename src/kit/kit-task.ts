/** One call of a tool that runs as a task: the work of its handler, its state, and the questions to its client. */

import type { Era } from '../connection/eras.ts';
import type { Params } from '../endpoint/client-era.ts';
import { Rounds } from '../endpoint/client-rounds.ts';
import { type OwnedTask, unknownTaskId } from '../endpoint/owned-tasks.ts';
import { invalidParams, RpcFailure } from '../endpoint/rpc-failure.ts';
import { isTerminal, TASK_NAMES, withRelated } from '../endpoint/task-support.ts';
import { type Ask, type Exchange, Work } from '../endpoint/work.ts';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { Emitter, type Unsubscribe } from '../lib/emitter.ts';
import { isRecord } from '../lib/json.ts';
import { type JsonRpcMessage, RPC_INTERNAL_ERROR } from '../lib/json-rpc.ts';
import type { StoredTask, TaskStore } from './task-store.ts';

const MAX_MESSAGE_CHARS = 1_000;

export interface KitTaskOptions {
  readonly clock: Clock;
  readonly store: TaskStore;
  readonly warn: (text: string) => void;
  readonly ttlMs: number;
  readonly pollMs: number;
  readonly principal: string;
  /** Identifies the client's session, for lists. */
  readonly session: object;
  readonly tool: string;
  /** The request that became this task. */
  readonly origin: Work;
  /** Sends a legacy client a notification outside of its requests. */
  readonly notify: (method: string, params: Params) => void;
}

type Outcome = Pick<StoredTask, 'status' | 'message' | 'result' | 'error'>;

export class KitTask implements OwnedTask {
  readonly id: string = crypto.randomUUID();
  readonly session: object;
  /** The work of the handler: it outlives the request. */
  readonly work: Work;
  readonly #options: KitTaskOptions;
  readonly #rounds: Rounds | undefined;
  readonly #events = new Emitter<{ readonly changed: undefined; readonly attended: undefined }>();
  /** Requests of a legacy client that wait for the result: its questions are sent there. */
  readonly #attending = new Set<Work>();
  #task: StoredTask;
  #questions = 0;
  #isStored = false;
  #ending: Promise<void> | undefined;

  constructor(options: KitTaskOptions) {
    const { clock, principal, tool, ttlMs, origin, session } = options;
    this.#options = options;
    this.session = session;
    const now = clock.now();
    this.#task = {
      id: this.id,
      principal,
      tool,
      status: 'working',
      createdAt: now,
      updatedAt: now,
      ttlMs,
    };
    const exchange: Exchange = {
      send: (message) => this.#send(message),
      onGone: undefined,
      headers: origin.headers,
      caller: origin.caller,
    };
    const { clientInfo } = origin;
    this.work = new Work(origin.id, clientInfo, exchange, (...question) => this.#askAttending(...question));
    this.#rounds = clientInfo.era === 'modern' ? new Rounds(this.work) : undefined;
    const { ask } = this.work;
    this.work.ask = async (...question) => {
      this.#asking(1);
      try {
        return await ask(...question);
      } finally {
        this.#asking(-1);
      }
    };
  }

  get owner(): string {
    return this.#task.principal;
  }

  get keptMs(): number {
    return this.#task.ttlMs;
  }

  get isOver(): boolean {
    return isTerminal(this.#task.status);
  }

  /** Runs the handler. Returns the response to the call, with the state before it. */
  begin(run: () => Promise<Params>, failureOf: (thrown: unknown) => RpcFailure): Params {
    const { era } = this.work.clientInfo;
    const state = taskState(this.#task, era, this.#options.pollMs);
    const ended = (outcome: Outcome): void => void this.#end(outcome);
    // The client learns of the task before the handler sends anything.
    new Promise((resolve) => setImmediate(resolve))
      .then(() => (this.work.isCancelled ? {} : run()))
      // A result that JSON cannot represent is a failure of the handler.
      .then((result): Params => JSON.parse(JSON.stringify(result)))
      .then(
        (result) => ended({ status: 'completed', result }),
        (thrown: unknown) =>
          ended({
            status: 'failed',
            error: (thrown instanceof RpcFailure ? thrown : failureOf(thrown)).toJSON(),
          }),
      );
    return era === 'legacy' ? { task: state } : { resultType: 'task', ...state };
  }

  /** Shows the progress of the handler in its state. */
  progressed(progress: number, total: number | undefined, message: string | undefined): void {
    const shown = message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`);
    this.#change({ message: shown.slice(0, MAX_MESSAGE_CHARS) });
  }

  async state(era: Era): Promise<Params> {
    const state = taskState(await this.#whole(), era, this.#options.pollMs);
    if (era === 'legacy' || state['status'] !== 'input_required') return state;
    return { ...state, inputRequests: this.#rounds?.inputRequests() ?? {} };
  }

  /** Waits for the end. Questions are sent on this request until then. */
  async result(attending: Work): Promise<Params> {
    this.#attending.add(attending);
    this.#events.emit('attended', undefined);
    try {
      await this.#ended(attending);
    } finally {
      this.#attending.delete(attending);
    }
    return resultOf(await this.#whole());
  }

  /** Answers questions; answers to unknown ones are ignored. Resolves when the handler has them. */
  async update({ inputResponses }: Params): Promise<void> {
    if (!isRecord(inputResponses)) throw invalidParams('tasks/update needs inputResponses');
    this.#rounds?.answer(inputResponses);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Aborts the signal of the handler, whose result is ignored then. Returns false if the task has ended before. */
  async cancel(message: string): Promise<boolean> {
    if (this.#ending !== undefined) return false;
    const ending = this.#end({ status: 'cancelled', message });
    this.work.cancel(new PlugboardError('CANCELLED', message));
    await ending;
    return true;
  }

  watch(changed: () => void): Unsubscribe {
    return this.#events.on('changed', changed);
  }

  /** True for a request that waits for its result. */
  isAttendedBy(work: Work): boolean {
    return this.#attending.has(work);
  }

  leave(): void {
    void this.cancel('The task has expired');
  }

  /** Ends the task once: later outcomes are ignored. Resolves when it is stored, or cannot be. */
  #end(outcome: Outcome): Promise<void> {
    const updatedAt = this.#options.clock.now();
    this.#ending ??= this.#store({ ...this.#task, message: undefined, ...outcome, updatedAt });
    return this.#ending;
  }

  async #store(task: StoredTask): Promise<void> {
    const { store, warn } = this.#options;
    try {
      await store.put(task);
      this.#isStored = true;
    } catch (error) {
      warn(`The result of a task of ${task.tool} is only in memory: ${String(error)}`);
    }
    const { result: _stored, ...small } = task;
    this.#task = this.#isStored ? small : task;
    this.#events.emit('changed', undefined);
  }

  /** Returns the task with its result; one that its store has dropped is unknown. */
  async #whole(): Promise<StoredTask> {
    if (!this.#isStored) return this.#task;
    const stored = await this.#options.store.get(this.id);
    if (stored === undefined) throw unknownTaskId();
    return stored;
  }

  /** Resolves when the task is over; rejects if the request is cancelled first. */
  async #ended({ signal }: Work): Promise<void> {
    if (this.isOver) return;
    await new Promise<void>((resolve, reject) => {
      const settle = (how: () => void): void => {
        stop();
        signal.removeEventListener('abort', abandoned);
        how();
      };
      const abandoned = (): void => settle(() => reject(signal.reason));
      const stop = this.watch(() => {
        if (this.isOver) settle(resolve);
      });
      signal.addEventListener('abort', abandoned);
      if (signal.aborted) abandoned();
    });
  }

  #change(change: Partial<StoredTask>): void {
    if (this.#ending !== undefined) return;
    this.#task = { ...this.#task, ...change, updatedAt: this.#options.clock.now() };
    this.#events.emit('changed', undefined);
  }

  #asking(change: number): void {
    this.#questions += change;
    const status = this.#questions > 0 ? 'input_required' : 'working';
    if (status !== this.#task.status) this.#change({ status });
  }

  /** Legacy: asks on a request for the result, or on the next one if it ends without an answer. */
  async #askAttending(...[method, params, given]: Parameters<Ask>): Promise<unknown> {
    for (;;) {
      const attending = await this.#attended();
      const signals = [attending.signal, this.work.signal, ...(given === undefined ? [] : [given])];
      try {
        return await attending.ask(method, withRelated(params, this.id), AbortSignal.any(signals));
      } catch (error) {
        if (this.work.isCancelled || !attending.isCancelled) throw error;
      }
    }
  }

  /** Resolves with a request that waits for the result; rejects if the task ends first. */
  #attended(): Promise<Work> {
    return new Promise((resolve, reject) => {
      const { signal } = this.work;
      const settle = (how: () => void): void => {
        stop();
        signal.removeEventListener('abort', cancelled);
        how();
      };
      const look = (): void => {
        const attending = [...this.#attending].findLast(({ isCancelled }) => !isCancelled);
        if (attending !== undefined) settle(() => resolve(attending));
      };
      const cancelled = (): void => settle(() => reject(signal.reason));
      const stop = this.#events.on('attended', look);
      signal.addEventListener('abort', cancelled);
      if (signal.aborted) cancelled();
      else look();
    });
  }

  /** Sends a notification of the handler: on a request for the result, or outside of requests. */
  #send(message: JsonRpcMessage): boolean {
    if (!('method' in message) || this.isOver) return false;
    const { method, params } = message;
    const named = withRelated(isRecord(params) ? params : {}, this.id);
    for (const { exchange } of this.#attending)
      if (exchange?.send({ jsonrpc: '2.0', method, params: named }) === true) return true;
    this.#options.notify(method, named);
    return true;
  }
}

/** Returns the state of a task for a client, without its questions. */
export function taskState(task: StoredTask, era: Era, pollMs: number): Params {
  const { id, status, message, createdAt, updatedAt, ttlMs, result, error } = task;
  const { ttl, poll } = TASK_NAMES[era];
  // The eras differ for tools that report an error.
  const hasFailed = era === 'legacy' && result?.['isError'] === true;
  return {
    taskId: id,
    status: hasFailed ? 'failed' : status,
    ...(message === undefined ? {} : { statusMessage: message }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    [ttl]: ttlMs,
    [poll]: pollMs,
    ...(era === 'legacy' || result === undefined ? {} : { result }),
    ...(era === 'legacy' || error === undefined ? {} : { error }),
  };
}

/** Returns the response to `tasks/result`: exactly that of the call. */
export function resultOf({ id, error, result, message }: StoredTask): Params {
  if (error !== undefined) throw new RpcFailure(error.code, error.message, error.data);
  if (result === undefined) throw new RpcFailure(RPC_INTERNAL_ERROR, message ?? 'The task was cancelled');
  return withRelated(result, id);
}
