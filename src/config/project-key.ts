/** Finds a project in an object that is keyed by folders. */

import { isAbsolute, resolve } from 'node:path';
import type { JsonObject } from '../lib/json.ts';

/** Returns the key of a project: its root, also in a different manual spelling. */
export function projectKey(projects: JsonObject, roots: readonly string[]): string | undefined {
  for (const root of roots) {
    if (Object.hasOwn(projects, root)) return root;
  }
  return Object.keys(projects).find((key) => isAbsolute(key) && roots.includes(resolve(key)));
}
