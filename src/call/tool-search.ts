/** Answers `tool_search`: finds deferred tools, loads them into the caller's session, and shows their definitions. */

import type { CallResult } from '../catalog/accept-result.ts';
import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { Tool } from '../catalog/tool.ts';
import { PlugboardError } from '../errors.ts';
import type { Call, CallContext, Stage } from './call.ts';

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;

export const toolSearch: Stage = (context, next) => (call) =>
  call.name === TOOL_SEARCH && context.deferral().searchTool !== undefined
    ? searched(context, call)
    : next(call);

async function searched(context: CallContext, call: Call): Promise<CallResult> {
  const { query, limit } = call.arguments;
  if (typeof query !== 'string' || query.trim() === '') {
    throw new PlugboardError(
      'INVALID_ARGUMENTS',
      'tool_search needs a query: a few words, or "select:" and names',
      {
        hint: '{ "query": "create a pull request" }',
      },
    );
  }
  const wanted =
    typeof limit === 'number' ? Math.min(Math.max(Math.trunc(limit), 1), MAX_LIMIT) : DEFAULT_LIMIT;
  const found = (await context.search(query, wanted)).map(({ tool }) => tool);
  for (const tool of found) {
    call.session.loaded.add(tool.name);
    call.session.found.set(tool.name, query);
  }
  return found.length === 0 ? nothing(query) : definitions(found);
}

function definitions(found: readonly Tool[]): CallResult {
  const shown = found.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, inputSchema }),
  );
  const text = `${found.length} tools found; they can be called by name now.\n${shown.join('\n')}`;
  return { content: [{ type: 'text', text }], isError: false };
}

function nothing(query: string): CallResult {
  const text = `No tool fits ${JSON.stringify(query)}. Try other words, or fewer; the description of ${TOOL_SEARCH} lists what there is.`;
  return { content: [{ type: 'text', text }], isError: false };
}
