/** Pipeline stage: sends the call to its server, with its timeouts, and validates the response. */

import { acceptCallResult, type CallResult } from '../catalog/accept-result.ts';
import { taskSupportOf } from '../catalog/catalog.ts';
import { paramHeaders } from '../catalog/param-headers.ts';
import type { Tool } from '../catalog/tool.ts';
import { limitFor } from '../config/limits.ts';
import type { Era, Negotiated } from '../connection/eras.ts';
import type { Params } from '../connection/peer.ts';
import { timeoutHint } from '../connection/reasons.ts';
import { sandboxMeta } from '../connection/sandbox-state.ts';
import { createdTask, hasTasks } from '../connection/tasks.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import type { ListEntry } from '../lib/linked-list.ts';
import { decideRetry } from '../lib/retry.ts';
import { pinChanged } from '../policy/pins-refusal.ts';
import { untilOf } from './become-task.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { ForwardedTask, followCall } from './call-tasks.ts';
import { resolvedCall } from './resolved-call.ts';
import { snapshotFor } from './session-view.ts';
import type { ServerWork } from './session-work.ts';

export const invoke: Stage = (context) => (call) => {
  const { tool, connection } = resolvedCall(call);
  const begun = context.work.inFlight.begin(connection, call);
  return send(context, call, tool).then(
    (answer) => {
      const { negotiated } = connection;
      // Nearly every answer is a result.
      if (negotiated !== undefined && createdTask(answer, negotiated.era) !== undefined)
        return settled(context, call, begun, () => taskResult(context, call, answer, negotiated.era));
      context.work.inFlight.end(connection, begun);
      return accepted(context, call, answer);
    },
    (error: unknown) =>
      settled(context, call, begun, async () => {
        const answer = await sendAgain(context, call, error).catch((failed: unknown) => {
          throw context.closing.aborted ? hostClosedError(failed) : failed;
        });
        return taskResult(context, call, answer, connection.negotiated?.era);
      }),
  );
};

/** Ends the work of a call that needs more than one answer; its error names the tool. */
async function settled(
  context: CallContext,
  call: Call,
  begun: ListEntry<ServerWork>,
  act: () => ReturnType<Handler>,
): ReturnType<Handler> {
  try {
    return await act();
  } catch (error) {
    call.endProgress?.();
    throw named(error, call);
  } finally {
    context.work.inFlight.end(resolvedCall(call).connection, begun);
  }
}

/** Returns the result of an answer that may be a task: followed here, or handed to a caller that follows it. */
async function taskResult(
  context: CallContext,
  call: Call,
  answer: unknown,
  era: Era | undefined,
): ReturnType<Handler> {
  const task = era === undefined ? undefined : createdTask(answer, era);
  if (task === undefined || era === undefined) return accepted(context, call, answer);
  if (call.task === undefined) return accepted(context, call, await followCall(context, call, task, era));
  // `createdTask` has validated it.
  const created = { era, taskId: task.taskId, created: answer as Params };
  return { content: [], isError: false, task: new ForwardedTask(context, call, call.task, created) };
}

function accepted(context: CallContext, call: Call, raw: unknown): CallResult {
  const { tool, connection } = resolvedCall(call);
  call.endProgress?.();
  const { result, warnings } = acceptCallResult(raw, connection.negotiated?.era);
  for (const warning of warnings) context.log(tool.server, 'warning', `${tool.tool}: ${warning}`);
  return result;
}

/** Repeats a call once after the two errors that show that the server has not done anything yet. */
async function sendAgain(context: CallContext, call: Call, error: unknown): Promise<unknown> {
  const { tool, connection } = resolvedCall(call);
  if (!(error instanceof PlugboardError)) throw error;
  const decision = decideRetry('tool', error);
  switch (decision) {
    case 'reread tools':
      await connection.reread();
      return send(context, call, newest(context, call, tool));
    case 'open urls':
      await openUrlsFirst(context, call, error);
      return send(context, call, tool);
    case 'fail':
      throw error;
    default:
      return decision satisfies never;
  }
}

/** Returns the same tool of the same server with its current definition; never another one that took its name (F33). */
function newest(context: CallContext, { session }: Call, tool: Tool): Tool {
  const now = snapshotFor(context, session).find(tool.name);
  return now?.server === tool.server && now.tool === tool.tool ? now : tool;
}

function send(context: CallContext, call: Call, tool: Tool): Promise<unknown> {
  const { connection, entry } = resolvedCall(call);
  // Asking a person and waiting for a turn take time, during which the tool may have changed.
  const held = snapshotFor(context, call.session).findHeld(tool.name);
  if (held?.server === tool.server && held.tool === tool.tool)
    return Promise.reject(pinChanged(tool.server, tool.tool));
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
    // The progress token of a task's call is valid as long as the task.
    const ended = new AbortController();
    call.endProgress = () => ended.abort();
    progressUntil = ended.signal;
  }
  const mirrored = negotiated?.era === 'modern' && connection.mirrorsHeaders;
  return connection.request('tools/call', params, {
    signal: call.signal,
    cancellation: call.cancellation,
    owner: call,
    // The gateway cancels the work of a stateless session before it ends: each of them is one request.
    until: call.session.isStateless && call.cancellation !== undefined ? undefined : untilOf(call),
    idleMs: call.timeoutMs ?? limitFor('toolTimeoutMs', entry, settings),
    totalMs: limitFor('maxTotalMs', entry, settings),
    handedOn: context.questions.handedOn(connection, call.session, call.handedOn),
    headers: mirrored ? paramHeaders(tool, call.arguments) : undefined,
    progressUntil,
    onProgress: (progress) => {
      call.progressed = true;
      context.events.emit('call.progress', { id: call.id, ...progress });
      call.onProgress?.(progress);
    },
  });
}

/**
 * Returns the `task` field of a call to a legacy server: if the tool requires it, or the caller requests it and the
 * tool allows it.
 */
function taskParamsOf(
  context: CallContext,
  call: Call,
  tool: Tool,
  negotiated: Negotiated,
): Params | undefined {
  if (!hasTasks(negotiated)) return undefined;
  const support = taskSupportOf(context.catalog.listing(tool.server), tool.tool);
  if (support === 'required') return call.task?.params ?? {};
  // The server's own task survives this process.
  return support === 'optional' ? (call.task?.params ?? (call.becomes && {})) : undefined;
}

/** A closed host closes its connections: the resulting errors are not the server's. */
function hostClosedError(error: unknown): unknown {
  if (!(error instanceof PlugboardError) || error.code !== 'CONNECTION_LOST') return error;
  return new PlugboardError('CANCELLED', 'tools/call was cancelled: the host was closed', { cause: error });
}

/** Names the tool in a timeout or a lost connection, in place of "tools/call". */
function named(error: unknown, call: Call): unknown {
  if (!(error instanceof PlugboardError)) return error;
  const { tool } = resolvedCall(call);
  const message = error.message.replace(/^(?:tools\/call|tasks\/\w+)/, `${tool.tool} (${tool.server})`);
  return new PlugboardError(error.code, message, {
    server: tool.server,
    hint: error.hint ?? timeoutHint(error, call.timeoutMs),
    cause: error.cause,
    detail: error.detail,
  });
}

// The error by which a legacy server requires a person to visit a URL before the call can work.

const MAX_ADDRESSES = 8;

/** Asks about each URL, like any other elicitation; resolves when all were accepted. */
async function openUrlsFirst(context: CallContext, call: Call, error: PlugboardError): Promise<void> {
  const { tool } = resolvedCall(call);
  const data = isRecord(error.detail.rpcData) ? error.detail.rpcData : {};
  const wanted = Array.isArray(data['elicitations']) ? data['elicitations'].filter(isRecord) : [];
  if (wanted.length === 0 || wanted.length > MAX_ADDRESSES) throw error;
  for (const params of wanted) {
    const answer = await context.questions
      .answer(call, 'elicitation/create', { ...params, mode: 'url' })
      .catch(() => undefined);
    if (isRecord(answer) && answer['action'] === 'accept') continue;
    throw new PlugboardError(
      'DENIED',
      `${tool.tool} on ${tool.server} needs an address to be visited first`,
      {
        server: tool.server,
        hint: 'The server gave the address; no one agreed to open it.',
        cause: error,
        detail: error.detail,
      },
    );
  }
}
