/** The tools of a session as programs name them: `tools.<server>.<tool>`, with signatures for `search` and `describe`. */

import type { CallContext } from '../call/call.ts';
import type { Session } from '../call/session.ts';
import { searchFor, snapshotFor } from '../call/session-view.ts';
import type { Snapshot } from '../catalog/catalog.ts';
import { programLine } from '../catalog/run-tool-definition.ts';
import { isForModel, type Tool } from '../catalog/tool.ts';
import { plainName } from '../catalog/tool-names.ts';
import { PlugboardError } from '../errors.ts';
import { getOrMake } from '../lib/get-or-make.ts';

const DEFAULT_FOUND = 5;
const MAX_FOUND = 20;
/** Limit on all matches, for a session that may use only some of the tools. */
const MAX_SEARCHED = 1_000;

/** Tools by server and name, once for each snapshot. */
const indexes = new WeakMap<Snapshot, ReadonlyMap<string, ReadonlyMap<string, Tool>>>();

function indexOf(snapshot: Snapshot): ReadonlyMap<string, ReadonlyMap<string, Tool>> {
  return getOrMake(indexes, snapshot, () => {
    const servers = new Map<string, Map<string, Tool>>();
    for (const tool of snapshot.tools)
      if (isForModel(tool))
        getOrMake(servers, tool.server, () => new Map<string, Tool>()).set(tool.tool, tool);
    return servers;
  });
}

type View = Pick<CallContext, 'catalog'>;

export function serversOf(context: View, session: Session): readonly string[] {
  const snapshot = snapshotFor(context, session);
  const servers = [...indexOf(snapshot)];
  const { offers } = session;
  if (offers === undefined) return servers.map(([server]) => server);
  return servers
    .filter(([server, tools]) =>
      [...tools.values()].some((tool) => offers(server, snapshot.ruleNames(tool).assigned)),
    )
    .map(([server]) => server);
}

/** Returns the name that the pipeline resolves: a tool that is not known yet may be listed by its server. */
export function nameInCalls(context: View, session: Session, server: string, tool: string): string {
  return findTool(context, session, server, tool)?.name ?? plainName(server, tool, 'mcp__');
}

/** Finds a tool by its server's name and its own; other characters than those of identifiers may be underscores. */
function findTool(context: View, session: Session, server: string, tool: string): Tool | undefined {
  const servers = indexOf(snapshotFor(context, session));
  const tools = servers.get(server) ?? byIdentifier(servers, server);
  return tools?.get(tool) ?? (tools && byIdentifier(tools, tool));
}

function byIdentifier<Value>(values: ReadonlyMap<string, Value>, name: string): Value | undefined {
  for (const [key, value] of values) if (key.replace(/[^\w$]/g, '_') === name) return value;
  return undefined;
}

/** Returns one line for each tool that matches. */
export async function searchTools(
  context: Pick<CallContext, 'catalog' | 'search'>,
  session: Session,
  query: unknown,
  limit: unknown,
): Promise<readonly string[]> {
  if (typeof query !== 'string' || query.trim() === '')
    throw new PlugboardError('INVALID_ARGUMENTS', 'search() needs a text: a few words on what to do');
  const wanted =
    typeof limit === 'number' ? Math.min(Math.max(Math.trunc(limit), 1), MAX_FOUND) : DEFAULT_FOUND;
  const { offers } = session;
  const hits = await searchFor(context, session)(query, offers === undefined ? wanted : MAX_SEARCHED);
  const snapshot = snapshotFor(context, session);
  return hits
    .map(({ tool }) => tool)
    .filter((tool) => offers === undefined || offers(tool.server, snapshot.ruleNames(tool).assigned))
    .slice(0, wanted)
    .map(programLine);
}

/** Returns the complete definition of a tool, named as `server.tool` or as elsewhere. */
export function describeTool(context: View, session: Session, given: string): unknown {
  const snapshot = snapshotFor(context, session);
  const name = given.replace(/^tools\./, '');
  const [server = '', ...rest] = name.split('.');
  const found = findTool(context, session, server, rest.join('.')) ?? snapshot.find(name);
  const { offers } = session;
  const isOffered =
    found !== undefined &&
    isForModel(found) &&
    (offers === undefined || offers(found.server, snapshot.ruleNames(found).assigned));
  if (!isOffered)
    throw new PlugboardError('UNKNOWN_TOOL', `There is no tool ${JSON.stringify(given)}`, {
      hint: 'Find it with search().',
    });
  const { description, inputSchema, outputSchema, annotations } = found;
  return {
    signature: programLine(found),
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}
