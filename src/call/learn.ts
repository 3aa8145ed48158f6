/** Remembers that a tool which a search had found was really used. */

import type { Call, CallContext, Handler, Stage } from './call.ts';

export const learn: Stage = (context, next) => (call) =>
  call.session.found.size === 0 ? next(call) : learning(context, call, next);

async function learning(context: CallContext, call: Call, next: Handler): ReturnType<Handler> {
  const result = await next(call);
  const query = call.session.found.get(call.name);
  if (query !== undefined && !result.isError) {
    call.session.found.delete(call.name);
    context.habits?.learn(query, call.name);
  }
  return result;
}
