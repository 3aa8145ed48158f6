/**
 * Follows a task, which a server continues after its response, until it has a result.
 *
 * Two protocols: the extension of the modern era (`resultType: "task"`, results and questions inside `tasks/get`) and
 * the tasks of 2025-11-25 (requested with `task`, questions and result through `tasks/result`).
 */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import { type Clock, ticksOf } from '../lib/clock.ts';
import { holdProcess } from '../lib/hold-process.ts';
import { isRecord } from '../lib/json.ts';
import { decideRetry, MAX_POLL_TRIES } from '../lib/retry.ts';
import type { Era, Negotiated } from './eras.ts';
import type { Params, Progress, RequestOptions } from './peer.ts';
import type { AnswerQuestion } from './rounds.ts';
import { serverMessage, withCause } from './rpc-error.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
/** Legacy `_meta` key: the task that a message belongs to. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

const DEFAULT_POLL_MS = 1_000;
const MIN_POLL_MS = 50;
const MAX_POLL_MS: number = 10 * 60 * 1000;
/** Timeout of `tasks/cancel`. */
const CANCEL_MS = 10_000;
const MAX_QUESTIONS = 256;

export interface TaskState {
  readonly taskId: string;
  readonly status: string;
  readonly message: string | undefined;
  readonly pollMs: number;
  /** How long the server keeps the task after its creation; undefined: the server did not specify it. */
  readonly ttlMs: number | undefined;
  readonly result: unknown;
  readonly error: unknown;
  readonly questions: Params | undefined;
}

export interface FollowOptions {
  readonly era: Era;
  readonly clock: Clock;
  readonly request: (method: string, params: Params, options: RequestOptions) => Promise<unknown>;
  readonly answer: AnswerQuestion;
  readonly signal?: AbortSignal | undefined;
  /** Aborted when the host closes: the task continues on the server, and the next host collects it. */
  readonly leave?: AbortSignal | undefined;
  /** Longest time without a response to one poll. */
  readonly idleMs: number;
  /** Total time limit of the task; time spent waiting for a person is excluded. */
  readonly totalMs: number;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** False if the task continues when its caller stops waiting; default: it is cancelled. */
  readonly cancels?: boolean | undefined;
}

/** Whether tool calls of a server can become tasks. */
export function hasTasks({ era, capabilities }: Pick<Negotiated, 'era' | 'capabilities'>): boolean {
  if (era === 'modern') return member(capabilities['extensions'], TASKS_EXTENSION) !== undefined;
  const { tasks } = capabilities;
  const requests = member(tasks, 'requests');
  // Some servers declare tasks without the supported requests; assume tool calls.
  return (
    tasks !== undefined && (requests === undefined || member(member(requests, 'tools'), 'call') !== undefined)
  );
}

function member(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

/** Returns the task id in `_meta` that links a message to its task. */
export function relatedTask(meta: unknown): string | undefined {
  const taskId = member(member(meta, RELATED_TASK), 'taskId');
  return typeof taskId === 'string' ? taskId : undefined;
}

/** Returns the task that a server responded with instead of a result. */
export function createdTask(raw: unknown, era: Era): TaskState | undefined {
  if (!isRecord(raw)) return undefined;
  if (era === 'modern') return raw['resultType'] === 'task' ? readTask(raw) : undefined;
  return isRecord(raw['task']) ? readTask(raw['task']) : undefined;
}

/** Returns the state of a task of which only the id is known. */
export function unreportedTask(taskId: string): TaskState {
  return {
    taskId,
    status: 'working',
    message: undefined,
    pollMs: 0,
    ttlMs: undefined,
    result: undefined,
    error: undefined,
    questions: undefined,
  };
}

/** Follows a task until it has a result; cancels it on the server when its caller stops waiting. */
export async function followTask(first: TaskState, options: FollowOptions): Promise<unknown> {
  const release = holdProcess();
  try {
    return await new Following(first, options).run();
  } finally {
    release();
  }
}

class Following {
  readonly #options: FollowOptions;
  readonly #answered = new Set<string>();
  readonly #startedAt: number;
  #state: TaskState;
  #personMs = 0;
  #lastMessage: string | undefined;
  #looks = 0;
  #over = false;

  constructor(first: TaskState, options: FollowOptions) {
    this.#state = first;
    this.#options = options;
    this.#startedAt = ticksOf(options.clock);
  }

  async run(): Promise<unknown> {
    try {
      for (;;) {
        const ended = await this.#step();
        if (ended !== undefined) return ended.result;
        await this.#sleep();
        this.#state = await this.#look();
      }
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      if (
        this.#options.cancels !== false &&
        !this.#over &&
        (error.code === 'CANCELLED' || error.code === 'TIMEOUT')
      )
        this.#cancel();
      throw error;
    }
  }

  /** Handles the latest state; returns the result if it is final. */
  async #step(): Promise<{ result: unknown } | undefined> {
    const { era } = this.#options;
    const state = this.#state;
    this.#showStatus(state.message);
    switch (state.status) {
      case 'working':
      case 'submitted':
        return undefined;
      case 'input_required':
        if (era === 'legacy') return { result: await this.#result() };
        await this.#answer(state.questions ?? {});
        return undefined;
      case 'completed':
        if (era === 'legacy') return { result: await this.#result() };
        if (isRecord(state.result)) return { result: state.result };
        // A task may complete before the first poll; the handle itself never contains the result.
        if (this.#looks === 0) return undefined;
        throw protocol(`The task ${state.taskId} is completed and has no result`);
      case 'failed':
        if (era === 'legacy') return { result: await this.#result() };
        if (this.#looks === 0) return undefined;
        throw failed(state);
      case 'cancelled':
        this.#over = true;
        throw new PlugboardError('CANCELLED', `The server cancelled the task${because(state.message)}`);
      default:
        throw protocol(`The task has an unknown status: ${JSON.stringify(state.status.slice(0, 80))}`);
    }
  }

  async #look(): Promise<TaskState> {
    const { taskId } = this.#state;
    for (let failures = 1; ; failures += 1) {
      try {
        const raw = await this.#ask('tasks/get', { taskId }, this.#options.idleMs);
        this.#looks += 1;
        const state = readTask(raw);
        if (state === undefined) throw protocol('tasks/get returned something that is not a task');
        return state;
      } catch (thrown) {
        const error = asPlugboardError(thrown);
        const isFinal = decideRetry('poll', error) === 'fail' || failures === MAX_POLL_TRIES;
        if (isFinal || this.#options.leave?.aborted) throw error;
        await this.#sleep();
      }
    }
  }

  /** Legacy: waits for the result; questions of the task arrive as requests of the server. */
  #result(): Promise<unknown> {
    return this.#ask('tasks/result', { taskId: this.#state.taskId }, undefined);
  }

  /** Answers each question once, even if the server repeats it. */
  async #answer(questions: Params): Promise<void> {
    const { clock, answer, signal } = this.#options;
    const fresh = Object.entries(questions).filter(([key]) => !this.#answered.has(key));
    if (fresh.length === 0) return;
    if (this.#answered.size + fresh.length > MAX_QUESTIONS) {
      throw new PlugboardError('LIMIT_EXCEEDED', `The task asked more than ${MAX_QUESTIONS} questions`);
    }
    const from = ticksOf(clock);
    const inputResponses = Object.fromEntries(
      await Promise.all(
        fresh.map(async ([key, raw]): Promise<[string, unknown]> => {
          this.#answered.add(key);
          if (!isRecord(raw) || typeof raw['method'] !== 'string') {
            throw protocol(`The question ${JSON.stringify(key.slice(0, 80))} of the task has no method`);
          }
          const params = isRecord(raw['params']) ? raw['params'] : {};
          return [key, await answer(raw['method'], params, signal, key)];
        }),
      ),
    );
    this.#personMs += ticksOf(clock) - from;
    await this.#ask('tasks/update', { taskId: this.#state.taskId, inputResponses }, this.#options.idleMs);
  }

  async #ask(method: string, params: Params, idleMs: number | undefined): Promise<unknown> {
    const { request, signal } = this.#options;
    return request(method, params, { signal, idleMs, totalMs: this.#left() });
  }

  async #sleep(): Promise<void> {
    const { clock, signal, leave } = this.#options;
    const left = this.#left();
    await new Promise<void>((resolve, reject) => {
      const settle = (how: () => void): void => {
        cancelTimer();
        signal?.removeEventListener('abort', onAbort);
        leave?.removeEventListener('abort', onLeave);
        how();
      };
      const onAbort = (): void => settle(() => reject(stopped(signal)));
      const onLeave = (): void => settle(() => reject(leftBehind()));
      const cancelTimer = clock.after(Math.min(this.#state.pollMs, left), () => settle(resolve));
      signal?.addEventListener('abort', onAbort);
      leave?.addEventListener('abort', onLeave);
      if (signal?.aborted) onAbort();
      else if (leave?.aborted) onLeave();
    });
    this.#left();
  }

  /** Returns the milliseconds until the total limit; throws when it is reached. */
  #left(): number {
    const { clock, totalMs } = this.#options;
    const left = totalMs - (ticksOf(clock) - this.#startedAt - this.#personMs);
    if (left > 0) return left;
    throw new PlugboardError('TIMEOUT', `tools/call timed out: not finished after ${totalMs / 1000} s`);
  }

  /** Forwards a task's status messages to the caller as progress. */
  #showStatus(message: string | undefined): void {
    if (message === undefined || message === this.#lastMessage) return;
    this.#lastMessage = message;
    this.#options.onProgress?.({ progress: this.#looks, message });
  }

  #cancel(): void {
    const { request } = this.#options;
    request('tasks/cancel', { taskId: this.#state.taskId }, { idleMs: CANCEL_MS }).catch(() => {});
  }
}

function readTask(raw: unknown): TaskState | undefined {
  if (!isRecord(raw) || typeof raw['taskId'] !== 'string' || typeof raw['status'] !== 'string')
    return undefined;
  const { taskId, status, statusMessage, result, error, inputRequests } = raw;
  const poll = raw['pollIntervalMs'] ?? raw['pollInterval'];
  const ttl = raw['ttlMs'] ?? raw['ttl'];
  return {
    taskId,
    status,
    message: typeof statusMessage === 'string' ? serverMessage(statusMessage) : undefined,
    pollMs:
      typeof poll === 'number' && poll >= 0
        ? Math.min(Math.max(poll, MIN_POLL_MS), MAX_POLL_MS)
        : DEFAULT_POLL_MS,
    ttlMs: typeof ttl === 'number' && ttl >= 0 ? ttl : undefined,
    result,
    error,
    questions: isRecord(inputRequests) ? inputRequests : undefined,
  };
}

function failed({ error, message }: TaskState): PlugboardError {
  const record = isRecord(error) ? error : {};
  const rpcMessage = typeof record['message'] === 'string' ? serverMessage(record['message']) : message;
  const text = withCause(rpcMessage ?? '', record['data']);
  const { code, data } = record;
  return new PlugboardError('PROTOCOL_ERROR', `The task failed${because(text)}`, {
    detail: typeof code === 'number' ? { rpcCode: code, rpcMessage: rpcMessage ?? text, rpcData: data } : {},
  });
}

function because(text: string | undefined): string {
  return text === undefined || text === '' ? '' : `: ${text}`;
}

function protocol(message: string): PlugboardError {
  return new PlugboardError('PROTOCOL_ERROR', message);
}

function stopped(signal: AbortSignal | undefined): PlugboardError {
  if (signal?.reason instanceof PlugboardError) return signal.reason;
  return new PlugboardError('CANCELLED', 'tools/call was cancelled', { cause: signal?.reason });
}

function leftBehind(): PlugboardError {
  return new PlugboardError('CONNECTION_LOST', 'tools/call goes on as a task without us', {
    hint: 'The next host that has this server collects its result.',
  });
}
