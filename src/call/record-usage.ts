/** Pipeline stage: records in the search usage that a tool found by a search was called. */

import { toolId } from '../catalog/tool-id.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { settingsOf } from './settings.ts';

export const recordUsage: Stage = (context, next) => (call) =>
  call.session.found.size === 0 ? next(call) : learning(context, call, next);

async function learning(context: CallContext, call: Call, next: Handler): ReturnType<Handler> {
  const { tool } = settingsOf(call);
  const id = toolId(tool);
  const result = await next(call);
  const query = call.session.found.get(id);
  if (query !== undefined && !result.isError) {
    call.session.found.delete(id);
    context.searchUsage?.learn(query, tool.name);
  }
  return result;
}
