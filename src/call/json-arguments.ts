/**
 * Checks that arguments can be serialized as JSON: a value that cannot is the caller's mistake, not an internal
 * error.
 */

/** Deeper nesting is treated as a circular reference. */
const MAX_DEPTH = 200;
/** Values beyond this number are not checked: an invalid one fails when it is sent. */
const MAX_VALUES = 100_000;

/** Returns what cannot be sent, and where; undefined if everything can. */
export function unsendable(args: Readonly<Record<string, unknown>>): string | undefined {
  let seen = 0;
  const look = (value: unknown, path: string, depth: number): string | undefined => {
    if (typeof value === 'bigint') return `${path} is a BigInt, which JSON does not have`;
    if (typeof value === 'number' && !Number.isFinite(value))
      return `${path} is ${value}, which JSON does not have`;
    if (typeof value === 'function' || typeof value === 'symbol')
      return `${path} is a ${typeof value}, which JSON does not have`;
    if (typeof value !== 'object' || value === null) return undefined;
    // It defines its own JSON form, like a Date.
    if ('toJSON' in value && typeof value.toJSON === 'function') return undefined;
    if (depth > MAX_DEPTH) return `${path.slice(0, MAX_PATH_CHARS)}… is nested too deeply, or holds itself`;
    for (const key of Object.keys(value)) {
      seen += 1;
      if (seen > MAX_VALUES) return undefined;
      const member = (value as Readonly<Record<string, unknown>>)[key];
      const found = look(member, path === '' ? key : `${path}.${key}`, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return look(args, '', 0);
}

const MAX_PATH_CHARS = 60;
