/** Calls whose server responds with a task: followed to its end here, or handed to a caller that follows it itself. */

import { acceptCallResult } from '../catalog/accept-result.ts';
import { limitsFor } from '../config/limits.ts';
import type { Connection } from '../connection/connection.ts';
import type { Era } from '../connection/eras.ts';
import type { Params, RequestOptions } from '../connection/peer.ts';
import type { Questioned } from '../connection/questions.ts';
import { followTask, relatedTask, type TaskState, unreportedTask } from '../connection/tasks.ts';
import { asPlugboardError, forSurface, PlugboardError } from '../errors.ts';
import { type Cancellable, type Cancellation, whileOpen } from '../lib/cancellation.ts';
import { Emitter, type Unsubscribe } from '../lib/emitter.ts';
import { isRecord } from '../lib/json.ts';
import type { TaskRecord } from '../tasks/task-record.ts';
import { endsTask, keepUpstream, untilOf } from './become-task.ts';
import type { Call, CallContext } from './call.ts';
import { resolvedCall } from './resolved-call.ts';
import type { ServerWork } from './session-work.ts';
import { type ShapedResult, shape } from './shape.ts';

export async function followCall(
  context: CallContext,
  call: Call,
  task: TaskState,
  era: Era,
): Promise<unknown> {
  const { connection, entry } = resolvedCall(call);
  const limits = limitsFor(entry, context.settings());
  await keepUpstream(context, call, { taskId: task.taskId, era });
  try {
    const raw = await whileOpen(call, untilOf(call), (signal) =>
      followTask(task, {
        era,
        clock: context.clock,
        request: (method, params, options) => connection.request(method, params, options),
        answer: (method, params, _signal, key) => context.questions.answer(call, method, params, key),
        signal,
        leave: context.closing,
        idleMs: call.timeoutMs ?? limits.toolTimeoutMs,
        totalMs: limits.maxTotalMs,
        onProgress: (progress) => {
          // The server's own progress values have to increase: the host must not add its own between them.
          if (call.progressed === true) return;
          context.events.emit('call.progress', { id: call.id, ...progress });
          call.onProgress?.(progress);
        },
      }),
    );
    await call.kept?.drop();
    return raw;
  } catch (error) {
    if (endsTask(error)) await call.kept?.drop();
    else await call.kept?.leave();
    throw error;
  }
}

/** Follows a task that an earlier host began, and stores its result: no caller waits for it. */
export async function collect(
  context: CallContext,
  found: TaskRecord,
  connection: Connection,
): Promise<void> {
  const { server, tool, upstream } = found;
  if (upstream === undefined) return;
  const stopped = new AbortController();
  const tasks = await context.tasks.running();
  const task = await tasks.adopt(found.id, (reason) => stopped.abort(reason));
  if (task === undefined) return;
  const limits = limitsFor(connection.spec.entry, context.settings());
  const begun = `the task of ${tool} that was begun at ${new Date(found.createdAt).toISOString()}`;
  try {
    const raw = await followTask(unreportedTask(upstream.taskId), {
      era: upstream.era,
      clock: context.clock,
      request: (method, params, options) => connection.request(method, params, options),
      // The sessions that could have answered are gone.
      answer: () =>
        Promise.reject(new PlugboardError('CANCELLED', 'The task needs input, but no one can answer')),
      signal: stopped.signal,
      leave: context.closing,
      idleMs: limits.toolTimeoutMs,
      totalMs: limits.maxTotalMs,
      onProgress: (progress) => task.progressed(progress),
    });
    const { result } = acceptCallResult(raw, upstream.era);
    await task.complete(result);
    const how = result.isError ? 'has ended with an error' : 'is done';
    context.log(server, 'info', `${begun} ${how}: ${placeOf(found.id)}`);
  } catch (error) {
    if (endsTask(error)) await task.fail(error);
    else await task.leave();
    if (context.closing.aborted) return;
    context.log(server, 'warning', `${begun} has no result: ${asPlugboardError(error).message}`);
  }
}

/** Where the result of a task is found, as the end of a sentence. */
function placeOf(id: string): string {
  return forSurface({ commands: `plugboard tasks result ${id}`, library: `host.task('${id}')` });
}

// A task that its caller follows itself. Requests and responses are those of the server's era; the steps common to
// all callers are done here: results are parsed and shaped like those of calls, and questions of the task are sent to
// its caller.

/** How a caller requests that a call becomes a task. */
export interface TaskRequest {
  /** The `task` field of a call to a legacy server, such as its time to live. */
  readonly params: Params;
  /** The callbacks for questions of the task; they outlive the call. */
  readonly questions: Questioned;
  /** Cancelled when the caller stops following the task. */
  readonly cancellation: Cancellation;
}

interface TaskEvents {
  /** The server reported a new state. */
  readonly changed: { readonly state: Params };
}

export class ForwardedTask {
  readonly era: Era;
  readonly taskId: string;
  /** The response to the call, as the server sent it. */
  readonly created: Params;
  readonly events: Emitter<TaskEvents> = new Emitter();
  /** The work that its questions are attributed to. */
  readonly questionWork: ServerWork;
  readonly #context: CallContext;
  readonly #call: Call;
  readonly #release: () => void;
  #isOver = false;

  constructor(context: CallContext, call: Call, request: TaskRequest, { era, taskId, created }: CreatedTask) {
    this.#context = context;
    this.#call = call;
    this.era = era;
    this.taskId = taskId;
    this.created = created;
    const { cancellation } = request;
    this.questionWork = { session: { ...call.session, ...request.questions }, cancellation };
    const { connection } = resolvedCall(call);
    context.work.forwardedTasks.add(connection, this);
    // A stopped server loses its running work.
    const rest = connection.hold();
    this.#release = () => {
      rest();
      context.work.forwardedTasks.remove(connection, this);
    };
    cancellation.onCancel(() => this.end());
  }

  get server(): string {
    return resolvedCall(this.#call).tool.server;
  }

  get(how: Cancellable): Promise<Params> {
    return this.#request('tasks/get', {}, how);
  }

  cancel(): Promise<Params> {
    return this.#request('tasks/cancel', {}, {});
  }

  update(inputResponses: Params): Promise<Params> {
    return this.#request('tasks/update', { inputResponses }, {});
  }

  /** Legacy: waits for the end of the task. Its questions arrive as requests of the server. */
  async result(how: Cancellable): Promise<ShapedResult> {
    const { connection } = resolvedCall(this.#call);
    const work = { session: this.#call.session, ...how };
    const begun = this.#context.work.inFlight.begin(connection, work);
    try {
      return await this.shape(await this.#request('tasks/result', {}, how, { idleMs: undefined }));
    } finally {
      this.#context.work.inFlight.end(connection, begun);
    }
  }

  /** Returns a result of the task in the form a call would have returned. */
  async shape(raw: unknown): Promise<ShapedResult> {
    const { result, warnings } = acceptCallResult(raw, this.era);
    const { tool } = resolvedCall(this.#call);
    for (const warning of warnings) this.#context.log(tool.server, 'warning', `${tool.tool}: ${warning}`);
    return shape(this.#context, async () => result)(this.#call);
  }

  /** Modern: sends a question of the task to its caller. */
  ask(method: string, params: Params, key: string): Promise<unknown> {
    return this.#context.questions.answer({ ...this.#call, ...this.questionWork }, method, params, key);
  }

  /** Subscribes to new states at a modern server. Legacy ones report them unasked, or not at all. */
  watch(changed: (state: Params) => void): Unsubscribe {
    const stop = this.events.on('changed', ({ state }) => changed(state));
    const { connection } = resolvedCall(this.#call);
    const unwatch = connection.watchTask(this.taskId);
    return () => {
      stop();
      unwatch();
    };
  }

  /** Ends the task: its server may be stopped, and progress is no longer reported. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call.endProgress?.();
    this.#release();
  }

  async #request(
    method: string,
    params: Params,
    how: Cancellable,
    more: RequestOptions = {},
  ): Promise<Params> {
    const { connection, entry } = resolvedCall(this.#call);
    const limits = limitsFor(entry, this.#context.settings());
    const { signal, cancellation } = how;
    const idleMs = limits.toolTimeoutMs;
    const options = { signal, cancellation, owner: this.questionWork, idleMs, ...more };
    const result = await connection.request(method, { taskId: this.taskId, ...params }, options);
    return isRecord(result) ? result : {};
  }
}

export interface CreatedTask {
  readonly era: Era;
  readonly taskId: string;
  readonly created: Params;
}

/** The tasks followed by callers, by the process that runs them. */
export class ForwardedTasks {
  readonly #tasks = new WeakMap<Connection, Map<string, ForwardedTask>>();

  add(connection: Connection, task: ForwardedTask): void {
    const tasks = this.#tasks.get(connection) ?? new Map();
    this.#tasks.set(connection, tasks.set(task.taskId, task));
  }

  remove(connection: Connection, { taskId }: ForwardedTask): void {
    this.#tasks.get(connection)?.delete(taskId);
  }

  /** Returns the task that a question or a notification with this `_meta` belongs to. */
  related(connection: Connection, { _meta }: Params): ForwardedTask | undefined {
    const taskId = relatedTask(_meta);
    return taskId === undefined ? undefined : this.#tasks.get(connection)?.get(taskId);
  }

  /** Handles a state that a server reports for a task. */
  changed(connection: Connection, state: Params): void {
    const { taskId } = state;
    const task = typeof taskId === 'string' ? this.#tasks.get(connection)?.get(taskId) : undefined;
    task?.events.emit('changed', { state });
  }
}
