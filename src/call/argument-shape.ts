/** Describes arguments without their values, for the audit log and for traces (CAL-6, POL-7). */

const MAX_DEPTH = 3;
const MAX_KEYS = 20;
const MAX_KEY_CHARS = 64;

export type Shape = string | { readonly [key: string]: Shape };

/** `{ path: 'a.md', lines: [1, 2] }` → `{ path: 'string(4)', lines: 'array(2)' }` */
export function shapeOf(value: unknown, depth = 0): Shape {
  if (typeof value === 'string') return `string(${value.length})`;
  if (Array.isArray(value)) return `array(${value.length})`;
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members);
  if (depth === MAX_DEPTH) return `object(${keys.length})`;
  const shape: Record<string, Shape> = {};
  for (const key of keys.length > MAX_KEYS ? keys.slice(0, MAX_KEYS) : keys) {
    const name = key.slice(0, MAX_KEY_CHARS);
    const value = shapeOf(members[key], depth + 1);
    // An ordinary assignment would set the prototype.
    if (name === '__proto__') Object.defineProperty(shape, name, { value, enumerable: true });
    else shape[name] = value;
  }
  if (keys.length > MAX_KEYS) shape['…'] = `${keys.length - MAX_KEYS} more`;
  return shape;
}
