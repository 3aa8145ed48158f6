/** The values that `resolve` has set, for the later stages. */

import type { Tool } from '../catalog/tool.ts';
import type { ServerEntry, ToolSettings } from '../config/entry.ts';
import type { Connection } from '../connection/connection.ts';
import { PlugboardError } from '../errors.ts';
import type { RuleNames } from '../policy/approval.ts';
import type { Call, CallContext } from './call.ts';

export interface Resolved {
  readonly tool: Tool;
  readonly connection: Connection;
  readonly entry: ServerEntry;
}

/** Returns the tool of a call, also if it does not belong to one server. */
export function toolOf({ tool }: Call): Tool {
  if (tool !== undefined) return tool;
  throw new PlugboardError('INTERNAL', 'A stage that needs the tool runs before resolve');
}

/** Returns the names that rules and settings are matched against. */
export function namesOf(context: Pick<CallContext, 'catalog'>, call: Call): RuleNames {
  return call.names ?? context.catalog.snapshot.ruleNames(toolOf(call));
}

export function resolvedCall(call: Call): Resolved {
  const { tool, connection } = call;
  if (tool === undefined || connection === undefined) {
    throw new PlugboardError('INTERNAL', 'A stage that needs the tool runs before resolve');
  }
  return { tool, connection, entry: connection.spec.entry };
}

export function toolSettings(context: CallContext, call: Call): ToolSettings | undefined {
  const { tool, entry } = resolvedCall(call);
  return settingsIn(entry, tool, () => namesOf(context, call));
}

/**
 * Returns the settings of a tool in its server's entry: under its own name, or under its full name in either
 * spelling.
 */
export function settingsIn(
  { tools }: ServerEntry,
  { tool }: Pick<Tool, 'tool'>,
  names: () => RuleNames,
): ToolSettings | undefined {
  if (tools === undefined) return undefined;
  const { long, short } = names().assigned;
  const key = [tool, ...long, ...short].find((name) => Object.hasOwn(tools, name));
  return key === undefined ? undefined : tools[key];
}
