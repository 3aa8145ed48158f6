/** The shape of some arguments without their values: what an audit may keep and a trace may carry (CAL-6, POL-7). */

const MAX_DEPTH = 3;
const MAX_KEYS = 20;
const MAX_KEY_CHARS = 64;

export type Shape = string | { readonly [key: string]: Shape };

/** `{ path: 'a.md', lines: [1, 2] }` → `{ path: 'string(4)', lines: 'array(2)' }` */
export function shapeOf(value: unknown, depth = 0): Shape {
  if (typeof value === 'string') return `string(${value.length})`;
  if (Array.isArray(value)) return `array(${value.length})`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const entries = Object.entries(value);
  if (depth === MAX_DEPTH) return `object(${entries.length})`;
  const shown = entries
    .slice(0, MAX_KEYS)
    .map(([key, member]): [string, Shape] => [key.slice(0, MAX_KEY_CHARS), shapeOf(member, depth + 1)]);
  if (entries.length > MAX_KEYS) shown.push(['…', `${entries.length - MAX_KEYS} more`]);
  return Object.fromEntries(shown);
}
