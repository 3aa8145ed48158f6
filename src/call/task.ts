/** Follows a call whose server responded with a task to its end, and stores the task in the home until then. */

import { acceptCallResult } from '../catalog/accept-result.ts';
import { limitsFor } from '../config/limits.ts';
import type { Connection } from '../connection/connection.ts';
import type { Era } from '../connection/eras.ts';
import { followTask, type TaskState, unreportedTask } from '../connection/tasks.ts';
import type { KeptTask } from '../connection/tasks-kept.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { whileOpen } from '../lib/cancellation.ts';
import type { Call, CallContext } from './call.ts';
import { settingsOf } from './settings.ts';

export async function followCall(
  context: CallContext,
  call: Call,
  task: TaskState,
  era: Era,
): Promise<unknown> {
  const { tool, connection, entry } = settingsOf(call);
  const limits = limitsFor(entry, context.settings());
  const { taskId } = task;
  await context.tasks.keep({ server: tool.server, name: tool.name, tool: tool.tool, taskId, era });
  try {
    const raw = await whileOpen(call, call.session.ended, (signal) =>
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
    await context.tasks.drop(taskId);
    return raw;
  } catch (error) {
    if (isOver(error)) await context.tasks.drop(taskId);
    throw error;
  }
}

/**
 * Collects the result of a task that an earlier host began: no caller waits for it, so it becomes a file and a log
 * line.
 */
export async function collect(context: CallContext, kept: KeptTask, connection: Connection): Promise<void> {
  const { server, tool, taskId, era } = kept;
  const limits = limitsFor(connection.spec.entry, context.settings());
  const begun = new Date(kept.at).toISOString();
  try {
    const raw = await followTask(unreportedTask(taskId), {
      era,
      clock: context.clock,
      request: (method, params, options) => connection.request(method, params, options),
      // The sessions that could have answered are gone.
      answer: () =>
        Promise.reject(new PlugboardError('CANCELLED', 'the task asks, and no one is there to answer')),
      leave: context.closing,
      idleMs: limits.toolTimeoutMs,
      totalMs: limits.maxTotalMs,
    });
    const { result } = acceptCallResult(raw, era);
    const file = await context.output.files.save(
      `${tool.replace(/[^\w-]/g, '_').slice(0, 64)}.json`,
      JSON.stringify(result),
    );
    const how = result.isError ? 'has ended with an error' : 'is done';
    context.log(
      server,
      'info',
      `the task of ${tool} that was begun at ${begun} ${how}: its result is in ${file}`,
    );
  } catch (error) {
    if (context.closing.aborted) return;
    const why = asPlugboardError(error).message;
    context.log(server, 'warning', `the task of ${tool} that was begun at ${begun} has no result: ${why}`);
    if (!isOver(error)) return;
  }
  await context.tasks.drop(taskId);
}

/** Whether a task has ended: a server that cannot be reached now still has it, for the next host. */
function isOver(error: unknown): boolean {
  const { code } = asPlugboardError(error);
  return code === 'PROTOCOL_ERROR' || code === 'CANCELLED' || code === 'TIMEOUT' || code === 'LIMIT_EXCEEDED';
}
