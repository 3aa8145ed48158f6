/** Every call that begins ends exactly once, and both are told and written down (CAL-1, CAL-6). */

import { asPlugboardError, type PlugboardError } from '../errors.ts';
import { shapeOf } from './argument-shape.ts';
import type { Call, CallContext, Stage } from './call.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { settingsOf } from './settings.ts';
import type { ShapedResult } from './shape.ts';

export const observe: Stage = (context, next) => async (call) => {
  const startedAt = context.clock.now();
  const { id, session } = call;
  const { tool } = settingsOf(call);
  context.events.emit('call.begin', { id, server: tool.server, tool: tool.tool, session: session.id });
  try {
    const result = await next(call);
    end(context, call, startedAt, result.isError ? 'tool-error' : 'ok', { bytes: bytesOf(result) });
    return result;
  } catch (thrown) {
    const error = asPlugboardError(thrown);
    end(context, call, startedAt, outcomeOf(error), { code: error.code });
    throw error;
  }
};

function end(
  context: CallContext,
  call: Call,
  startedAt: number,
  outcome: Outcome,
  more: { readonly code?: PlugboardError['code']; readonly bytes?: number },
): void {
  const now = context.clock.now();
  const { tool } = settingsOf(call);
  const { id } = call;
  const { code } = more;
  const ms = now - startedAt;
  context.events.emit('call.end', code === undefined ? { id, outcome, ms } : { id, outcome, ms, code });
  context.audit.record({
    time: new Date(startedAt),
    session: call.session.id,
    server: tool.server,
    tool: tool.tool,
    arguments: shapeOf(call.arguments),
    decision: call.decision ?? 'none',
    outcome,
    ms,
    code,
    bytes: more.bytes,
  });
}

/** Near enough, and without writing the result out once more to count it. */
function bytesOf(result: ShapedResult): number {
  return result.content.reduce((sum, block) => {
    if (block.type === 'text') return sum + block.text.length;
    return sum + (block.type === 'image' || block.type === 'audio' ? block.data.length : 0);
  }, 0);
}
