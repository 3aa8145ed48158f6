/** What `resolve` has established, for the stages behind it. */

import type { Tool } from '../catalog/tool.ts';
import type { ServerEntry, ToolSettings } from '../config/entry.ts';
import type { Connection } from '../connection/connection.ts';
import { PlugboardError } from '../errors.ts';
import type { Call, CallContext } from './call.ts';

export interface Resolved {
  readonly tool: Tool;
  readonly connection: Connection;
  readonly entry: ServerEntry;
}

export function settingsOf(call: Call): Resolved {
  const { tool, connection } = call;
  if (tool === undefined || connection === undefined) {
    throw new PlugboardError('INTERNAL', 'a stage that needs the tool stands before resolve');
  }
  return { tool, connection, entry: connection.spec.entry };
}

/** The settings of a tool in its server's entry: under its own name, or under its full name in either spelling. */
export function toolSettings(context: CallContext, call: Call): ToolSettings | undefined {
  const { tool, entry } = settingsOf(call);
  const { tools } = entry;
  if (tools === undefined) return undefined;
  const { long, short } = context.snapshot().ruleNames(tool).assigned;
  const key = [tool.tool, ...long, ...short].find((name) => Object.hasOwn(tools, name));
  return key === undefined ? undefined : tools[key];
}
