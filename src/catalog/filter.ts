/** Filters a server's tools by its entry: globs over the server's own names, deny wins (CFG-2). */

import picomatch from 'picomatch';
import type { EntryBase } from '../config/entry.ts';

export function toolFilter(entry: EntryBase): (tool: string) => boolean {
  const { enabledTools, disabledTools } = entry;
  if (enabledTools === undefined && disabledTools === undefined) return () => true;
  const allowed = enabledTools === undefined ? () => true : anyOf(enabledTools);
  const denied = disabledTools === undefined ? () => false : anyOf(disabledTools);
  return (tool) => allowed(tool) && !denied(tool);
}

function anyOf(globs: readonly string[]): (tool: string) => boolean {
  const literal = new Set(globs);
  const matchers = globs.map((glob) => picomatch(glob, { dot: true }));
  return (tool) => literal.has(tool) || matchers.some((matches) => matches(tool));
}
