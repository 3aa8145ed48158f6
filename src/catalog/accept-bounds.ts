/** Size and nesting limits for values in a server's definitions, and names for unexpected value types. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Limit on nesting of objects and arrays; far above real schemas, far below the recursion limit. */
const MAX_NESTING = 1_000;
export const MAX_META_BYTES: number = 64 * 1024;

/** Returns why a value is rejected (too deep or too large); undefined if it is within the limits. */
export function sizeFault(value: object, maxBytes: number): string | undefined {
  return tooDeep(value) ?? tooLarge(JSON.stringify(value), maxBytes);
}

/** Depth-first walk without recursion, because a deep value would overflow the stack. */
function tooDeep(value: object): string | undefined {
  const waiting: [value: object, nesting: number][] = [[value, 1]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [parent, nesting] = next;
    if (nesting > MAX_NESTING) return `is nested more than ${MAX_NESTING} levels deep`;
    for (const child of Object.values(parent)) {
      if (typeof child === 'object' && child !== null) waiting.push([child, nesting + 1]);
    }
  }
  return undefined;
}

function tooLarge(json: string, maxBytes: number): string | undefined {
  const bytes = Buffer.byteLength(json);
  return bytes > maxBytes ? `has ${bytes} bytes, more than ${maxBytes}` : undefined;
}

export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
