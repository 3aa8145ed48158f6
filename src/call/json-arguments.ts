/** Whether arguments can be sent at all: a value that JSON has no word for is the caller's mistake, not a fault of ours. */

/** JSON that is nested deeper is taken for an object that holds itself. */
const MAX_DEPTH = 200;
/** Beyond so many values no one looks: what is wrong there fails when it is sent. */
const MAX_VALUES = 100_000;

/** What cannot be sent, and where; undefined when all can. */
export function unsendable(args: Readonly<Record<string, unknown>>): string | undefined {
  let seen = 0;
  const look = (value: unknown, path: string, depth: number): string | undefined => {
    if (typeof value === 'bigint') return `${path} is a BigInt, which JSON does not have`;
    if (typeof value === 'number' && !Number.isFinite(value))
      return `${path} is ${value}, which JSON does not have`;
    if (typeof value === 'function' || typeof value === 'symbol')
      return `${path} is a ${typeof value}, which JSON does not have`;
    if (typeof value !== 'object' || value === null) return undefined;
    // It says itself what it is in JSON, as a Date does.
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
