/**
 * Determines the owner of an entry: the user, or the folder of one project or plugin. Rules and logins are stored by
 * owner.
 */

import { dirname } from 'node:path';
import { isForeign, type ServerSpec } from './entry.ts';

/** Returns the folder of the file that supplies the entry; empty for the user's own. */
export function entryOwner(spec: Pick<ServerSpec, 'scope' | 'file' | 'baseDir'>): string {
  if (!isForeign(spec)) return '';
  // A plugin's entries can be in several files of its folder.
  return spec.scope === 'plugin' || spec.file === undefined ? spec.baseDir : dirname(spec.file);
}
