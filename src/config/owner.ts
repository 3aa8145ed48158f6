/**
 * Determines the owner of an entry: the user, or the folder of one project or plugin. Rules and logins are stored by
 * owner.
 */

import { dirname } from 'node:path';
import type { ServerSpec } from './entry.ts';
import { isForeign, supplierOf } from './scopes.ts';

/** Returns the folder of the file that supplies the entry; empty for the user's own. */
export function entryOwner(spec: Pick<ServerSpec, 'scope' | 'file' | 'baseDir'>): string {
  if (!isForeign(spec)) return '';
  // A plugin's entries can be in several files of its folder.
  return supplierOf(spec) === 'plugin' || spec.file === undefined ? spec.baseDir : dirname(spec.file);
}
