/** Reads values in a parsed document. */

import { isRecord } from '../lib/json.ts';

/** Returns the value at a path of keys; undefined if there is none. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );
}
