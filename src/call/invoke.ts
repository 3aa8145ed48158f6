/** Sends the call to its server, within its clocks, and reads the answer so that nothing in it can surprise. */

import { acceptCallResult } from '../catalog/accept-result.ts';
import { paramHeaders } from '../catalog/param-headers.ts';
import type { Tool } from '../catalog/tool.ts';
import { limitFor } from '../config/limits.ts';
import { type Negotiated, RPC_HEADER_MISMATCH } from '../connection/eras.ts';
import type { Params } from '../connection/peer.ts';
import { patienceHint } from '../connection/reasons.ts';
import { sandboxMeta } from '../connection/sandbox-state.ts';
import { createdTask, hasTasks } from '../connection/tasks.ts';
import { PlugboardError } from '../errors.ts';
import { pinChanged } from '../policy/pins-refusal.ts';
import type { Call, CallContext, Stage } from './call.ts';
import { HandedTask } from './handed-task.ts';
import { settingsOf } from './settings.ts';
import { followCall } from './task.ts';
import { openFirst, wantsUrls } from './url-first.ts';

export const invoke: Stage = (context) => async (call) => {
  const { tool, connection } = settingsOf(call);
  context.inFlight.begin(connection, call);
  try {
    let answer: unknown;
    try {
      answer = await send(context, call, tool);
    } catch (error) {
      answer = await sendAgain(context, call, error).catch((failed: unknown) => {
        throw context.leave.aborted ? left(failed) : failed;
      });
    }
    const { negotiated } = connection;
    const task = negotiated === undefined ? undefined : createdTask(answer, negotiated.era);
    if (task !== undefined && negotiated !== undefined && call.task !== undefined) {
      const { era } = negotiated;
      // `createdTask` has looked at it.
      const created = { era, taskId: task.taskId, created: answer as Params };
      return { content: [], isError: false, task: new HandedTask(context, call, call.task, created) };
    }
    const raw =
      task === undefined || negotiated === undefined
        ? answer
        : await followCall(context, call, task, negotiated.era);
    call.endProgress?.();
    const { result, warnings } = acceptCallResult(raw, negotiated?.era);
    for (const warning of warnings) context.log(tool.server, 'warning', `${tool.tool}: ${warning}`);
    return result;
  } catch (error) {
    call.endProgress?.();
    throw named(error, call);
  } finally {
    context.inFlight.end(connection, call);
  }
};

/** The two answers after which a call may be said again, once: the server did nothing yet in either case. */
async function sendAgain(context: CallContext, call: Call, error: unknown): Promise<unknown> {
  const { tool, connection } = settingsOf(call);
  if (!(error instanceof PlugboardError)) throw error;
  if (error.detail.rpcCode === RPC_HEADER_MISMATCH) {
    // The server's idea of this tool is newer than ours: read the list again.
    await connection.reread();
    return send(context, call, newest(context, tool));
  }
  if (!wantsUrls(error)) throw error;
  await openFirst(context, call, error);
  return send(context, call, tool);
}

/** The same tool of the same server, as it is described now; never another one that has got its name (F33). */
function newest(context: CallContext, tool: Tool): Tool {
  const now = context.snapshot().find(tool.name);
  return now?.server === tool.server && now.tool === tool.tool ? now : tool;
}

function send(context: CallContext, call: Call, tool: Tool): Promise<unknown> {
  const { connection, entry } = settingsOf(call);
  // Asking a person and waiting for a turn take time, in which the tool may have become another one.
  const held = context.snapshot().findHeld(tool.name);
  if (held?.server === tool.server && held.tool === tool.tool) throw pinChanged(tool.server, tool.tool);
  const settings = context.settings();
  const { negotiated } = connection;
  const sandbox = negotiated === undefined ? undefined : sandboxMeta(negotiated, context.sandboxState());
  const meta =
    sandbox === undefined && call.traceMeta === undefined ? undefined : { ...sandbox, ...call.traceMeta };
  const params: Record<string, unknown> = { name: tool.tool, arguments: call.arguments };
  if (meta !== undefined) params['_meta'] = meta;
  const taskParams = negotiated?.era === 'legacy' ? taskParamsOf(context, call, tool, negotiated) : undefined;
  let progressUntil: AbortSignal | undefined;
  if (taskParams !== undefined) {
    params['task'] = taskParams;
    // The token of a task's call is valid for as long as the task.
    const ended = new AbortController();
    call.endProgress = () => ended.abort();
    progressUntil = ended.signal;
  }
  const mirrored = negotiated?.era === 'modern' && connection.transportKind === 'http';
  return connection.request('tools/call', params, {
    signal: call.signal,
    cancellation: call.cancellation,
    owner: call,
    until: call.session.ended,
    idleMs: call.timeoutMs ?? limitFor('toolTimeoutMs', entry, settings),
    totalMs: limitFor('maxTotalMs', entry, settings),
    handedOn: context.handedOn(connection, call.session, call.handedOn),
    headers: mirrored ? paramHeaders(tool, call.arguments) : undefined,
    progressUntil,
    onProgress: (progress) => {
      call.progressed = true;
      context.events.emit('call.progress', { id: call.id, ...progress });
      call.onProgress?.(progress);
    },
  });
}

/** The `task` of a call to a legacy server: where the tool wants it, or where the caller does and the tool allows it. */
function taskParamsOf(
  context: CallContext,
  call: Call,
  tool: Tool,
  negotiated: Negotiated,
): Params | undefined {
  if (!hasTasks(negotiated)) return undefined;
  const support = context.taskSupport(tool);
  if (support === 'required') return call.task?.params ?? {};
  return support === 'optional' ? call.task?.params : undefined;
}

/** A host that is closed ends its connections: what is lost with them is no fault of the server's. */
function left(error: unknown): unknown {
  if (!(error instanceof PlugboardError) || error.code !== 'CONNECTION_LOST') return error;
  return new PlugboardError('CANCELLED', 'tools/call was cancelled: the host was closed', { cause: error });
}

/** A timeout and a lost connection say which tool they hit: "tools/call" helps nobody. */
function named(error: unknown, call: Call): unknown {
  if (!(error instanceof PlugboardError)) return error;
  const { tool } = settingsOf(call);
  const message = error.message.replace(/^(?:tools\/call|tasks\/\w+)/, `${tool.tool} (${tool.server})`);
  return new PlugboardError(error.code, message, {
    server: tool.server,
    hint: error.hint ?? patienceHint(error, call.timeoutMs),
    cause: error.cause,
    detail: error.detail,
  });
}
