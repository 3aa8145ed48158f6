/** Puts hidden values back into an entry that a person has edited. */

import { basename } from 'node:path';
import { PlugboardError } from '../errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord } from '../lib/json.ts';

/** The text that `describeEntry` shows in place of a secret of this file. */
export function maskOf(file: string): string {
  return `(set in ${basename(file)})`;
}

/**
 * Returns `edited`, in which values that are unchanged since they were `shown` are those of `stored`. Elements of a list
 * may have been moved: each is found by its text.
 *
 * @throws PlugboardError CONFIG_INVALID, with the path, for a hidden value that is not found.
 */
export function restoreHidden(
  edited: unknown,
  shown: unknown,
  stored: unknown,
  mask: string,
  path: readonly string[] = [],
): unknown {
  if (isSame(edited, shown)) return stored;
  if (Array.isArray(edited)) {
    const [before, values] = [shown, stored].map((each) => (Array.isArray(each) ? each : []));
    return edited.map((member: unknown, at) => {
      const found = isSame(member, before?.[at])
        ? at
        : (before?.findIndex((each) => isSame(each, member)) ?? -1);
      return restoreHidden(member, before?.[found], values?.[found], mask, [...path, String(at)]);
    });
  }
  if (isRecord(edited)) {
    const [before, values] = [shown, stored].map((each) => (isRecord(each) ? each : {}));
    return Object.fromEntries(
      Object.entries(edited).map(([key, member]) => [
        key,
        restoreHidden(member, before?.[key], values?.[key], mask, [...path, key]),
      ]),
    );
  }
  if (typeof edited === 'string' && edited.includes(mask))
    throw new PlugboardError('CONFIG_INVALID', `The value of ${path.join('.')} is hidden`, {
      hint: 'Enter the whole value again.',
      detail: { place: { path } },
    });
  return edited;
}

function isSame(one: unknown, other: unknown): boolean {
  return other !== undefined && canonicalJson(one ?? null) === canonicalJson(other ?? null);
}
