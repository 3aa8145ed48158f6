/** Filters a server's tools by its entry (globs over the server's own names, deny wins: CFG-2), and finds unknown names. */

import picomatch from 'picomatch';
import type { EntryBase } from '../config/entry.ts';
import { isRecord } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';

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

/** A pattern may match tools that are added later. */
const PATTERN = /[*?[\]{}!()]/;

/** Returns one sentence for each unknown name. */
export function unknownToolNames(
  { tools, enabledTools, disabledTools }: EntryBase,
  items: readonly unknown[],
): string[] {
  if (tools === undefined && enabledTools === undefined && disabledTools === undefined) return [];
  const known = items.flatMap((item) =>
    isRecord(item) && typeof item['name'] === 'string' ? [item['name']] : [],
  );
  // Settings may use the full name: `mcp__server__tool`.
  const isTool = (name: string): boolean => known.some((tool) => name === tool || name.endsWith(`__${tool}`));
  const named: readonly (readonly [key: string, names: readonly string[]])[] = [
    ['tools', Object.keys(tools ?? {})],
    ['enabledTools', enabledTools ?? []],
    ['disabledTools', disabledTools ?? []],
  ];
  return named.flatMap(([key, names]) =>
    names
      .filter((name) => !PATTERN.test(name) && !isTool(name))
      .map((name) => {
        const [meant] = nearest(name, known, 1);
        const remedy = meant === undefined ? '' : ` Did you mean "${meant}"?`;
        return `"${key}" names ${JSON.stringify(name)}, but the server has no such tool.${remedy}`;
      }),
  );
}
