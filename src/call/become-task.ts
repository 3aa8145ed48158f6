/** Pipeline stage: makes a call that its caller does not wait for a task, which is stored and survives the caller. */

import type { Era } from '../connection/eras.ts';
import { asPlugboardError } from '../errors.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import { inTime } from '../lib/waits.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import type { NewTask, RunningTasks } from '../tasks/running-tasks.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { resolvedCall } from './resolved-call.ts';

/** How a caller leaves its call to a task. */
export interface BackgroundRequest {
  /** Who may see the task. */
  readonly owner: string;
  /** How long the caller waits for the result first; undefined: it does not. */
  readonly afterMs?: number | undefined;
  readonly ttlMs?: number | undefined;
  /** Called when the call has become a task: it was allowed, and the task is stored. */
  readonly begun: (task: RunningTask) => void;
}

/** The tasks of a host, as calls use them. */
export interface CallTasks {
  /** Loaded on first use. */
  running(): Promise<RunningTasks>;
  /** True for servers whose tasks a later host can ask for. */
  isKept(server: string): boolean;
  /** Returns a digest of the entry of a server. */
  entryOf(server: string): string;
}

/** The owner of tasks that programs and commands of the user begin. */
export const LOCAL_OWNER = 'local';

export const becomeTask: Stage = (context, next) => (call) => {
  const { becomes } = call;
  if (becomes === undefined) return next(call);
  return becomes.afterMs === undefined
    ? atOnce(context, call, becomes, next)
    : later(context, call, becomes, becomes.afterMs, next);
};

async function atOnce(
  context: CallContext,
  call: Call,
  request: BackgroundRequest,
  next: Handler,
): ReturnType<Handler> {
  const task = await begin(context, call, request);
  return untilEnd(context, call, task, () => next(call));
}

async function later(
  context: CallContext,
  call: Call,
  request: BackgroundRequest,
  afterMs: number,
  next: Handler,
): ReturnType<Handler> {
  const running = next(call);
  const ended = running.then(
    () => true,
    () => true,
  );
  if (await inTime(ended, afterMs, context.clock, false)) return running;
  let task: RunningTask;
  try {
    task = await begin(context, call, request);
  } catch (thrown) {
    // The caller waits on, as it would without tasks.
    const { tool } = resolvedCall(call);
    context.log(
      tool.server,
      'warning',
      `${tool.tool} did not become a task: ${asPlugboardError(thrown).message}`,
    );
    return running;
  }
  return untilEnd(context, call, task, () => running);
}

async function begin(context: CallContext, call: Call, request: BackgroundRequest): Promise<RunningTask> {
  const tasks = await context.tasks.running();
  const { cancellation } = call;
  const { owner, ttlMs } = request;
  const { upstream } = call;
  const task = await tasks.begin({ ...newTask(context, call), owner, ttlMs, upstream }, (reason) =>
    cancellation?.cancel(reason),
  );
  call.running = task;
  await call.kept?.drop();
  call.kept = undefined;
  request.begun(task);
  return task;
}

/** Returns the description of a call as a task. */
export function newTask(context: CallContext, call: Call): Omit<NewTask, 'owner'> {
  const { server, tool, name } = resolvedCall(call).tool;
  const { client, profile } = call.session;
  return { server, tool, name, client, profile: profile?.name, entry: context.tasks.entryOf(server) };
}

/** Stores how the call ends, and its progress and questions until then. */
async function untilEnd(
  context: CallContext,
  call: Call,
  task: RunningTask,
  run: () => ReturnType<Handler>,
): ReturnType<Handler> {
  const stop = observeTask(context, call, task);
  try {
    const result = await run();
    await task.complete(result);
    return result;
  } catch (thrown) {
    if (task.record.upstream !== undefined && !endsTask(thrown)) await task.leave();
    else await task.fail(thrown);
    throw thrown;
  } finally {
    stop();
  }
}

function observeTask({ events }: CallContext, { id: callId }: Call, task: RunningTask): () => void {
  const asked = new Set<string>();
  const stops = [
    events.on('call.progress', ({ id, ...progress }) => {
      if (id === callId) task.progressed(progress);
    }),
    events.on('question', ({ id, call }) => {
      if (call !== callId) return;
      asked.add(id);
      task.asked();
    }),
    events.on('answer', ({ id }) => {
      if (asked.delete(id)) task.answered();
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Returns the end of the session that a call ends with; a call that may become a task outlives its session. */
export function untilOf({ becomes, session }: Call): Cancellation | undefined {
  return becomes === undefined ? session.ended : undefined;
}

/** Whether a server's task has ended: a server that cannot be reached now still has it, for the next host. */
export function endsTask(error: unknown): boolean {
  const { code } = asPlugboardError(error);
  return code === 'PROTOCOL_ERROR' || code === 'CANCELLED' || code === 'TIMEOUT' || code === 'LIMIT_EXCEEDED';
}

/** Records the server's own task of a call, so that a later host can ask for its result. */
export async function keepUpstream(
  context: CallContext,
  call: Call,
  upstream: { readonly taskId: string; readonly era: Era },
): Promise<void> {
  if (call.running !== undefined) return call.running.follow(upstream);
  call.upstream = upstream;
  const { server } = resolvedCall(call).tool;
  if (!context.tasks.isKept(server)) return;
  const tasks = await context.tasks.running();
  const given: NewTask = { ...newTask(context, call), owner: LOCAL_OWNER, upstream, foreground: true };
  call.kept = await tasks
    .begin(given, () => {})
    .catch((thrown: unknown) => {
      context.log(server, 'warning', asPlugboardError(thrown).message);
      return undefined;
    });
}
