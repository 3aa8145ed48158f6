/** Builds lists of tools for clients, once for each list of the host and kind of client. */

import { callToolDefinition, callToolReadDefinition } from '../../catalog/call-tool.ts';
import { TOOL_SEARCH } from '../../catalog/deferral.ts';
import type { Tool } from '../../catalog/tool.ts';
import type { Params } from '../../endpoint/client-era.ts';
import { isRecord } from '../../lib/json.ts';
import { compileFault } from './compilable.ts';
import type { Reader } from './reader.ts';
import { type RepairReport, sentTool } from './sent-definitions.ts';
import { withChanges } from './valid-fields.ts';

const callTools: readonly Params[] = [
  { ...callToolDefinition('server__tool') },
  { ...callToolReadDefinition('server__tool') },
];

/** A list for clients, without and with the tools that this client has found. */
interface Lists {
  readonly fixed: readonly Params[];
  readonly withFound: readonly Params[];
}

export type ToolLister = (tools: readonly Tool[], reader: Reader) => readonly Params[];

/**
 * Builds lists for clients: servers' tools, `call_tool` and `call_tool_read` if there is a search, the gateway's own tools, and last the
 * tools that the client has found. A modern list omits the found ones: it must not change because of a call.
 */
export function createToolLister(own: readonly object[], report: RepairReport): ToolLister {
  const made = new WeakMap<readonly Tool[], Map<string, Lists>>();
  return (tools, reader) => {
    const lists = made.get(tools) ?? new Map<string, Lists>();
    made.set(tools, lists);
    const kind = `${reader.isModern} ${reader.mirrors}`;
    let list = lists.get(kind);
    if (list === undefined) {
      const sent = (isFound: boolean): Params[] =>
        tools
          .filter(({ deferred }) => (deferred === true) === isFound)
          .flatMap((tool) => sentTool(tool, reader, report));
      const [given, found] = [sent(false), sent(true)];
      const searches = given.some(({ name }) => name === TOOL_SEARCH);
      const fixed = [...given, ...(searches ? callTools : []), ...own.map((tool) => ({ ...tool }))];
      list = {
        fixed: withOwnIds(fixed),
        withFound: withOwnIds(found.length === 0 ? fixed : [...fixed, ...found]),
      };
      lists.set(kind, list);
    }
    return reader.isModern ? list.fixed : list.withFound;
  };
}

/**
 * Removes a `$id` that another output schema in the list has: the official clients store schemas by it, and would
 * validate the results of one server by the schema of another.
 */
function withOwnIds(tools: readonly Params[]): readonly Params[] {
  const count = new Map<string, number>();
  for (const tool of tools) {
    const id = idOf(tool);
    if (id !== undefined) count.set(id, (count.get(id) ?? 0) + 1);
  }
  if (![...count.values()].some((times) => times > 1)) return tools;
  return tools.map((tool) => {
    const { outputSchema } = tool;
    if ((count.get(idOf(tool) ?? '') ?? 0) < 2 || !isRecord(outputSchema)) return tool;
    const nameless = withChanges(outputSchema, { $id: undefined });
    // References of a schema to itself by its id are rare, and cannot be kept.
    const isWhole = compileFault(nameless) === undefined || compileFault(outputSchema) !== undefined;
    return withChanges(tool, { outputSchema: isWhole ? nameless : undefined });
  });
}

function idOf({ outputSchema }: Params): string | undefined {
  const id = isRecord(outputSchema) ? outputSchema['$id'] : undefined;
  return typeof id === 'string' && !id.startsWith('#') ? id.replace(/#$/, '') : undefined;
}
