/** Detects tools that only a server's user interface may call, not the model (MCP Apps: `_meta.ui.visibility`). */

import { isRecord } from '../lib/json.ts';
import type { Tool } from './tool.ts';

/** False if the server hides the tool from models. */
export function isForModel({ _meta }: Pick<Tool, '_meta'>): boolean {
  const ui = _meta?.['ui'];
  const visibility = isRecord(ui) ? ui['visibility'] : undefined;
  return !Array.isArray(visibility) || visibility.length === 0 || visibility.includes('model');
}
