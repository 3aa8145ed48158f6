/** Finds a project in an object that is keyed by folders. */

import { isAbsolute, resolve } from 'node:path';
import { isRecord } from '../lib/json.ts';

/** Returns the key of a project: its root, also in a different manual spelling. */
export function projectKey(projects: unknown, roots: readonly string[]): string | undefined {
  if (!isRecord(projects)) return undefined;
  return (
    roots.find((root) => Object.hasOwn(projects, root)) ??
    Object.keys(projects).find((key) => isAbsolute(key) && roots.includes(resolve(key)))
  );
}
