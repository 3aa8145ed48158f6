/** What `resolve` has established, for the stages behind it. */

import type { Tool } from '../catalog/tool.ts';
import type { ServerEntry } from '../config/entry.ts';
import type { Connection } from '../connection/connection.ts';
import { PlugboardError } from '../errors.ts';
import type { Call } from './call.ts';

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
