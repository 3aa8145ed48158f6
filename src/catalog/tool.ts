/** A tool of the catalog, as `tools --json` prints it. Adapters use it in browsers: no modules of Node here. */

import { isRecord } from '../lib/json.ts';
import type { ToolKey } from './tool-names.ts';

/** Hints of a server about the effects of a tool; believed only for servers marked as `trusted`. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
  /** Unknown hints. */
  readonly [hint: string]: unknown;
}

/** A tool as a model is given it. */
export interface Tool {
  /** The name for models: `mcp__server__tool`. */
  readonly name: string;
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations;
  /** Present if a call can become a task. Optional: for callers without task support the task is awaited. */
  readonly execution?: { readonly taskSupport: 'optional' };
  /** Searchable, but not given to the model until it was found. */
  readonly deferred?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
  readonly icons?: readonly Readonly<Record<string, unknown>>[];
  /** Unknown members of its definition. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** False for a tool that only its server's user interface may call (MCP Apps: `_meta.ui.visibility`). */
export function isForModel({ _meta }: Pick<Tool, '_meta'>): boolean {
  const ui = _meta?.['ui'];
  const visibility = isRecord(ui) ? ui['visibility'] : undefined;
  return !Array.isArray(visibility) || visibility.length === 0 || visibility.includes('model');
}

/** Returns a tool's identity as a map key. */
export function toolId({ server, tool }: ToolKey): string {
  // JSON distinguishes ("a", "b__c") from ("a__b", "c"), and different lone surrogates.
  return JSON.stringify([server, tool]);
}
