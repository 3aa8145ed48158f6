/** The outermost stage: every call that begins ends exactly once, with what came of it (CAL-1, CAL-6). */

import { asPlugboardError, type PlugboardError } from '../errors.ts';
import type { Outcome, Stage } from './call.ts';

export const observe: Stage = (context, next) => async (call) => {
  const { id } = call;
  const startedAt = context.clock.now();
  const end = (outcome: Outcome, code?: PlugboardError['code']): void => {
    const ms = context.clock.now() - startedAt;
    context.events.emit('call.end', { id, outcome, ms, ...(code === undefined ? {} : { code }) });
  };
  const { tool } = call;
  context.events.emit('call.begin', {
    id,
    server: tool?.server ?? '',
    tool: tool?.tool ?? call.name,
    session: call.session.id,
  });
  try {
    const result = await next(call);
    end(result.isError ? 'tool-error' : 'ok');
    return result;
  } catch (thrown) {
    const error = asPlugboardError(thrown);
    end(outcomeOf(error), error.code);
    throw error;
  }
};

function outcomeOf(error: PlugboardError): Outcome {
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
      return 'denied';
    default:
      return 'error';
  }
}
