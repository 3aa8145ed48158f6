/** Lists the differences between two JSON values by path, for review by a user. */

import { canonicalJson } from '../lib/canonical-json.ts';
import { defined } from '../lib/defined.ts';
import { isRecord, own } from '../lib/json.ts';

export interface Difference {
  /** A path in the value, such as `args[1]`. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Compares two values; undefined on one side is a missing value. The order of keys does not matter. */
export function compare(path: string, before: unknown, after: unknown): Difference[] {
  if (canonicalJson(before) === canonicalJson(after) && (before === undefined) === (after === undefined))
    return [];
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      compare(path === '' ? key : `${path}.${key}`, own(before, key), own(after, key)),
    );
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const indices = Array.from({ length: Math.max(before.length, after.length) }, (_, index) => index);
    return indices.flatMap((index) => compare(`${path}[${index}]`, before[index], after[index]));
  }
  return [{ path, ...defined({ before, after }) }];
}
