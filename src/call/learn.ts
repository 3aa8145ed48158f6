/** Remembers that a tool which a search had found was really used. */

import type { Stage } from './call.ts';

export const learn: Stage = (context, next) => async (call) => {
  const result = await next(call);
  const query = call.session.found.get(call.name);
  if (query !== undefined && !result.isError) {
    call.session.found.delete(call.name);
    context.habits?.learn(query, call.name);
  }
  return result;
};
