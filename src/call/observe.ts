/** Pipeline stage: emits exactly one end for each begin, and writes the audit log (CAL-1, CAL-6). */

import { asPlugboardError, type PlugboardError } from '../errors.ts';
import { ticksOf } from '../lib/clock.ts';
import type { Call, CallContext, CallEvents, Handler, Stage } from './call.ts';
import { toolOf } from './resolved-call.ts';
import type { ShapedResult } from './shape.ts';

/** Members are added one by one: each call creates these events, and spreading objects is slow. */
type Filled<Name extends keyof CallEvents> = {
  -readonly [Key in keyof CallEvents[Name]]: CallEvents[Name][Key];
};

export const observe: Stage = (context, next) => (call) => {
  const started = { at: context.clock.now(), ticks: ticksOf(context.clock) };
  const { id, session, ref } = call;
  const tool = toolOf(call);
  const { events } = context;
  if (events.has('call.begin')) {
    const begun: Filled<'call.begin'> = { id, server: tool.server, tool: tool.tool, session: session.id };
    if (session.client !== undefined) begun.client = session.client;
    if (session.profile !== undefined) begun.profile = session.profile.name;
    if (ref !== undefined) begun.ref = ref;
    if (call.program !== undefined) begun.program = call.program;
    events.emit('call.begin', begun);
  }
  const running = context.recorders.length === 0 ? undefined : context.running.add(call);
  for (const recorder of context.recorders) recorder.begun(call, started.at);
  if (events.has('call.arguments')) events.emit('call.arguments', { id, arguments: call.arguments });
  const ended = (result: ShapedResult): ShapedResult => {
    if (running !== undefined) context.running.remove(running);
    const shown = result.task === undefined ? result : withoutTask(result);
    if (events.has('call.result')) events.emit('call.result', { id, result: shown });
    end(context, call, started, result.isError ? 'tool-error' : 'ok', {
      bytes: bytesOf(result),
      result: shown,
    });
    return result;
  };
  const failed = (thrown: unknown): never => {
    const error = asPlugboardError(thrown);
    if (running !== undefined) context.running.remove(running);
    end(context, call, started, outcomeOf(error), { code: error.code, error });
    throw error;
  };
  return attemptNext(next, call).then(ended, failed);
};

/** A task that the caller follows itself is not data: it has the connection of its server. */
function withoutTask({ task: _task, ...result }: ShapedResult): ShapedResult {
  return result;
}

/** A stage that throws instead of rejecting fails its call like any other. */
function attemptNext(next: Handler, call: Call): ReturnType<Handler> {
  try {
    return next(call);
  } catch (error) {
    return Promise.reject(error);
  }
}

function end(
  context: CallContext,
  call: Call,
  started: { readonly at: number; readonly ticks: number },
  outcome: Outcome,
  more: {
    readonly code?: PlugboardError['code'];
    readonly bytes?: number;
    readonly result?: ShapedResult;
    readonly error?: PlugboardError;
  },
): void {
  const tool = toolOf(call);
  const { id, rule } = call;
  const { code } = more;
  const ms = ticksOf(context.clock) - started.ticks;
  if (context.events.has('call.end')) {
    const ended: Filled<'call.end'> = { id, outcome, ms };
    if (code !== undefined) ended.code = code;
    if (rule !== undefined) ended.rule = rule;
    context.events.emit('call.end', ended);
  }
  for (const recorder of context.recorders)
    recorder.ended(call, started.at, { outcome, ms, result: more.result, error: more.error });
  context.audit?.record(
    {
      at: started.at,
      session: call.session.id,
      client: call.session.client,
      profile: call.session.profile?.name,
      program: call.program,
      server: tool.server,
      tool: tool.tool,
      decision: call.decision ?? 'none',
      rule,
      outcome,
      ms,
      code,
      bytes: more.bytes,
    },
    call.arguments,
  );
}

/** Approximates the size without serializing the result again. */
function bytesOf(result: ShapedResult): number {
  return result.content.reduce((sum, block) => {
    if (block.type === 'text') return sum + block.text.length;
    return sum + (block.type === 'image' || block.type === 'audio' ? block.data.length : 0);
  }, 0);
}

/** How a call ended: `ok`, or the kind of failure. */
export type Outcome = 'ok' | 'tool-error' | 'error' | 'denied' | 'cancelled' | 'timeout';

export function outcomeOf(error: PlugboardError): Outcome {
  switch (error.code) {
    case 'CANCELLED':
      return 'cancelled';
    case 'TIMEOUT':
      return 'timeout';
    case 'APPROVAL_REQUIRED':
    case 'DENIED':
    case 'BLOCKED_BY_POLICY':
    case 'UNTRUSTED':
    case 'PIN_CHANGED':
    case 'LOCK_MISMATCH':
    case 'EGRESS_REFUSED':
    case 'RATE_LIMITED':
      return 'denied';
    default:
      return 'error';
  }
}
